// Package process reads, ends, starts and supervises the processes of a host, of arenas
// and of sites that run already.
//
//   - ReadMachine reads from /proc who runs what, as which user, with which environment and
//     open files, and which process owns which address. Only root sees the environment and
//     the sockets of other users' processes; what cannot be read is empty.
//   - End and EndAll are the one way to end processes: signals, each with a wait, then
//     SIGKILL, for a process with its descendants. Only identities are signalled (ID).
//   - Found reads how a process was started, and by which Way it can be started again.
//   - Launch starts a Supervisor. It starts processes, waits for them and reports how they
//     ended. That of an arena ends all of them when iikanji ends. That of a process of a site
//     (Hold) outlives iikanji: where iikanji is killed between the end of the old
//     process and the start of the new one, the supervisor starts it.
//
// A supervisor is this same binary, executed again. Therefore main, and TestMain of every
// test that starts or restarts services, must call MaybeSupervise first.
package process
