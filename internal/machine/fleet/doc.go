// Package fleet has the machines of a site connected: those of [[host]] in iikanji.toml,
// each as a host.Host that stays the same while its connection is lost and made again.
//
//  1. A machine is reached through SSH (machine/sshdial) or through a command (via); its
//     far end is iikanji itself (machine/peer), which is sent there once.
//  2. A machine that cannot be reached is no reason to stop: its calls are a
//     host.LostError, and all others go on.
//  3. A connection is made again only to the same machine, which may have rebooted.
package fleet
