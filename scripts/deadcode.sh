#!/bin/sh
# Finds functions that nothing calls, with the tests; and functions that only tests call:
# each of these needs a line in scripts/deadcode.allow, with the reason. So does no other.
# Usage: scripts/deadcode.sh DEADCODE-COMMAND...
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
module=$(go list -m)
format='{{range .Funcs}}{{printf "%s %s\t%s:%d\n" $.Path .Name .Position.File .Position.Line}}{{end}}'
"$@" -f "$format" -test ./... >"$scratch/unused"
"$@" -f "$format" ./cmd/... ./bench/... ./packaging >"$scratch/tests-only"
sed -i "s|^$module/||" "$scratch/unused" "$scratch/tests-only"
# An allowance is a pattern of "package function": "Type.*" has all methods, "*" a package.
awk -F'\t' '
	function known(name, i) {
		for (i in allowed) if (name == i || i ~ /\*$/ && index(name, substr(i, 1, length(i) - 1)) == 1) return seen[i] = 1
	}
	FILENAME ~ /allow$/ {
		if (/^#/) next
		if (!/ # ./) { print FILENAME ": a line without a reason: " $0; bad = 1 }
		sub(/ *#.*/, ""); allowed[$0]
		next
	}
	FILENAME ~ /unused$/ { print $2 ": nothing calls " $1; unused[$1]; bad = 1; next }
	!($1 in unused) && !known($1) { print $2 ": only tests call " $1; bad = 1 }
	END {
		for (i in allowed) if (!(i in seen)) { print "scripts/deadcode.allow: not dead, or gone: " i; bad = 1 }
		exit bad
	}
' scripts/deadcode.allow "$scratch/unused" "$scratch/tests-only"
