#!/bin/sh
# Runs iikanji lint over much foreign code: the standard library, every dependency
# of this module, and the modules of the module cache. Nothing may crash. Modules
# that do not load without the network are counted. The files of the cache are
# only read.
# Usage: scripts/lint-world.sh IIKANJI [SECONDS]
set -eu

iikanji=$1
limit=${2:-600}
end=$(($(date +%s) + limit))
cache=$(go env GOMODCACHE)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
done=0 unloaded=0 crashed=0 hits=0

check() { # check NAME ARGS...: one run in the current folder
	name=$1
	shift
	status=0
	"$iikanji" lint "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
	if grep -q 'BUG:\|^goroutine \|^panic:' "$scratch/err" || [ "$status" -gt 3 ]; then
		echo "$name: crashed"
		head -20 "$scratch/err"
		crashed=$((crashed + 1))
	elif [ "$status" = 1 ]; then
		unloaded=$((unloaded + 1))
	else
		done=$((done + 1))
		hits=$((hits + $(wc -l <"$scratch/out")))
		sed "s|^|$name: |" "$scratch/out"
	fi
}

check std std
check dependencies all
for mod in $(find "$cache" -maxdepth 6 -name go.mod -not -path "$cache/cache/*" | sort); do
	[ "$(date +%s)" -lt "$end" ] || break
	dir=$(dirname "$mod")
	mkdir -p "$scratch/mod"
	cp "$mod" "$scratch/mod/go.mod"
	cat "$dir/go.sum" >"$scratch/mod/go.sum" 2>/dev/null || : >"$scratch/mod/go.sum"
	chmod u+w "$scratch/mod/go.mod" "$scratch/mod/go.sum"
	export GOFLAGS="-mod=mod -modfile=$scratch/mod/go.mod" GONOSUMDB='*' GOWORK=off
	check "${dir#"$cache"/}" --dir "$dir" ./...
	rm -rf "$scratch/mod"
done
echo "lint-world: $done analysed, $unloaded not loaded, $hits places, $crashed crashed"
[ "$crashed" = 0 ]
