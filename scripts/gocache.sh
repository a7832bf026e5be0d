#!/bin/sh
# Runs a command whose go commands keep their build cache in memory, in the folder
# GOCACHE_MEMORY, and also write it to the disk (scripts/gocache). Without that folder,
# if there is a GOCACHEPROG already, or if a path has a space, the command runs as it is:
# staticcheck knows no quotes in GOCACHEPROG.
# Usage: scripts/gocache.sh COMMAND ARGS...
set -eu

if [ -n "${GOCACHE_MEMORY:-}" ] && [ -z "${GOCACHEPROG:-}" ]; then
	program=$PWD/.cache/bin/gocache
	disk=$(go env GOCACHE)
	case "$program$GOCACHE_MEMORY$disk" in
	*[[:space:]\'\"]*) ;;
	*)
		go build -o "$program" ./scripts/gocache
		export GOCACHEPROG="$program -memory $GOCACHE_MEMORY/go -disk $disk"
		;;
	esac
fi
exec "$@"
