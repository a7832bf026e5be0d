#!/bin/sh
# Runs a command whose go commands keep each program that they link, and take it from there
# instead of linking it again (scripts/link.sh): the go command's cache has the packages of
# a program, but not the program. The folder is in the user's cache. Programs that were not
# used for three days are removed, and those above MOST GiB, the oldest first.
# If the disk has less than FREE GiB left, or a path has a space, the command runs as it is.
# Usage: scripts/links.sh MOST FREE COMMAND ARGS...
set -eu

most=$1 free=$2
shift 2

cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
kept=$cache/iikanji-tests/links
program=$PWD/scripts/link.sh

[ -n "$cache" ] || exec "$@"
case "$program$kept" in *[[:space:]\'\"]*) exec "$@" ;; esac
mkdir -p "$kept" 2>/dev/null || exec "$@"
left=$(df -Pk "$kept" 2>/dev/null | awk 'NR == 2 { print $4 }')
[ "${left:-0}" -ge $((free * 1048576)) ] || exec "$@"
# Another check may remove the same files.
find "$kept" -type f -mtime +2 -delete 2>/dev/null || :
find "$kept" -type f -printf '%T@ %s %p\n' | sort -rn |
	awk -v most=$((most * 1073741824)) '{ bytes += $2 } bytes > most { print $3 }' | xargs -r rm -f || :
export KEPT_LINKS="$kept"
export GOFLAGS="${GOFLAGS:-} -toolexec=$program"
exec "$@"
