// Package export writes a contest as plain files and reads them back.
//
//  1. [Write] writes the form of a reader: what everyone may see, or what staff sees (write.go,
//     tables.go). Everything that a board derives from comes from the one function of
//     visibility. No form has a secret: no token, hash, seed, mail address or key.
//  2. [Import] rebuilds a contest from such files in a portal that does not have it (read.go),
//     and compares the boards that it gives with the exported ones.
//
// Files are UTF-8 in a stable order; [Files] has their names.
package export
