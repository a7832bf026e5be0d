// Package history remembers what was measured and what was changed, as plain
// files that people can read, diff and commit:
//
//	journal.jsonl                  one event per line, append-only, synced
//	runs/0007/run.json             one benchmark; sensors put their files beside it
//	changes/0003/change.json       one change: what to do and how to undo it
//	changes/0003/diff              the same, for people
//	changes/0003/verdict.json      what interleaved runs prove about it so far
//
// The journal says what happened and in which order; the folders hold what it
// happened to. An event is written after the file it speaks of, so that a
// reader never finds an event without its file; a file without its event
// (killed in between) is taken as it stands.
//
// It is not a database: nothing is ever rewritten but run.json and
// verdict.json, as a whole (temporary file, sync, rename). change.json stays as it was planned; its stage
// is what the journal says. It judges nothing: which
// moves of a change are legal, and what to do about an unfinished one, is
// decided in package change.
//
// Steps of a writer:
//
//  1. Open locks the folder (a second writer is refused), cuts off a torn last
//     line and replays the journal;
//  2. NewRun and AddChange reserve a number that is never used again;
//  3. SaveRun, MoveChange, SaveVerdict and Append write, sync, and then tell the journal;
//  4. Close gives the lock back; so does the end of the process, however it ends.
//
// Readers use View, which takes no lock and never writes.
package history
