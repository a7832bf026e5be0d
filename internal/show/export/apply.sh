#!/bin/sh
# Written by iikanji export; see README.md. Without --yes it changes nothing.
# Needs a POSIX shell, sed, patch and, for tables, a database client.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
backup=${BACKUP:-$here/backup}

fail() {
	printf 'apply.sh: %s\n' "$1" >&2
	exit 1
}

echo 'Steps:'
cat <<'END_OF_LIST'
#SHOW
END_OF_LIST

# SKIP holds the numbers of the changes to skip.
skip=" $(printf '%s' "${SKIP-}" | tr ',' ' ') "

# skipped 'NUMBERS': true if all of these changes are skipped.
skipped() {
	for number in $1; do
		case $skip in
		*" $number "*) ;;
		*) return 1 ;;
		esac
	done
}

# changes 'NUMBERS': the exported changes; checks SKIP against them.
changes() {
	for number in $skip; do
		case " $1 " in
		*" $number "*) echo "Skipped: change $number" ;;
		*) fail "SKIP: there is no change $number" ;;
		esac
	done
}

# together 'NUMBERS' FILE: one patch holds all of these changes.
together() {
	for number in $1; do
		if skipped "$number" && ! skipped "$1"; then
			fail "SKIP: changes $1 are in one file, $2: skip all of them, or none"
		fi
	done
}
#CHANGES
# require NAME MEANING: the variable must be set.
missing=0
require() {
	if eval "test -n \"\${$1:+set}\""; then
		return
	fi
	[ "$missing" = 1 ] || echo 'Set these variables first:'
	missing=1
	printf '  %s: %s\n' "$1" "$2"
}
#REQUIRED
[ "$missing" = 0 ] || exit 2
if [ "${1-}" != --yes ]; then
	echo 'Nothing was changed. To apply the changes: sh apply.sh --yes'
	exit 0
fi
[ ! -e "$backup" ] || fail "$backup exists, so this was applied already: undo that with undo.sh, or set BACKUP"

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# escape PATH: as the replacement of sed's s|||.
escape() { printf '%s' "$1" | sed -e 's/[\\&|]/\\&/g'; }

# expand FILE: prints it with the paths of this machine.
expand() {
	expanded=$1
	set --
#EXPAND
	if [ $# -gt 0 ]; then
		sed "$@" -- "$expanded"
	else
		cat -- "$expanded"
	fi
}

# files FUNCTION: calls it for each file with number, how, target, source.
files() {
#STEPS
}

# prepare tries every edit on a copy before any file is changed.
prepare() {
	case $2 in
	patch)
		command -v patch >/dev/null || fail 'patch is not installed'
		[ -f "$3" ] || fail "$3 does not exist"
		cp -- "$3" "$work/$1"
		expand "$here/$4" >"$work/$1.patch"
		patch -s -F 3 "$work/$1" "$work/$1.patch" || fail "$4 does not fit $3: make that change by hand"
		;;
	new)
		[ ! -e "$3" ] || fail "$3 exists already"
		[ -d "$(dirname -- "$3")" ] || fail "the folder of $3 does not exist"
		expand "$here/$4" >"$work/$1"
		;;
	remove)
		[ -f "$3" ] || fail "$3 does not exist"
		;;
	esac
}

save() {
	printf '%s\n' "$3" >"$backup/$1.target"
	if [ -e "$3" ]; then
		cp -p -- "$3" "$backup/$1.before"
	else
		: >"$backup/$1.absent"
	fi
}

change() {
	if [ "$2" = remove ]; then
		: >"$backup/$1.gone"
		rm -- "$3"
		return
	fi
	cp -- "$work/$1" "$backup/$1.after"
	: >"$backup/$1.changing" # a kill now leaves a part of the file: undo.sh restores it
	cp -- "$work/$1" "$3"    # an existing file keeps its owner and its mode
	rm -- "$backup/$1.changing"
}

# check lets nginx check the written files. If nginx refuses them, they are
# restored; no statement was run yet.
check() {
	if $NGINX_CHECK; then
		return
	fi
	BACKUP="$backup" sh "$here/undo.sh" >/dev/null
	fail 'nginx refuses its configuration with these changes: every file is as it was. SKIP skips changes'
}

# run FILE: DB_CLIENT is a command with its arguments.
run() {
	if $DB_CLIENT <"$1" 2>"$work/said"; then
		cat -- "$work/said" >&2
		return 0
	fi
	cat -- "$work/said" >&2
	return 1
}

# sql STATEMENT: creates a mark before the statement is run; undo.sh undoes the
# statements with a mark. The mark of a refused statement is removed. If the
# connection breaks, the result is unknown and the mark stays.
sql() {
	if [ -e "$here/sql/$1.restore.sql" ]; then # undo.sh restores the value of this machine
		$DB_CLIENT <"$here/sql/$1.restore.sql" >"$work/value" || fail "sql/$1.restore.sql: the value of here cannot be read"
		tail -n 1 "$work/value" >"$backup/$1.restore.sql"
	fi
	: >"$backup/$1.sql-begun"
	if run "$here/sql/$1.sql"; then
		return
	fi
	if [ -e "$here/sql/$1.offline.sql" ] && grep -q 'ERROR 184[56]' "$work/said"; then
		echo "sql/$1.sql: the server cannot run it online; running it offline" >&2
		if run "$here/sql/$1.offline.sql"; then
			return
		fi
	fi
	if grep -q 'ERROR 20\(06\|13\)' "$work/said"; then
		fail "sql/$1.sql: the connection broke, and the server may still run it: check before you run undo.sh"
	fi
	rm -- "$backup/$1.sql-begun"
	exit 1
}

files prepare
mkdir -m 700 -- "$backup" # it may hold files that only the services can read
trap 'status=$?; rm -rf -- "$work"; [ $status = 0 ] || [ ! -e "$backup" ] || echo "apply.sh: interrupted; undo.sh undoes what was done" >&2' EXIT
files save
files change
#CHECK
#STATEMENTS
echo 'Done. Now let the services load the changes:'
#NOTICES
