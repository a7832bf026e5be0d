// Package unit plans settings and states of systemd's units: limits, whether they run, whether
// the boot starts them, and how they are started again. It writes only files of its own and the links that enable a unit, and never sets what a unit
// executes, as whom, or in which sandbox:
//
//	act = dropin   /etc/systemd/system/UNIT.d/90-iikanji.conf, with the settings of dropin.go
//	act = state    systemctl start or stop, and the links of systemctl enable
//	act = off      the drop-in, with a condition that never holds: as systemctl disable
//	act = boot     /etc/systemd/system/multi-user.target.d/90-iikanji-UNIT.conf, with Wants=UNIT:
//	               as systemctl enable, but a file, which needs no section [Install]
//
// A drop-in ends with a daemon-reload. Limits, the environment, the CPUs and the order of
// ends when memory is short are those of a process from its start: they need a restart. The
// target's policy must allow the folder /etc/systemd/system of the host.
package unit
