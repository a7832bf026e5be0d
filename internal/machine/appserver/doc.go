// Package appserver reads how many processes and threads an app server runs, and
// which place decides that: gunicorn, uvicorn, puma, unicorn, programs of Node.js
// with the module cluster, and pm2's ecosystem files.
//
// The answer comes from the running process: its command line, its environment, its
// working folder and its children. Settings are resolved in the order of precedence
// of each server:
//
//	gunicorn   command line, GUNICORN_CMD_ARGS, configuration file, WEB_CONCURRENCY
//	uvicorn    command line, WEB_CONCURRENCY
//	puma       command line, configuration file, WEB_CONCURRENCY, PUMA_MAX_THREADS, MAX_THREADS
//	unicorn    configuration file
//	node       the variable that the entry script reads, beside its use of cluster
//	pm2        instances in the ecosystem file
//
// A configuration file is a program. It is never run: only plain assignments and
// directives are read, line by line, with the name of a variable that their
// expression takes a value from. What has another form is an [UnreadableError].
package appserver
