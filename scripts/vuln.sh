#!/bin/sh
# Runs govulncheck on the product and on the apps. Findings fail. If its database
# cannot be reached, the script prints that and passes: nothing was checked, and the
# apps are not tried after the product.
# Usage: scripts/vuln.sh /PATH/TO/GOVULNCHECK
set -u

check() { # check WHAT COMMAND ARGS...
	what=$1
	shift
	out=$("$@" 2>&1)
	status=$?
	case "$status:$out" in
	0:*) echo "govulncheck: no known vulnerability is reached in $what" ;;
	*"fetching vulnerabilities"*)
		echo "govulncheck: NOT CHECKED: the vulnerability database cannot be reached"
		exit 0 ;;
	*)
		printf '%s\n' "$out"
		exit 1 ;;
	esac
}

check "the product" "$1" ./...
check "the apps" scripts/apps.sh "$1" ./...
