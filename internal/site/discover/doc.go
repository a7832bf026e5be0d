// Package discover asks a running machine what a site consists of, and writes an
// iikanji.toml for it. It changes nothing: it reads /proc, runs nginx -T and the
// database server's --help, and reads configuration, source and the databases'
// variables.
//
//  1. The front is the process that listens at the site's URL (front.go).
//  2. An nginx names the apps behind it in its configuration (nginx.go).
//  3. An app names what it needs by its open connections, its environment, its
//     arguments and its source (app.go, dsn.go, source.go, sourcedsn.go).
//  4. A database is asked for its version, variables and size (database.go).
//  5. Processes that use the same databases and listen nowhere are background
//     jobs of the site (jobs.go).
//
// Each finding has a sureness and its reason. Secrets are neither printed nor
// written: the file refers to the place where they were found.
package discover
