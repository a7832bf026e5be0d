#!/bin/sh
# Runs a tool for the go command (-toolexec). A program that the linker writes is kept in
# the folder KEPT_LINKS and taken from there the next time. Its name is the linker's action,
# a hash of everything that the program depends on, with the size of the program in bytes:
# a file of another size, after a crash of the machine, is not taken.
# Usage: scripts/link.sh TOOL ARGS...
set -u

case $1 in
*/link) ;;
*) exec "$@" ;;
esac
program="" action="" before=""
for arg; do
	[ "$before" != -o ] || program=$arg
	case $arg in -buildid=*) action=${arg#-buildid=} ;; esac
	before=$arg
done
action=${action%%/*} # the rest are the ids of the main package and of the content
case $action in "" | *[!A-Za-z0-9_-]*) exec "$@" ;; esac
[ -n "$program" ] && [ -d "${KEPT_LINKS:-}" ] || exec "$@"

size() { stat -c %s "$1" 2>/dev/null; }

for kept in "$KEPT_LINKS/$action:"*; do
	[ "$(size "$kept")" = "${kept##*:}" ] || continue
	cp "$kept" "$program" 2>/dev/null || continue
	touch -c "$kept" 2>/dev/null # scripts/links.sh removes what was not used
	exit 0
done
"$@" || exit
# A full disk keeps no program.
fresh=$KEPT_LINKS/$$
cp "$program" "$fresh" 2>/dev/null && mv "$fresh" "$KEPT_LINKS/$action:$(size "$fresh")" || rm -f "$fresh"
