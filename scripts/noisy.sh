#!/bin/sh
# Runs the search of `make demo` on this machine while something else takes a part
# of it, and appends what came of it to a record file.
#
# Usage: scripts/noisy.sh steal|busy|quota RECORD [TIME] [FLAGS OF TUNE...]
#
#   steal  On each core a real-time process takes a share of 0 to 15 % that is drawn
#          anew every 3 s, in bursts of at most 7.5 ms. A guest cannot make steal:
#          /proc/stat counts it only when the hypervisor takes the time. The site
#          loses the same time in the same way, and the guard finds it under "other
#          programs" instead of "steal".
#   busy   A process in a session of its own takes one core for the whole search.
#   quota  The search has a CPU quota of one core, by a control group (version 1 or
#          2). Where control groups cannot be written, all processes of the search
#          are stopped for half of each 100 ms: that takes as much time, but neither
#          cpu.max nor cpu.stat shows it.
#
# TIME is the limit of the search (13m). FLAGS go to `iikanji tune`. The exit status
# is that of the search.
set -u

usage() {
	sed -n '4,4s/^# //p' "$0" >&2
	exit 2
}
[ $# -ge 2 ] || usage
kind=$1 record=$2 time=${3:-13m}
shift 2
[ $# -eq 0 ] || shift
case $kind in steal | busy | quota) ;; *) usage ;; esac

PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")/.." && pwd) || exit 1
iikanji=${IIKANJI:-$here/bin/iikanji}
if [ ! -x "$iikanji" ]; then
	echo "noisy.sh: $iikanji is missing: run make build, or set IIKANJI" >&2
	exit 1
fi
work=$(mktemp -d) || exit 1
chmod 755 "$work" # as root, the services run as another user
pids="" group=""

# end ends what this script started.
end() {
	for p in $pids; do
		kill "$p" 2>/dev/null
		kill -CONT "$p" 2>/dev/null
	done
	wait 2>/dev/null
	[ -z "$group" ] || rmdir "$group" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

# burst takes a random share of one core. Without the right to be a real-time
# process it has the highest priority that it may have.
burst() {
	setsid taskset -c "$1" perl -e '
		use strict; use Time::HiRes qw(time sleep);
		my ($until, $share) = (0, 0);
		srand($ARGV[0]);
		for (;;) {
			my $now = time;
			if ($now >= $until) { $until = $now + 3; $share = rand(0.15); }
			my $end = $now + 0.05 * $share;
			while (time < $end) {}
			sleep(0.05 * (1 - $share));
		}' "$1" &
	pids="$pids $!"
	how="priority 0 (real-time and a negative nice value are not allowed)"
	if chrt -f -p 1 $! 2>/dev/null; then
		how="real-time priority 1"
	elif renice -n -10 -p $! >/dev/null 2>&1; then
		how="nice -10"
	fi
}

# quota_group makes a control group with a quota of one core and prints its folder.
quota_group() {
	for base in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
		g=$base/iikanji-noisy-$$
		mkdir "$g" 2>/dev/null || continue
		if echo 100000 2>/dev/null >"$g/cpu.cfs_quota_us" || echo "100000 100000" 2>/dev/null >"$g/cpu.max"; then
			echo "$g"
			return
		fi
		rmdir "$g"
	done
}

# stop_half stops all processes below one for half of each 100 ms.
stop_half() {
	perl -e '
		use strict; use Time::HiRes qw(sleep);
		my $root = shift;
		for (;;) {
			my %below = ($root => 1);
			my @all = map { [split] } `ps -e -o pid= -o ppid=`;
			for (1 .. 6) { for my $p (@all) { $below{$p->[0]} = 1 if $below{$p->[1]}; } }
			last unless kill 0, $root;
			my @pids = keys %below;
			for (1 .. 10) { kill STOP => @pids; sleep 0.05; kill CONT => @pids; sleep 0.05; }
		}' "$1" &
	pids="$pids $!"
}

says=""
case $kind in
steal)
	for cpu in $(seq 0 $(($(nproc) - 1))); do burst "$cpu"; done
	says="on each core a share of 0 to 15 %, drawn every 3 s, in bursts of at most 7.5 ms, at $how"
	;;
busy)
	setsid sh -c 'while :; do :; done' &
	pids="$pids $!"
	says="one process that never sleeps, in a session of its own"
	;;
quota)
	group=$(quota_group)
	if [ -n "$group" ]; then
		says="a quota of one core by $(ls "$group" | grep -E '^cpu\.(max|cfs_quota_us)$')"
	else
		says="all processes stopped for half of each 100 ms, because control groups cannot be written here"
	fi
	;;
esac

# The search runs in the background, so that the shell can enter it into the group
# before it starts and can stop it.
(
	[ -z "$group" ] || sh -c 'echo $PPID' >"$group/cgroup.procs"
	exec "$iikanji" tune isucondition --time "$time" --dir "$work/stack" --history "$work/history" "$@"
) >"$work/out" 2>"$work/log" &
search=$!
pids="$pids $search"
[ "$kind" != quota ] || [ -n "$group" ] || stop_half "$search"
began=$(date +%s)
wait "$search"
status=$?

{
	echo "## $kind: $says"
	echo
	echo "$(date -u +%Y-%m-%d), $(nproc) cores, load average $(cut -d' ' -f1-3 /proc/loadavg) at the end;" \
		"\`tune isucondition --time $time${*:+ $*}\`: status $status after $(($(date +%s) - began)) s."
	[ -z "$group" ] || echo "cpu.stat: $(tr '\n' ' ' <"$group/cpu.stat")"
	echo
	echo '```'
	grep -E '^[0-9][0-9]:[0-9][0-9]' "$work/log" | cut -c1-240
	echo
	cat "$work/out"
	[ "$status" -eq 0 ] || tail -n 5 "$work/log"
	echo '```'
	echo
} >>"$record"
exit $status
