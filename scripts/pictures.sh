#!/bin/sh
# Makes the picture of README.md from a real search, with Chromium:
#
#   docs/pictures/report.png   the report of a history, at its top
#   docs/pictures/tune.txt     what iikanji tune printed at its end
#   docs/measured.md           its block with the trials
#
# Usage: scripts/pictures.sh HISTORY
# HISTORY is the history of iikanji tune isucondition --time 15m.
set -eu

history=$1
out=docs/pictures
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

shot() { # shot PAGE PICTURE WIDTH HEIGHT
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" \
		--window-size="$3,$4" --screenshot="$scratch/shot.png" "file://$1" 2>"$scratch/chromium.log" || { cat "$scratch/chromium.log"; exit 1; }
	cp "$scratch/shot.png" "$2"
}

# The table of trials and the result are the part that docs/measured.md shows.
go run ./cmd/iikanji history isucondition --search --history "$history" | sed -n '/^Trials:/,/drop-one checks/p' >"$scratch/tune.txt"
[ -s "$scratch/tune.txt" ] || { echo "$history: no search with trials in it" >&2; exit 1; }
cp "$scratch/tune.txt" "$out/tune.txt"
awk -v file="$out/tune.txt" '
	/^```/ { if (open) { open = skip = 0; print } else { open = first = 1; fence = $0 } next }
	first { first = 0; print fence; if (/^Trials:/) { skip = 1; while ((getline line <file) > 0) print line } }
	!skip' docs/measured.md >"$scratch/measured.md"
cp "$scratch/measured.md" docs/measured.md

go run ./cmd/iikanji report isucondition --history "$history" --out "$scratch/report.html" >/dev/null
shot "$scratch/report.html" "$out/report.png" 1000 1000
ls -l "$out"
