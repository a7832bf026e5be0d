set -e
# $1 is the machine's folder, $2 its control group, $3 its name. In the environment:
# LAB_GROUPS are folders of cgroup v1 to enter, LAB_LIMITS lines of a file and a value of v2,
# LAB_CORES those to run on, LAB_ADDRESS and LAB_MAC those of eth0.
dir=$1 group=$2 name=$3
if [ -z "$4" ]; then
	# In a mount namespace: enter the machine's own control group, then make the other
	# namespaces, so that the control group's root is this one.
	mount --make-rprivate /
	mount -t cgroup2 cgroup2 "$dir/cgroup"
	mkdir -p "$dir/cgroup/$group"
	if [ -n "$LAB_LIMITS" ]; then
		echo "+cpu +memory" >"$dir/cgroup/cgroup.subtree_control"
		echo "$LAB_LIMITS" | while read -r file value; do [ -z "$file" ] || echo "$value" >"$dir/cgroup/$group/$file"; done
	fi
	echo $$ >"$dir/cgroup/$group/cgroup.procs"
	for g in $LAB_GROUPS; do echo $$ >"$g/cgroup.procs"; done
	[ -z "$LAB_CORES" ] || taskset -pc "$LAB_CORES" $$ >/dev/null
	exec unshare --pid --uts --ipc --cgroup --net --fork --kill-child sh "$dir/boot.sh" "$dir" "$group" "$name" inner
fi
hostname "$name"
while read -r _ _ _ _ point _; do # what this machine has mounted there is not the machine's
	case $point in /mnt/* | /media/*) umount -l "$point" ;; esac
done </proc/self/mountinfo
ip link set lo up
if [ -n "$LAB_ADDRESS" ]; then
	until ip link show eth0 >/dev/null 2>&1; do sleep 0.02; done
	ip link set eth0 address "$LAB_MAC" # the same after a reboot: other machines remember it
	ip address add "$LAB_ADDRESS" dev eth0
	ip link set eth0 up
fi
for d in etc usr/local usr/libexec; do
	mount -t overlay overlay -o "lowerdir=/$d,upperdir=$dir/upper/$d,workdir=$dir/work/$d" "/$d"
done
for d in home root srv var/lib var/log; do
	mount --bind "$dir/upper/$d" "/$d"
done
mount -t proc proc /proc
mount --bind "$dir/boot_id" /proc/sys/kernel/random/boot_id # the kernel's own is this machine's
n=0
for g in $LAB_GROUPS; do # the machine's own limits of cgroup v1, to be read
	n=$((n + 1))
	mkdir -p "$dir/limits$n"
	mount --bind "$g" "$dir/limits$n"
done
umount -R /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
umount "$dir/cgroup"
mount -t tmpfs -o mode=755 tmpfs /run
while [ $n -gt 0 ]; do
	mkdir -p "/run/cgroup-limits/$n"
	mount --bind "$dir/limits$n" "/run/cgroup-limits/$n"
	mount -o remount,bind,ro "/run/cgroup-limits/$n"
	umount "$dir/limits$n"
	n=$((n - 1))
done
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mkdir -p "$dir/upper/var/tmp"
chmod 1777 "$dir/upper/var/tmp"
mount --bind "$dir/upper/var/tmp" /var/tmp # hides $dir where that is below /var/tmp
mount -t tmpfs -o mode=1777 tmpfs /tmp # hides $dir where that is below /tmp
unset LAB_GROUPS LAB_LIMITS LAB_CORES LAB_ADDRESS LAB_MAC
export container=iikanji-lab PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec /lib/systemd/systemd --system --show-status=0 --log-target=null
