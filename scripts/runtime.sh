#!/bin/sh
# Runs a test program without the variables of scripts/toolchain.sh: the program and what it
# starts collect garbage as usual. Only the go commands that it runs have them.
# Usage: scripts/runtime.sh PROGRAM ARGS...
set -eu

unset GOGC GOMEMLIMIT GOMAXPROCS
[ -z "${TOOLCHAIN_PATH:-}" ] || PATH=$TOOLCHAIN_PATH:$PATH
exec "$@"
