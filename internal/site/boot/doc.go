// Package boot reads what a reboot of a host would lose: services that no unit starts,
// settings that only the running servers have, folders that a boot empties. It changes
// nothing. The rules of cause/boot make findings of it.
package boot
