// Package stack brings an arena up on a bare machine: a private MariaDB, the
// arena's app and a private nginx, as supervised children in one work folder.
//
// It is not a way to reach services that run already (that is target), it
// changes nothing for the sake of speed (that is change), and it never calls
// the app's initialize (that is the benchmark's).
//
// What Up does, in order:
//
//  1. find the programs, or name the missing package;
//  2. take the folder's lock, or name the process that has it;
//  3. clean up what a crashed instance left (processes, sockets, pid files);
//  4. lay the arena's files, keeping what a person edited, and have the
//     generated data written;
//  5. choose free ports, keep them for the next time, render the configs;
//  6. start the supervisor, which starts and ends every other process;
//  7. initialise the database folder (once) while the app is being built;
//  8. start database, app and nginx, asking each until it answers.
//
// The supervisor is this same binary, executed again: main (and TestMain of
// every test that brings a stack up) calls [MaybeSupervise] first. It is a
// subreaper and holds one end of a socket whose other end only the caller has:
// however the caller dies, the socket ends, and the supervisor stops nginx, the
// app and the database in this order, killing what does not stop in time.
//
// The work folder:
//
//	lock state.json manifest.json   who runs here, ports and versions, what was laid
//	webapp/                         the arena's files: the place to edit
//	data/                           the benchmarker's copy of the generated data
//	conf/nginx.conf conf/my.cnf     rendered; once edited, they are kept as they are
//	conf/mariadb.d/*.cnf            read after my.cnf
//	conf/app.env                    read at each start of the app, if it is there (see EnvFile)
//	conf/limits/<service>.conf      applied at each start, if it is there (see LimitsFile)
//	mariadb/                        the database's data folder
//	bin/app                         the app as built last
//	log/                            every log of every service, build and load
//	run/ tmp/                       sockets, pid files; temporary files
//	old/N/                          what --fresh moved out of the way
//
// Run by root, the services run as nobody, who owns what they write and nothing
// else; root's own home is closed to nobody, so the default folder is then
// below /var/lib (see DefaultDir). As another user, everything is that user's.
//
// The one thing that may lie outside of the folder is the database's socket:
// where its path would be longer than a socket's address can be, it is in a
// folder of its own in $XDG_RUNTIME_DIR or /tmp, removed when the stack ends.
package stack
