#!/bin/sh
# Runs every fuzz target for a short while. Usage: scripts/fuzz.sh SECONDS
#
# Each package is built once for all of its targets. A target sometimes ends
# with "context deadline exceeded" when its time is up in the middle of an
# input. Such an end names no failing input; the target is run once more.
set -eu

seconds=${1:-3}
cache=$(go env GOCACHE)/fuzz
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fuzz() { # fuzz DIR PACKAGE TARGET: prints its output
	(cd "$1" && "$scratch/fuzz.test" -test.run '^$' -test.fuzz "^$3\$" -test.fuzztime "${seconds}s" \
		-test.parallel 2 -test.fuzzcachedir "$cache/$2" 2>&1)
}

go list -f '{{$p := .}}{{range .TestGoFiles}}{{$p.Dir}}/{{.}} {{$p.Dir}} {{$p.ImportPath}}
{{end}}{{range .XTestGoFiles}}{{$p.Dir}}/{{.}} {{$p.Dir}} {{$p.ImportPath}}
{{end}}' ./... | while read -r file dir pkg; do
	[ -n "$file" ] || continue
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
		echo "$dir $pkg $target"
	done
done >"$scratch/targets"

built=""
while read -r dir pkg target; do
	if [ "$built" != "$pkg" ]; then
		go test -c -fuzz=Fuzz -o "$scratch/fuzz.test" "$pkg"
		built=$pkg
	fi
	printf 'fuzz %s %s ... ' "${pkg##*/}" "$target"
	if ! out=$(fuzz "$dir" "$pkg" "$target"); then
		case $out in
		*"Failing input"*) again=no ;;
		*) again=yes ;;
		esac
		if [ $again = no ] || ! out=$(fuzz "$dir" "$pkg" "$target"); then
			printf 'FAILED\n%s\n' "$out"
			exit 1
		fi
	fi
	printf '%s\n' "$out" | grep -o 'execs: [0-9]*' | tail -n 1
done <"$scratch/targets"
[ -n "$built" ] || { echo "no fuzz target was found" >&2; exit 1; }
