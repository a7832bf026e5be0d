#!/bin/sh
# Written by iikanji export: undoes apply.sh. If a file was edited since, nothing
# is changed.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
backup=${BACKUP:-$here/backup}

fail() {
	printf 'undo.sh: %s\n' "$1" >&2
	exit 1
}

require() {
	if eval "test -n \"\${$1:+set}\""; then
		return
	fi
	printf 'Set this variable first:\n  %s: %s\n' "$1" "$2"
	exit 2
}

# begun: true if a statement was run, or may have been.
begun() {
	for mark in "$backup"/*.sql-begun; do
		[ ! -e "$mark" ] || return 0
	done
	return 1
}
[ -d "$backup" ] || fail "$backup does not exist: nothing was applied from here"
#REQUIRED
# each FUNCTION: calls it for each saved file with its number and its path.
each() {
	for saved in "$backup"/*.target; do
		[ -e "$saved" ] || continue
		number=${saved%.target}
		IFS= read -r place <"$saved"
		"$1" "$number" "$place"
	done
}

# check: a file must be as apply.sh left it, as it was before, or half written by
# a script that was killed.
check() {
	if [ -e "$1.changing" ]; then # a script was killed while it wrote the file
		return
	fi
	if [ -e "$1.before" ]; then
		if [ -e "$2" ] && cmp -s -- "$2" "$1.before"; then
			return
		fi
		if [ -e "$1.gone" ] && [ ! -e "$2" ]; then
			return
		fi
	elif [ ! -e "$2" ]; then
		return
	fi
	if [ -e "$1.after" ] && [ -e "$2" ] && cmp -s -- "$2" "$1.after"; then
		return
	fi
	[ ! -e "$1.after" ] || [ ! -e "$2" ] || diff -u -- "$1.after" "$2" >&2 || :
	fail "$2 was edited since apply.sh changed it"
}

restore() {
	: >"$1.changing"
	if [ -e "$1.before" ]; then
		cp -p -- "$1.before" "$2"
	elif [ -e "$2" ]; then
		rm -- "$2"
	fi
}

# run FILE: DB_CLIENT is a command with its arguments.
run() {
	if $DB_CLIENT <"$1" 2>"$backup/said"; then
		cat -- "$backup/said" >&2
		return 0
	fi
	cat -- "$backup/said" >&2
	return 1
}

# sql STATEMENT: undoes it if it was begun.
sql() {
	[ -e "$backup/$1.sql-begun" ] || return 0
	if [ -e "$backup/$1.restore.sql" ]; then
		run "$backup/$1.restore.sql" || fail "$1.restore.sql in $backup was refused: no file was restored"
		rm -- "$backup/$1.sql-begun" "$backup/$1.restore.sql"
		return
	fi
	if [ -e "$here/sql/$1.undo.sql" ] && ! run "$here/sql/$1.undo.sql"; then
		if [ ! -e "$here/sql/$1.undo.offline.sql" ] || ! grep -q 'ERROR 184[56]' "$backup/said"; then
			fail "sql/$1.undo.sql was refused: no file was restored"
		fi
		echo "sql/$1.undo.sql: the server cannot run it online; running it offline" >&2
		run "$here/sql/$1.undo.offline.sql" || fail "sql/$1.undo.offline.sql was refused: no file was restored"
	fi
	rm -- "$backup/$1.sql-begun"
}

each check
#STATEMENTS
each restore
rm -r -- "$backup"
echo 'Everything is as it was. Now let the services load the changes:'
#NOTICES
