#!/bin/sh
# Runs every fuzz target for a short while. Usage: scripts/fuzz.sh SECONDS
#
# go test sometimes ends with "context deadline exceeded" when the time is up
# in the middle of an input: that names no failing input and is tried once more.
set -eu

seconds=${1:-3}
one() { # one PACKAGE TARGET: prints its output
	go test -run '^$' -fuzz "^$2\$" -fuzztime "${seconds}s" -parallel 2 "$1" 2>&1
}
for pkg in $(go list ./...); do
	targets=$(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true)
	for target in $targets; do
		printf 'fuzz %s %s ... ' "${pkg##*/}" "$target"
		if ! out=$(one "$pkg" "$target"); then
			case $out in
			*"Failing input"*) again=no ;;
			*) again=yes ;;
			esac
			if [ $again = no ] || ! out=$(one "$pkg" "$target"); then
				printf 'FAILED\n%s\n' "$out"
				exit 1
			fi
		fi
		printf '%s\n' "$out" | grep -o 'execs: [0-9]*' | tail -n 1
	done
done
