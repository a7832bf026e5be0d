#!/bin/sh
# Runs a command in a session of its own with the lowest weight of the scheduler: it uses
# the CPU time that others leave. Where the kernel groups processes by session
# (sched_autogroup), nice alone has no effect on other sessions.
# The process id is that of the session and of its process group.
# Usage: scripts/idle.sh COMMAND ARGS...
set -u

# shellcheck disable=SC2016 # the inner shell expands it
exec setsid sh -c 'echo 19 2>/dev/null >/proc/self/autogroup; exec nice -n 19 "$@"' idle "$@"
