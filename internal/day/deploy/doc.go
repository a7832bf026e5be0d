// Package deploy puts a new version of an app into service, and the former one back if the
// new one does not serve.
//
//  1. Detect tells what the source is made with: the build command of the site's file, else
//     by its files (form.go).
//  2. The syntax is checked, changed dependencies are installed, the program is built beside
//     the one that runs (build.go).
//  3. What serves now is kept: the program, or of an interpreted app the source that was
//     deployed last (tree.go).
//  4. The program is replaced by a rename, and the service restarted or reloaded. If it is
//     not healthy within the limit, the former version returns (deploy.go).
//
// Source, program and commands are those of one host.Host; what is kept may be on another one,
// that of the command. Etc writes files of a ledger onto a
// host and never over an edit that the ledger does not know (etc.go).
package deploy
