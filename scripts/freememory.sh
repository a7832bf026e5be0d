#!/bin/sh
# Succeeds if the machine has a number of GiB of available memory.
# Usage: scripts/freememory.sh GIB
awk -v least="$(($1 * 1048576))" '$1 == "MemAvailable:" && $2 >= least { much = 1 } END { exit !much }' /proc/meminfo 2>/dev/null
