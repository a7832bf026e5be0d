// Package boot has the rules about what a reboot would lose, by reading alone: services
// that stay down, settings that only the running servers have, folders that a boot empties.
// Its findings have no seconds and come after all that have.
package boot
