#!/bin/sh
# Makes the pictures of README.md from real output, with Chromium:
#
#   docs/pictures/terminal.png   docs/pictures/tune.txt, which is what iikanji tune printed
#   docs/pictures/report.png     the report of a history, at its top
#
# Usage: scripts/pictures.sh HISTORY [TUNE_OUTPUT [TIME]]
# HISTORY is the history of iikanji tune isucondition --time TIME (15m by default);
# TUNE_OUTPUT, its standard output, replaces docs/pictures/tune.txt.
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
[ $# -lt 2 ] || sed -n '/^Trials:/,/drop-one checks/p' "$2" >"$out/tune.txt"
[ -s "$out/tune.txt" ] || { echo "$out/tune.txt: no trials in it" >&2; exit 1; }

{
	cat <<EOF
<!DOCTYPE html><meta charset="utf-8"><style>
body{margin:0;background:#15171b;color:#e8eaee;padding:18px 22px}
pre{font:15px/1.35 "DejaVu Sans Mono","Noto Sans Mono CJK JP",monospace;margin:0}
b{color:#56b4e9}
</style><pre><b>$ iikanji tune isucondition --time ${3:-15m}</b>

EOF
	sed 's/&/\&amp;/g; s/</\&lt;/g' "$out/tune.txt"
	echo '</pre>'
} >"$scratch/terminal.html"
lines=$(wc -l <"$out/tune.txt")
shot "$scratch/terminal.html" "$out/terminal.png" 800 $(((lines + 2) * 21 + 40))

go run ./cmd/iikanji report isucondition --history "$history" --out "$scratch/report.html" >/dev/null
shot "$scratch/report.html" "$out/report.png" 1000 1000
ls -l "$out"
