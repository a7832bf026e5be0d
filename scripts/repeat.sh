#!/bin/sh
# Runs `go test` beside other tests, and repeats alone what failed there: docs/adr/0011.
# Usage: scripts/repeat.sh note COMMAND... : ARGS... | scripts/repeat.sh alone
#   note   runs COMMAND ARGS, a go test. If tests failed that may be repeated, it notes
#          them and succeeds; any other failure is one.
#   alone  repeats the noted tests by COMMAND, one after the other, and fails if one fails
#          again.
set -u

noted=.cache/repeat
most=3

# Prints arguments for the shell, up to the argument ":".
quoted() {
	for arg; do
		[ "$arg" != : ] || break
		printf "'%s' " "$(printf '%s' "$arg" | sed "s/'/'\\\\''/g")"
	done
}

note() {
	mkdir -p "$noted"
	log=$(mktemp) && failed=$(mktemp) || exit 1
	trap 'rm -f "$log" "$failed"' EXIT
	REPEATED=$(quoted env "CGO_ENABLED=${CGO_ENABLED:-}" "$@")
	export REPEATED
	for arg; do
		shift
		[ "$arg" = : ] || set -- "$@" "$arg"
	done
	{ "$@" 2>&1 || echo failed >"$failed"; } | tee "$log"
	[ -s "$failed" ] || return 0
	# A race, a panic, a time-out, a program that ended early and a package without a
	# failed test of its own are defects on any machine.
	if ! awk -F'\t' '
		/WARNING: DATA RACE|^panic: |^fatal error: |\[(build|setup) failed\]/ { defect = 1 }
		/^--- FAIL: / { split($0, word, " "); tests = tests "|" word[3] }
		/^ok  \t/ { tests = "" }
		/^FAIL\t/ {
			if (tests == "") defect = 1
			else print $2 "\t^(" substr(tests, 2) ")$\t" ENVIRON["REPEATED"]
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
		while IFS="$(printf '\t')" read -r package tests command; do
			if eval "$command"'-count 1 -run "$tests" "$package"' </dev/null; then
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
