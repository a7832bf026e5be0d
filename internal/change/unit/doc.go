// Package unit plans settings of systemd's units: whether the boot starts them, and how
// they are started again. It writes only files of its own, and never sets what a unit
// executes, as whom, or in which sandbox:
//
//	act = dropin   /etc/systemd/system/UNIT.d/90-iikanji.conf, with the settings of settings.go
//	act = off      the same file, with a condition that never holds: as systemctl disable
//	act = boot     /etc/systemd/system/multi-user.target.d/90-iikanji-UNIT.conf, with Wants=UNIT:
//	               as systemctl enable, but a file, which an undo can restore to the byte,
//	               and which needs no section [Install]
//
// Each change ends with a daemon-reload and needs no restart. The target's policy must allow
// the folder /etc/systemd/system.
package unit
