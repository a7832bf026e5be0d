#!/bin/sh
# Runs `go test` beside other tests, and repeats alone what failed there: docs/adr/0011.
# Usage: scripts/repeat.sh note GO-TEST-COMMAND... | scripts/repeat.sh alone
#   note   runs the command. If tests failed that may be repeated, it notes them and
#          succeeds; any other failure is one.
#   alone  repeats the noted tests, one after the other, and fails if one fails again.
set -u

noted=.cache/repeat
most=3

note() {
	mkdir -p "$noted"
	log=$(mktemp) && failed=$(mktemp) || exit 1
	trap 'rm -f "$log" "$failed"' EXIT
	{ "$@" 2>&1 || echo failed >"$failed"; } | tee "$log"
	[ -s "$failed" ] || return 0
	race=
	for arg; do
		case $arg in -race | -race=true) race=-race ;; esac
	done
	# A race, a panic, a time-out, a program that ended early and a package without a
	# failed test of its own are defects on any machine.
	if ! awk -F'\t' -v race="$race" '
		/WARNING: DATA RACE|^panic: |^fatal error: |\[(build|setup) failed\]/ { defect = 1 }
		/^--- FAIL: / { split($0, word, " "); tests = tests "|" word[3] }
		/^ok  \t/ { tests = "" }
		/^FAIL\t/ {
			if (tests == "") defect = 1
			else print $2 "\t^(" substr(tests, 2) ")$\t" race
			tests = ""; packages++
		}
		END { exit defect || !packages }' "$log" >"$noted/$$.part"; then
		rm -f "$noted/$$.part"
		return 1
	fi
	mv "$noted/$$.part" "$noted/$$.tests"
	echo "noted: these tests are repeated alone at the end:"
	cut -f 1,2 "$noted/$$.tests"
}

alone() {
	[ -d "$noted" ] || return 0
	all=$(cat "$noted"/*.tests 2>/dev/null)
	[ -n "$all" ] || return 0
	count=$(printf '%s\n' "$all" | cut -f 2 | tr '|' '\n' | wc -l)
	if [ "$count" -gt "$most" ]; then
		echo "$count tests failed beside others. More than $most are not repeated:"
		printf '%s\n' "$all" | cut -f 1,2
		return 1
	fi
	printf '%s\n' "$all" | {
		status=0
		while IFS="$(printf '\t')" read -r package tests race; do
			cgo=${CGO_ENABLED:-}
			[ -z "$race" ] || cgo=1 # the race detector needs it, as in RACE of the Makefile
			# shellcheck disable=SC2086 # no argument if empty
			if CGO_ENABLED=$cgo go test -vet=off -ldflags=-w -timeout 60m $race -count 1 -run "$tests" "$package"; then
				echo "FAILED BESIDE OTHER TESTS, PASSED ALONE: $package $tests"
			else
				status=1
			fi
		done
		exit "$status"
	}
}

verb=${1:-}
[ $# -eq 0 ] || shift
case $verb in
note) note "$@" ;;
alone) alone ;;
*) sed -n '3p' "$0" >&2 && exit 2 ;;
esac
