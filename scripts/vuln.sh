#!/bin/sh
# Runs govulncheck on the product and on the apps. Findings fail. If its database
# cannot be reached, the script prints that and passes: nothing was checked. curl asks for
# it before govulncheck is built. A small program is the first, because govulncheck loads all
# packages before it asks the database.
# Usage: scripts/vuln.sh /PATH/TO/GOVULNCHECK BUILD-COMMAND ARGS...
set -u

govulncheck=$1
shift

unreached() {
	echo "govulncheck: NOT CHECKED: the vulnerability database cannot be reached"
	exit 0
}

# Without curl, govulncheck itself finds out.
curl --silent --head --max-time 20 --output /dev/null https://vuln.go.dev/index/db.json 2>/dev/null
case $? in
5 | 6 | 7 | 28) unreached ;; # no proxy, no name, no connection, no answer
esac
"$@" || exit

check() { # check WHAT COMMAND ARGS...
	what=$1
	shift
	out=$("$@" 2>&1)
	status=$?
	case "$status:$out" in
	0:*) echo "govulncheck: no known vulnerability is reached in $what" ;;
	*"fetching vulnerabilities"*) unreached ;;
	*)
		printf '%s\n' "$out"
		exit 1 ;;
	esac
}

check "a small program" "$govulncheck" ./scripts/gocache
check "the product" "$govulncheck" ./...
check "the apps" scripts/apps.sh "$govulncheck" ./...
