// Package stack brings an arena up on a bare machine: a private MariaDB, the
// arena's app and a private nginx, as supervised children in one work folder.
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
//  7. initialise the database folder (once) while the app is being built;
//  8. start database, app and nginx, and poll each until it answers.
//
// The supervisor is this same binary, executed again. Therefore main, and
// TestMain of every test that brings a stack up, must call [MaybeSupervise]
// first. The supervisor is a subreaper and holds one end of a socket; only the
// caller has the other end. When the caller dies for any reason, the socket
// closes. The supervisor then stops nginx, the app and the database in this
// order, and kills a process that does not stop in time.
//
// The work folder:
//
//	lock state.json manifest.json   the process that holds the folder; ports and versions; files laid out
//	webapp/                         the arena's files: the place to edit
//	data/                           the benchmarker's copy of the generated data
//	conf/nginx.conf conf/my.cnf     rendered; an edited one is kept as it is
//	conf/mariadb.d/*.cnf            read after my.cnf
//	conf/app.env                    read at each start of the app, if it is there (see EnvFile)
//	conf/limits/<service>.conf      applied at each start, if it is there (see LimitsFile)
//	mariadb/                        the database's data folder
//	bin/app                         the app's last build
//	log/                            every log of every service, build and load
//	run/ tmp/                       sockets, pid files; temporary files
//	old/N/                          files that --fresh moved away
//
// If root starts the stack, the services run as the user nobody, which owns only
// the files that the services write. Root's home is closed to that user, so the
// default folder is then below /var/lib (see DefaultDir). If another user starts
// the stack, all processes and files belong to that user.
//
// Only the database's socket may lie outside of the folder. If its path would
// exceed the length of a socket address, the socket gets its own folder in
// $XDG_RUNTIME_DIR or /tmp, which is removed when the stack ends.
package stack
