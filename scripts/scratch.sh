#!/bin/sh
# Runs a command with a temporary folder of its own, and removes the folder afterwards.
# The tests start hundreds of servers with data folders and link hundreds of programs: on a
# slow disk they wait for it half of their time. So the folder is in memory where the
# machine has much of it. A TMPDIR that is set stays.
# Usage: scripts/scratch.sh COMMAND ARGS...
set -u

least=$((12 * 1024 * 1024)) # KiB of memory, and of room in /dev/shm, that must be free

memory() { awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo 2>/dev/null; }
room() { df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $1 == "tmpfs" { print $4 }'; }

[ -z "${TMPDIR:-}" ] || exec "$@"
free=$(memory) left=$(room)
[ "${free:-0}" -ge "$least" ] && [ "${left:-0}" -ge "$least" ] || exec "$@"
folder=/dev/shm/iikanji$$ # no random name: it would be redacted as a secret in diffs
mkdir "$folder" 2>/dev/null || exec "$@"
chmod 1777 "$folder" # as /tmp: servers drop their rights
trap 'chmod -R u+rwx "$folder" 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# Some systems run no programs from there.
printf '#!/bin/sh\n' >"$folder/try" && chmod 700 "$folder/try"
if "$folder/try" 2>/dev/null; then
	export TMPDIR="$folder"
fi
"$@"
