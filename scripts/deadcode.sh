#!/bin/sh
# Finds functions that nothing calls, in two runs:
#
#  1. with the tests: no function may be dead;
#  2. from the programs in cmd/ and bench/ alone: a function that only tests
#     call needs a line in scripts/deadcode.allow, with the reason.
#
# A line of the allow-list that matches no dead function fails, too.
# Usage: scripts/deadcode.sh DEADCODE
set -eu

deadcode=$1
allow=scripts/deadcode.allow
module=$(go list -m)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# deadcode takes 7.5 GB without garbage collection, and a quarter less CPU time.
if scripts/freememory.sh 14; then
	export GOGC=off
fi
export GOMEMLIMIT=off
unset GOMAXPROCS

dead() { # dead FILE ARGS...: writes lines "package function", a tab, "file:line"
	file=$1
	shift
	"$deadcode" -f '{{range .Funcs}}{{printf "%s %s\t%s:%d\n" $.Path .Name .Position.File .Position.Line}}{{end}}' "$@" >"$file.raw"
	sed "s|^$module/||" "$file.raw" >"$file"
}

dead "$scratch/unused" -test ./...
dead "$scratch/tests-only" ./cmd/... ./bench/...
awk -F'\t' -v allow="$allow" '
	FILENAME == allow {
		if ($0 ~ /^#/ || $0 == "") next
		name = $0; sub(/ *#.*/, "", name)
		reason = $0; if (!sub(/^[^#]*# */, "", reason) || reason == "") { print allow ": a line without a reason: " $0; bad = 1 }
		if (sub(/\.\*$/, ".", name) || sub(/ \*$/, " ", name)) types[name] = 1; else allowed[name] = 1
		next
	}
	FILENAME ~ /\/unused$/ { print $2 ": nothing calls " $1; unused[$1] = 1; bad = 1; next }
	$1 in unused { next }
	$1 in allowed { seen[$1] = 1; next }
	{
		known = 0
		for (name in types) if (index($1, name) == 1) { seen[name] = 1; known = 1 }
		if (known) next
	}
	{ print $2 ": only tests call " $1; bad = 1 }
	END {
		for (name in allowed) if (!(name in seen)) { print allow ": not dead, or gone: " name; bad = 1 }
		for (name in types) if (!(name in seen)) { print allow ": not dead, or gone: " name "*"; bad = 1 }
		exit bad
	}
' "$allow" "$scratch/unused" "$scratch/tests-only"
