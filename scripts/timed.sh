#!/bin/sh
# Runs one step of `make check`, and keeps its time and that of each package
# that it tests in .cache/times. Without a step it prints them, slowest first.
# Usage: scripts/timed.sh NAME COMMAND ARGS... | scripts/timed.sh
set -u

times=.cache/times
if [ $# -eq 0 ]; then
	echo "seconds  step"
	awk -F'\t' '$1 == "step" {
		printf "%7.0f  %s\n", $4 - $3, $2
		if (!first || $3 < first) first = $3
		if ($4 > last) last = $4
	} END { printf "%7.0f  in all (lint and test-computing run beside other steps)\n", last - first }' "$times"
	echo
	echo "seconds  package (the 15 slowest; packages of one step may run side by side)"
	awk -F'\t' '$1 == "package" { printf "%7.1f  %s\n", $3, $2 }' "$times" | sort -rn | head -n 15
	exit
fi

name=$1
shift
mkdir -p .cache
log=$(mktemp) && failed=$(mktemp) || exit 1
trap 'rm -f "$log" "$failed"' EXIT
start=$(date +%s)
{ "$@" 2>&1 || echo failed >"$failed"; } | tee "$log"
printf 'step\t%s\t%d\t%d\n' "$name" "$start" "$(date +%s)" >>"$times"
# go test's summary: "ok" or "FAIL", a tab, the package, a tab, its seconds.
awk -F'\t' '/^(ok  |FAIL)\t/ && $3 ~ /^[0-9.]+s/ { sub(/s.*/, "", $3); printf "package\t%s\t%s\n", $2, $3 }' "$log" >>"$times"
if [ -s "$failed" ]; then
	echo
	"$0"
	echo "make check: the step \"$name\" failed"
	exit 1
fi
