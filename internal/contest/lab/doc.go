// Package lab starts Linux machines for tests and practice: each is a systemd of its own
// as PID 1 in namespaces of this machine, with Debian's own units of nginx, MariaDB and
// Redis. Programs and libraries are those of this machine, read only in effect: /etc and
// /usr/local are overlays, /home, /root, /srv, /var/lib and /var/log private folders, /run and
// /tmp are new at each boot. A machine reboots in a second. When the process that started
// a machine ends, kill -9 included, its PID 1 dies with all its processes and mounts.
//
// Machines on a Link reach each other and this machine at addresses of 198.18.0.0/15, and
// nothing else. SSHD makes Debian's sshd a unit: its package is unpacked into the cache and
// never installed. Limits are a quota of CPU, of memory, and cores, with cgroup v1 or v2.
//
// It needs root and the programs unshare, nsenter, ip and systemd. Not a machine's own are
// the kernel's variables outside of network namespaces, clocks, AppArmor and the v2
// controller of processes.
package lab
