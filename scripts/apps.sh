#!/bin/sh
# The arenas' apps and the tests' apps are Go modules of their own. Their module
# files are stored as go.mod.txt and go.sum.txt, so no "./..." covers them. This
# script copies each app into a scratch folder under the true names and runs a
# command there. An app is a folder with main.go, go.mod.txt and go.sum.txt. The app with
# gin is built without MessagePack: its codec alone takes half a minute to compile. The
# document store is built without its backend for PostgreSQL, as its arena builds it.
# Usage: scripts/apps.sh COMMAND ARGS...
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
found=0
for mod in $(find arenas bench internal -name go.mod.txt); do
	app=$(dirname "$mod")
	[ -e "$app/main.go" ] && [ -e "$app/go.sum.txt" ] || continue
	found=1
	dir=$scratch/$app
	mkdir -p "$dir"
	cp -R "$app/." "$dir"
	mv "$dir/go.mod.txt" "$dir/go.mod"
	mv "$dir/go.sum.txt" "$dir/go.sum"
	if ! (cd "$dir" && GOWORK=off GOFLAGS="${GOFLAGS:-} -tags=nomsgpack,ferretdb_no_postgresql" "$@"); then
		echo "iikanji: \"$*\" failed for the app $app" >&2
		exit 1
	fi
done
if [ "$found" = 0 ]; then
	echo "iikanji: no app was found: nothing was checked" >&2
	exit 1
fi
