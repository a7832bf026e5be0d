#!/bin/sh
# Runs every fuzz target for some seconds. Usage: scripts/fuzz.sh hunt|grow SECONDS
#   hunt  looks for failing inputs; the first one ends the script
#   grow  also adds inputs that reach new code to testdata/fuzz: up to 24 per target, of at
#         most 2 KiB each, short and long ones
# FUZZ_ONLY is a pattern of "folder target", as in 'accesslog Fuzz'; empty for all.
set -eu

mode=$1 seconds=$2 most=24 targets=0
cache=$(go env GOCACHE)/fuzz/$(go list -m)

# grow FOLDER TARGET: takes inputs of the cache, sorted by size, at equal distances.
grow() {
	corpus=$1/testdata/fuzz/$2
	mkdir -p "$corpus"
	room=$((most - $(find "$corpus" -type f | wc -l)))
	[ "$room" -gt 0 ] && [ -d "$cache/$1/$2" ] || return 0
	find "$cache/$1/$2" -type f -size -2049c -printf '%s %p\n' | sort -n | awk -v room="$room" '
		{ name[NR] = $2 }
		END { for (i = 0; i < room && i < NR; i++) print name[NR <= room ? i + 1 : int(i * NR / room) + 1] }
	' | xargs -r cp -n -t "$corpus"
}

for found in $(grep -rn --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' cmd internal arenas | sed 's|/[^/]*_test.go:.*func |:|' | sort); do
	dir=${found%:*} target=${found#*:}
	echo "$dir $target" | grep -q -e "${FUZZ_ONLY:-}" || continue
	targets=$((targets + 1))
	fuzz() { go test -run '^$' -fuzz "^$target\$" -fuzztime "${seconds}s" "./$dir" 2>&1; }
	# A target sometimes ends with "context deadline exceeded" in the middle of an input:
	# it has no failing input, and runs once more.
	if ! out=$(fuzz) && { echo "$out" | grep -q 'Failing input' || ! out=$(fuzz); }; then
		printf '%s %s FAILED\n%s\n' "$dir" "$target" "$out"
		exit 1
	fi
	echo "$dir $target $(echo "$out" | grep -o 'execs: [0-9]*' | tail -n 1)"
	[ "$mode" = hunt ] || grow "$dir" "$target"
done
[ "$targets" -gt 0 ] || { echo "no fuzz target was found" >&2; exit 1; }
