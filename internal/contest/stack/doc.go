// Package stack brings an arena up on a bare machine: the services that the arena
// lists, as supervised children in one work folder. It knows no service by its
// name; what only one kind of software needs is keyed by engine ([process.EngineOf]).
//
// It does not connect to services that run already (package target does), it
// changes nothing to make anything faster (package change does), and it never
// calls the app's initialize (the benchmark does).
//
// What Up does, in order:
//
//  1. find the programs, or name the missing package;
//  2. take the folder's lock, or name the process that holds it;
//  3. clean up after a crashed instance (processes, sockets, pid files);
//  4. lay out the arena's files, keep user edits, and generate the data;
//  5. choose free ports, keep them for the next start, render the configs;
//  6. start the supervisor, which starts and stops every other process;
//  7. for each service, in the arena's order: make its data folder (once), load its
//     data, start it, and poll until it answers;
//  8. meanwhile build the sources that have changed.
//
// The supervisor is this same binary, executed again. Therefore main, and
// TestMain of every test that brings a stack up, must call [MaybeSupervise]
// first. The supervisor is a subreaper and holds one end of a socket; only the
// caller has the other end. When the caller dies for any reason, the socket
// closes. The supervisor then stops the services in the reverse order of their
// start, and kills a process that does not stop in time.
//
// The work folder:
//
//	lock state.json manifest.json   the process that holds the folder; ports and versions; files laid out
//	webapp/                         the arena's files: the place to edit
//	data/                           the benchmarker's copy of the generated data
//	conf/                           rendered configurations; an edited one is kept as it is
//	conf/<drop-ins>/                included by a service's configuration
//	conf/<service>.env              read at each start of the service, if it is there (see EnvFile)
//	conf/limits/<service>.conf      applied at each start, if it is there (see LimitsFile)
//	conf/enabled/<service>          while it exists, a service on demand runs (see EnableFile)
//	<data>/                         a service's data folder, under the name that the arena chose
//	bin/<service>                   the last build of a service
//	bin/.kept/                      the latest builds, one of each source (see kept.go)
//	log/                            every log of every service, build and load
//	run/ tmp/                       sockets, pid files; temporary files
//	old/N/                          files that --fresh moved away
//
// If root starts the stack, the services run as the user nobody, which owns only
// the files that the services write. Root's home is closed to that user, so the
// default folder is then below /var/lib (see DefaultDir). If another user starts
// the stack, all processes and files belong to that user.
//
// Only sockets may lie outside of the folder. If the path of one would exceed the
// length of a socket address, all get a folder of their own in $XDG_RUNTIME_DIR or
// /tmp, which is removed when the stack ends.
package stack
