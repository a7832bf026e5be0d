#!/bin/sh
# Ends what start.sh has started, by the ids of its processes.
cd "$(dirname "$0")"
for f in nginx counter tidy db; do
	[ -f run/$f.pid ] && kill "$(cat run/$f.pid)" 2>/dev/null
done
exit 0
