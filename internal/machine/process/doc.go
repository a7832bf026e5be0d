// Package process reads, ends and starts the processes of a host.
//
// It reads from /proc who runs what, as which user, with which environment and open
// files, and which process owns which address (ReadMachine). Only root sees the
// environment and the sockets of other users' processes; what cannot be read is empty.
//
// It ends a process and starts it again as it was found: with the same user, groups,
// environment, folder, arguments, limits, CPUs, mask of new files and open standard
// files (Found, Replace, Hold). Each start has a small supervisor of its own, this binary
// executed under another name (MaybeKeep). The supervisor is in a session of its own and
// outlives iikanji: where iikanji is killed between the end of the old process and the
// start of the new one, the supervisor starts it. It waits for the process, reports how it
// ended, and ends with it.
package process
