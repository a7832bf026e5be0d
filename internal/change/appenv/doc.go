// Package appenv plans changes of an application's setup: variables of its
// environment, parameters of its connection to the database, the size of its
// connection pool, its debug log and its profilers.
//
// It does not change the application's behaviour (patch does), and changes
// nothing that names a place, an account or a secret. A remedy can come from any
// source: variables and parameters must be in fixed lists, each with the form
// that its value must have.
//
// Remedy.Target is the application's service. Args, in any combination:
//
//	env.NAME   a value for a variable, as env.GOGC = 400 (variables.go)
//	dsn        parameters of go-sql-driver joined by "&", as interpolateParams=true;
//	           "socket" among them means the database's unix socket (dsn.go)
//	pool       the maximum of open connections, and of idle ones (pool.go)
//	log        "off": no debug log, no line per request (logs.go)
//	profiler   "off": no profiler of the app's own (profilers.go)
//
// Steps of a plan:
//
//  1. check the arguments; read the environment file and, if an argument needs
//     it, the Go source;
//  2. set variables in the file. A DSN in a variable is changed there. A file
//     that holds a secret (also a DSN with a password) is refused: a change has
//     whole files, and secrets of the environment must not get into the history
//     (secret.go);
//  3. otherwise find the DSN in the source, as a literal (source_dsn.go) or as a
//     mysql.Config (source_config.go), and edit only those bytes;
//  4. compile a scratch copy of the edited source;
//  5. return whole files as a Change with a restart, which builds the source.
//
// Note: the source is analysed by syntax and import names, without types. What
// the analysis misses is reported as not found; a wrong match does not compile.
package appenv
