#!/bin/sh
# Makes the pictures of README.md from real output, with Chromium:
#
#   docs/pictures/terminal.png   docs/pictures/tune.txt: what iikanji tune printed at its end
#   docs/pictures/report.png     the report of a history, at its top
#   README.md                    its block with the trials
#
# Usage: scripts/pictures.sh HISTORY [TIME]
# HISTORY is the history of iikanji tune isucondition --time TIME (15m by default). What
# tune printed at its end is read from there, and replaces docs/pictures/tune.txt.
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

# The table of trials and the result are the part that pictures and README show.
go run ./cmd/iikanji history isucondition --search --history "$history" | sed -n '/^Trials:/,/drop-one checks/p' >"$scratch/tune.txt"
[ -s "$scratch/tune.txt" ] || { echo "$history: no search with trials in it" >&2; exit 1; }
cp "$scratch/tune.txt" "$out/tune.txt"
awk -v file="$out/tune.txt" '
	/^```/ { if (open) { open = skip = 0; print } else { open = first = 1; fence = $0 } next }
	first { first = 0; print fence; if (/^Trials:/) { skip = 1; while ((getline line <file) > 0) print line } }
	!skip' README.md >"$scratch/README.md"
cp "$scratch/README.md" README.md

{
	cat <<EOF
<!DOCTYPE html><meta charset="utf-8"><style>
body{margin:0;background:#15171b;color:#e8eaee;padding:18px 22px}
pre{font:15px/1.35 "DejaVu Sans Mono","Noto Sans Mono CJK JP",monospace;margin:0}
b{color:#56b4e9}
</style><pre><b>$ iikanji tune isucondition --time ${2:-15m}</b>

EOF
	sed 's/&/\&amp;/g; s/</\&lt;/g' "$out/tune.txt"
	echo '</pre>'
} >"$scratch/terminal.html"
lines=$(wc -l <"$out/tune.txt")
shot "$scratch/terminal.html" "$out/terminal.png" 800 $(((lines + 2) * 21 + 40))

go run ./cmd/iikanji report isucondition --history "$history" --out "$scratch/report.html" >/dev/null
shot "$scratch/report.html" "$out/report.png" 1000 1000
ls -l "$out"
