// Package target reads iikanji.toml, the description of a site that iikanji did
// not start: its services, how each is found among the processes of the machine,
// how it is tested, reloaded and restarted, and how the site is loaded.
//
// It reads one file and asks no machine. Package discover writes such a file for
// a running site, package live makes a field.Subject of it, package loader runs
// its benchmarker, and package doctor checks it.
//
//  1. A File is the content (file.go). The tags of its structs are the one source
//     of the keys, their help, the JSON Schema (schema.go) and the reference page
//     (reference.go).
//  2. Load reads a file: check.go compares each key with the structs and reports
//     unknown keys and wrong types with line and suggestion; rules.go checks what
//     a type cannot express.
//  3. Print writes a File with comments (print.go).
//  4. A Ref names the place of a secret, so that the file holds none (ref.go).
package target
