// Package appenv plans changes of how an application is set up: variables of
// its environment, parameters of its connection to the database, the size of
// its pool, its debug log.
//
// It does not change what the application does (that is patch), and touches
// nothing that names a place, a person or a secret. A remedy may come from
// anywhere: variables and parameters are those of lists, each with the form
// that its value must have.
//
// Remedy.Target is the application's service. Args, any of them together:
//
//	env.NAME   a value for a variable, as env.GOGC = 400 (variables.go)
//	dsn        parameters of go-sql-driver joined by "&", as interpolateParams=true;
//	           "socket" among them means the database's unix socket (dsn.go)
//	pool       how many connections may be open, and stay open when idle (pool.go)
//	log        "off": no debug log, no line per request (logs.go)
//
// Steps of a plan:
//
//  1. check the arguments; read the environment file and, where it is asked
//     for, the Go source;
//  2. set variables in the file. A DSN that stands in a variable is set there,
//     unless it holds a password: a change has whole files, and a secret of the
//     environment gets into no history (secret.go);
//  3. else find the DSN in the source, as a literal (source_dsn.go) or as a
//     mysql.Config (source_config.go), and edit those bytes and no others;
//  4. have a scratch copy of the edited source compiled;
//  5. return whole files as a Change with a restart, which builds the source.
//
// Note: the source is read by syntax and names of imports, without types. What
// that misses is told as not found; what it mistakes does not compile.
package appenv
