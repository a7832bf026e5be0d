// Package patch plans changes of a service's own source, from a unified diff
// that a person or a proposer wrote.
//
// It writes no diff and judges none: a patch is code, and code can do all that
// the service's account may do. The package promises that the patch touches
// files of the source folder and no others, that it compiles before any file is
// touched, and that undoing restores the old bytes.
//
// It does not guess. Every line of context must match to the byte. A hunk may
// apply at another line than its header states, but only if one matching place
// is the nearest.
//
// Steps of a plan:
//
//  1. read the diff (parse.go, header.go, hunk.go) and its names (name.go);
//  2. read the files it names, which must lie in the source folder (tree.go);
//  3. apply it in memory (apply.go, locate.go), or detect that it was applied before;
//  4. refuse edits that control the build (buildfile.go);
//  5. compile a scratch copy of the source with the edits (change.Site.Compile);
//  6. return whole files as a Change with a restart, which builds the source.
//
// Limits: 256 KiB of diff, 32 files of at most 1 MiB. Refused: binary files,
// renames, copies, modes, links, names with a part that begins with a dot, new
// files in missing folders, and removing files whose mode or owner an undo could
// not restore.
package patch
