// Package goapp is the one typed view of a Go app.
//
//   - load.go loads the packages of a module without the network.
//   - edit.go applies edits of source text, with the imports that they need.
//   - addition.go puts a package of ours into the module.
//   - routes.go finds the routes and their handlers.
//
// Only Load has I/O. All else works on loaded source, or on texts.
package goapp
