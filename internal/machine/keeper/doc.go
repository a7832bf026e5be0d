// Package keeper ends a process and starts it again as it was found: with the
// same user, groups, environment, folder, arguments, limits, CPUs, mask of new
// files and open standard files.
//
// Each start has a small supervisor of its own, this binary executed under
// another name (MaybeKeep). The supervisor is in a session of its own and
// outlives iikanji: where iikanji is killed between the end of the old process
// and the start of the new one, the supervisor starts it. It waits for the
// process, reports how it ended, and ends with it.
//
// It does not find processes and asks none whether it is ready (package live does).
package keeper
