set -e
# $1 is the machine's folder, $2 its control group, $3 its name
dir=$1 group=$2 name=$3
if [ -z "$4" ]; then
	# In a mount namespace: enter the machine's own control group, then make the other
	# namespaces, so that the control group's root is this one.
	mount --make-rprivate /
	mount -t cgroup2 cgroup2 "$dir/cgroup"
	mkdir -p "$dir/cgroup/$group"
	echo $$ >"$dir/cgroup/$group/cgroup.procs"
	exec unshare --pid --uts --ipc --cgroup --net --fork --kill-child sh "$dir/boot.sh" "$dir" "$group" "$name" inner
fi
hostname "$name"
while read -r _ _ _ _ point _; do # what this machine has mounted there is not the machine's
	case $point in /mnt/* | /media/*) umount -l "$point" ;; esac
done </proc/self/mountinfo
ip link set lo up
for d in etc usr/local; do
	mount -t overlay overlay -o "lowerdir=/$d,upperdir=$dir/upper/$d,workdir=$dir/work/$d" "/$d"
done
for d in home root srv var/lib var/log; do
	mount --bind "$dir/upper/$d" "/$d"
done
mount -t proc proc /proc
umount -R /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
umount "$dir/cgroup"
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /tmp # hides $dir where that is below /tmp
export container=iikanji-lab PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec /lib/systemd/systemd --system --show-status=0 --log-target=null
