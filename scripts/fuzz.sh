#!/bin/sh
# Runs every fuzz target for some seconds. Usage: scripts/fuzz.sh hunt|grow SECONDS
#
#   hunt  looks for failing inputs, two at a time; the first one ends the script
#   grow  also adds inputs that reach new code to testdata/fuzz: up to 24 per
#         target, of at most 2 KiB each
#
# FUZZ_ONLY is a pattern of targets, as in 'accesslog Fuzz'; empty for all.
#
# Each package is built once for all of its targets. A target sometimes ends
# with "context deadline exceeded" when its time is up in the middle of an
# input. Such an end names no failing input; the target is run once more.
set -eu

mode=${1:-hunt}
seconds=${2:-20}
most=24
largest=2048
case $mode in
hunt) parallel=2 ;;
grow) parallel=1 ;;
*) echo "usage: scripts/fuzz.sh hunt|grow SECONDS" >&2; exit 2 ;;
esac
cache=$(go env GOCACHE)/fuzz
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fuzz() { # fuzz DIR PACKAGE TARGET: prints its output
	(cd "$1" && "$scratch/fuzz.test" -test.run '^$' -test.fuzz "^$3\$" -test.fuzztime "${seconds}s" \
		-test.parallel "$parallel" -test.fuzzcachedir "$cache/$2" 2>&1)
}

# grow DIR PACKAGE TARGET: copies inputs of the cache until the target has $most.
# Sorted by size, they are taken at equal distances, so that short and long ones
# are among them.
grow() {
	corpus=$1/testdata/fuzz/$3
	mkdir -p "$corpus"
	room=$((most - $(find "$corpus" -type f | wc -l)))
	[ "$room" -gt 0 ] && [ -d "$cache/$2/$3" ] || return 0
	find "$cache/$2/$3" -type f -size -"$((largest + 1))"c -printf '%s %f\n' | sort -k1,1n -k2,2 >"$scratch/inputs"
	awk -v room="$room" '
		{ name[NR] = $2 }
		END { for (i = 0; i < room && i < NR; i++) print name[NR <= room ? i + 1 : int(i * NR / room) + 1] }
	' "$scratch/inputs" | while read -r name; do
		cp -n "$cache/$2/$3/$name" "$corpus/$name"
	done
}

go list -f '{{$p := .}}{{range .TestGoFiles}}{{$p.Dir}}/{{.}} {{$p.Dir}} {{$p.ImportPath}}
{{end}}{{range .XTestGoFiles}}{{$p.Dir}}/{{.}} {{$p.Dir}} {{$p.ImportPath}}
{{end}}' ./... | while read -r file dir pkg; do
	[ -n "$file" ] || continue
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
		echo "$dir $pkg $target"
	done
done | { grep -e "${FUZZ_ONLY:-}" || true; } >"$scratch/targets"

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
	[ "$mode" = hunt ] || grow "$dir" "$pkg" "$target"
	printf '%s\n' "$out" | grep -o 'execs: [0-9]*' | tail -n 1
done <"$scratch/targets"
[ -n "$built" ] || { echo "no fuzz target was found" >&2; exit 1; }
