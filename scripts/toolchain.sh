#!/bin/sh
# Runs a command whose compilers, linkers and vets have one core each and collect no
# garbage below a limit, where the machine has much memory: the go command starts one for
# each core. A compiler takes a fifth less CPU time then. The test programs and what they
# start must not have these variables: scripts/runtime.sh removes them, and puts the folder
# TOOLCHAIN_PATH into PATH, whose "go" sets them for the go commands of the tests.
# Usage: scripts/toolchain.sh COMMAND ARGS...
set -eu

export GOGC=400
if scripts/freememory.sh 16; then
	GOFLAGS="${GOFLAGS:-} -p=$(getconf _NPROCESSORS_ONLN)"
	variables="GOGC=off GOMEMLIMIT=2GiB GOMAXPROCS=1"
	# shellcheck disable=SC2086,SC2163 # the shell splits them
	export GOFLAGS $variables
	export TOOLCHAIN_PATH="$PWD/.cache/toolchain"
	mkdir -p "$TOOLCHAIN_PATH"
	printf '#!/bin/sh\n%s exec "%s" "$@"\n' "$variables" "$(command -v go)" >"$TOOLCHAIN_PATH/go"
	chmod 755 "$TOOLCHAIN_PATH/go"
fi
exec "$@"
