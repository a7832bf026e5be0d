// Package history keeps what was measured and what was changed, as plain files
// that people can read, diff and commit:
//
//	journal.jsonl                  one event per line, append-only, synced
//	tune.json                      the state of a tuning session, if any
//	roots.json                     the folders of this machine that files name as {root:NAME}
//	runs/0007/run.json             one benchmark; sensors put their files beside it
//	changes/0003/change.json       one change: what to do and how to undo it
//	changes/0003/diff              the same, for people
//	changes/0003/verdict.json      the latest verdict on it
//
// The journal holds the events in their order; the folders hold the data of
// each run and change. An event is written after its file, so that a reader
// never finds an event without its file. A run without its event (the process
// was killed in between) is valid. A change without one is uncertain, and so are
// the changes before a damaged or missing line: see damage.go.
//
// Only the owner has access: a change holds the files that it edits whole.
//
// It is not a database: only run.json, verdict.json and tune.json are ever
// rewritten, as a whole (temporary file, sync, rename). change.json stays as it
// was planned; the stage of a change is that of its last event. The package
// judges nothing: what to do about an unfinished change is decided in package
// change.
//
// Steps of a writer:
//
//  1. Open locks the folder (a second writer is refused), cuts off a torn last
//     line and replays the journal;
//  2. NewRun and AddChange reserve a number that is never used again;
//  3. SaveRun, MoveChange, SaveVerdict and Append write and sync their file, and
//     then an event;
//  4. Close releases the lock; so does the end of the process, even by a kill.
//
// Readers use View, which takes no lock and never writes.
package history
