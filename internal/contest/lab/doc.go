// Package lab starts Linux machines for tests and practice: each is a systemd of its own
// as PID 1 in namespaces of this machine, with Debian's own units of nginx, MariaDB and
// Redis. Programs and libraries are those of this machine, read only in effect: /etc and
// /usr/local are overlays, /home, /root, /srv, /var/lib and /var/log private folders, /run and
// /tmp are new at each boot. A machine reboots in a second. When the process that started
// a machine ends, kill -9 included, its PID 1 dies with all its processes and mounts.
//
// It needs root and the programs unshare, nsenter and systemd. What it lacks: sshd, links
// between machines, quotas of CPU and memory.
package lab
