#!/bin/sh
# Runs a command in a session of its own with the lowest weight of the scheduler, and of
# the disk's: it uses the CPU time and the reads that others leave. Where the kernel groups
# processes by session (sched_autogroup), nice alone has no effect on other sessions.
# The process id is that of the session and of its process group.
# Usage: scripts/idle.sh COMMAND ARGS...
set -u

disk=
if ionice -c 3 true 2>/dev/null; then
	disk="ionice -c 3"
fi
# shellcheck disable=SC2016,SC2086 # the inner shell expands them; an empty $disk is no word
exec setsid sh -c 'echo 19 2>/dev/null >/proc/self/autogroup; exec nice -n 19 "$@"' idle $disk "$@"
