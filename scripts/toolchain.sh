#!/bin/sh
# Runs a command whose compilers, linkers and vets have one core each and collect no
# garbage below a limit, where the machine has much memory: the go command starts one for
# each core. A compiler takes a fifth less CPU time then. The test programs and what they
# start must not have these variables: RUNTIME in the Makefile removes them.
# Usage: scripts/toolchain.sh COMMAND ARGS...
set -eu

export GOGC=400
if scripts/freememory.sh 16; then
	GOFLAGS="${GOFLAGS:-} -p=$(getconf _NPROCESSORS_ONLN)"
	export GOFLAGS GOGC=off GOMEMLIMIT=2GiB GOMAXPROCS=1
fi
exec "$@"
