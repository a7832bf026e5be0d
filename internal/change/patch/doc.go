// Package patch plans changes of a service's own source, from a unified diff
// that a person or a proposer wrote.
//
// It writes no diff and judges none: a patch is code, and code can do all that
// the service's account may do. What the package promises is that the patch
// touches files of the source folder and no others, that it compiles before
// anything is touched, and that undoing gives the old bytes back.
//
// It does not guess. Every line of context must match to the byte; a hunk may
// stand elsewhere than its header says, but at one nearest place only.
//
// Steps of a plan:
//
//  1. read the diff (parse.go, header.go, hunk.go) and its names (name.go);
//  2. read the files it names, which must lie in the source folder (tree.go);
//  3. apply it in memory (apply.go, locate.go), or find that it was applied before;
//  4. refuse what steers the build instead of being code (steer.go);
//  5. have a scratch copy of the source with the edits compiled (change.Compile);
//  6. return whole files as a Change with a restart, which builds the source.
//
// Limits: 256 KiB of diff, 32 files of at most 1 MiB. Refused: binary files,
// renames, copies, modes, links, names with a part that begins with a dot, new
// files in folders that are not there, removing files whose mode or owner an
// undo could not give back.
package patch
