#!/bin/sh
# Runs a command with a folder in memory, whose path is in an environment variable, and
# removes the folder afterwards. The command runs without it if the variable has a value
# already, or if the machine has less free memory than a number of GiB.
# The tests start hundreds of servers with data folders and link hundreds of programs: on a
# slow disk they wait for it half of their time.
# Usage: scripts/memory.sh VARIABLE GIB COMMAND ARGS...
set -u

variable=$1
least=$2
shift 2

room() { df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $1 == "tmpfs" { print $4 }'; }

[ -z "$(printenv "$variable")" ] || exec "$@"
left=$(room)
scripts/freememory.sh "$least" && [ "${left:-0}" -ge $((least * 1048576)) ] || exec "$@"
folder=/dev/shm/iikanji$$ # no random name: it would be redacted as a secret in diffs
mkdir "$folder" 2>/dev/null || exec "$@"
chmod 1777 "$folder" # as /tmp: servers drop their rights
trap 'chmod -R u+rwx "$folder" 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# Some systems run no programs from there.
printf '#!/bin/sh\n' >"$folder/try" && chmod 700 "$folder/try"
if "$folder/try" 2>/dev/null; then
	export "$variable=$folder"
fi
"$@"
