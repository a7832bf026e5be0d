#!/bin/sh
# Runs a command in each app. The apps of arenas and of tests are Go modules of their own,
# whose files are stored as go.mod.txt and go.sum.txt: no "./..." covers them. Each app (a
# folder with main.go or cmd, and these) is copied into a scratch folder under the true names. Two
# are built without parts that their arenas leave out: a codec of gin, and the document
# store's backend for PostgreSQL.
# Usage: scripts/apps.sh COMMAND ARGS...
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
found=0
for mod in $(find arenas bench internal -name go.mod.txt); do
	app=$(dirname "$mod") dir=$scratch/$(dirname "$mod")
	[ -e "$app/main.go" ] || [ -d "$app/cmd" ] || continue
	[ -e "$app/go.sum.txt" ] || continue
	found=1
	mkdir -p "$dir"
	cp -R "$app/." "$dir"
	mv "$dir/go.mod.txt" "$dir/go.mod"
	mv "$dir/go.sum.txt" "$dir/go.sum"
	if ! (cd "$dir" && GOWORK=off GOFLAGS="${GOFLAGS:-} -tags=nomsgpack,ferretdb_no_postgresql" "$@"); then
		echo "iikanji: \"$*\" failed for the app $app" >&2
		exit 1
	fi
done
[ "$found" = 1 ] || { echo "iikanji: no app was found: nothing was checked" >&2; exit 1; }
