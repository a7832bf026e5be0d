package search

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// attemptWire is an attempt in JSON. The fields of its candidate are its own.
type attemptWire struct {
	Candidate
	Key      string             `json:"key"`
	Changes  []iikanji.ChangeID `json:"changes,omitempty"`
	Says     string             `json:"says"`
	Verdict  iikanji.Verdict    `json:"verdict"`
	Skipped  string             `json:"skipped,omitempty"`
	Parked   bool               `json:"parked,omitempty"`
	Binding  string             `json:"binding,omitempty"`
	Deferred bool               `json:"deferred,omitempty"`
	Fast     bool               `json:"fast_lane,omitempty"`
	Again    *iikanji.Verdict   `json:"checked_again,omitempty"`
	Parts    json.RawMessage    `json:"parts,omitempty"`
	Causes   []string           `json:"causes,omitempty"`       // of the first version
	Alone    []*iikanji.Verdict `json:"proven_alone,omitempty"` // of the first version
	Dropped  bool               `json:"dropped,omitempty"`
	Undone   bool               `json:"undone,omitempty"`
	Rung     string             `json:"rung,omitempty"`
	Stays    bool               `json:"stays,omitempty"`
	Runs     int                `json:"runs"`
	Took     time.Duration      `json:"took_ns"`
}

// MarshalJSON writes the fields of the candidate beside those of the attempt.
func (a Attempt) MarshalJSON() ([]byte, error) {
	w := attemptWire{Candidate: a.Candidate, Key: a.Key, Changes: a.Changes, Says: a.Says, Verdict: a.Verdict,
		Skipped: a.Skipped, Parked: a.Parked, Binding: a.Binding, Deferred: a.Deferred, Fast: a.Fast, Again: a.Again,
		Dropped: a.Dropped, Undone: a.Undone, Rung: a.Rung, Stays: a.Stays, Runs: a.Runs, Took: a.Took}
	if len(a.Parts) > 0 {
		parts, err := json.Marshal(a.Parts)
		if err != nil {
			return nil, fmt.Errorf("writing the parts of an attempt: %w", err)
		}
		w.Parts = parts
	}
	return json.Marshal(w)
}

// UnmarshalJSON also reads attempts of the first version of the ledger, whose bundles name
// their parts by the keys of the remedy's arguments and describe them in parallel lists.
func (a *Attempt) UnmarshalJSON(b []byte) error {
	var w attemptWire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*a = Attempt{Candidate: w.Candidate, Key: w.Key, Changes: w.Changes, Says: w.Says, Verdict: w.Verdict,
		Skipped: w.Skipped, Parked: w.Parked, Binding: w.Binding, Deferred: w.Deferred, Fast: w.Fast, Again: w.Again,
		Dropped: w.Dropped, Undone: w.Undone, Rung: w.Rung, Stays: w.Stays, Runs: w.Runs, Took: w.Took}
	a.Candidate.key = w.Key
	if a.IsBundle() && len(w.Remedy.Args) > 0 {
		return a.readFirstVersion(&w)
	}
	if len(w.Parts) == 0 {
		return nil
	}
	if err := json.Unmarshal(w.Parts, &a.Parts); err != nil {
		return fmt.Errorf("the parts of an attempt: %w", err)
	}
	return nil
}

// readFirstVersion makes the parts of a bundle of the first version: one for each change, with
// its words, finding and verdict, and one for each key. Which change was planned from which
// key is not recorded there.
func (a *Attempt) readFirstVersion(w *attemptWire) error {
	var says []string
	if len(w.Parts) > 0 {
		if err := json.Unmarshal(w.Parts, &says); err != nil {
			return fmt.Errorf("the parts of an attempt of the first version: %w", err)
		}
	}
	for i, id := range w.Changes {
		a.Parts = append(a.Parts, Part{Change: id, Says: at(says, i, w.Says), Cause: at(w.Causes, i, ""), Alone: at(w.Alone, i, nil)})
	}
	for _, key := range slices.Sorted(maps.Keys(w.Remedy.Args)) {
		a.Parts = append(a.Parts, Part{Remedy: remedyOf(key)})
	}
	a.Candidate.Remedy.Args = nil
	return nil
}

// at is the i-th element of a list, or another value if the list is shorter.
func at[T any](list []T, i int, or T) T {
	if i < len(list) {
		return list[i]
	}
	return or
}
