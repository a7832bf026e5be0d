#!/bin/sh
# Runs a command, and beside it a step of `make check` with the lowest weight of the
# scheduler (scripts/idle.sh). When both are over, it prints what the step printed. It fails
# if one of them failed.
# Usage: scripts/beside.sh STEP -- COMMAND ARGS...
set -u

step=$1
shift 2
mkdir -p .cache
scripts/idle.sh scripts/timed.sh "$step" scripts/memory.sh TMPDIR 12 make --no-print-directory "$step" >".cache/$step.log" 2>&1 &
beside=$!
trap 'kill -- -$beside 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$@"
status=$?
wait "$beside"
stepped=$?
cat ".cache/$step.log"
[ $status -eq 0 ] && [ $stepped -eq 0 ]
