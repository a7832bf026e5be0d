// Package goapp is the one typed view of a Go app.
//
//   - load.go loads the packages of a module without the network.
//   - edit.go applies edits of source text, with the imports that they need.
//   - addition.go puts a package of ours into the module.
//   - opens.go finds the calls that open pools of connections.
//   - routes.go finds the routes and their handlers.
//   - connections.go evaluates, without types, how the app spells its connections to
//     databases of MySQL's family; evaluate.go runs its functions for that.
//
// Only Load has I/O. All else works on loaded source, or on texts.
package goapp
