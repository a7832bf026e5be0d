package tune

import (
	"errors"
	"io/fs"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// searchVersion is the version of the record of a search.
const searchVersion = 1

// A Search is the record of one search that has ended. The attempts are in the
// ledger, which the searches of a history share.
type Search struct {
	Version int         `json:"version"`
	Began   time.Time   `json:"began"`
	Options TuneOptions `json:"options"`
	// First is the index of the search's first attempt in the ledger.
	First int `json:"first_attempt"`
	Outcome
	// Attempts hides the field of Outcome in JSON; it is always nil.
	Attempts *struct{} `json:"attempts,omitempty"`
}

// saveSearch saves the record of the search.
func (t *Tuner) saveSearch(out *Outcome) error {
	s := Search{Version: searchVersion, Began: t.began, Options: t.Options, First: t.first, Outcome: *out}
	s.Outcome.Attempts = nil
	return t.History.AddSearch(&s)
}

// A Record is what the searches of a history left there.
type Record struct {
	Calibration []iikanji.RunID // of the unchanged site, for the noise
	Attempts    []Attempt
	InForce     []iikanji.ChangeID // in the order in which they were applied
	Searches    []Search           // oldest first; a search that was killed is missing
}

// ReadRecord reads what the searches of a history left. A history without a
// search has an empty Record.
func ReadRecord(h *history.History) (*Record, error) {
	var b ledger
	if err := h.ReadLedger(ledgerVersion, &b); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r := &Record{Calibration: b.AA, Attempts: b.Attempts, InForce: b.InForce}
	numbers, err := h.SearchNumbers()
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		var s Search
		if err := h.ReadSearch(n, searchVersion, &s); err != nil {
			return nil, err
		}
		r.Searches = append(r.Searches, s)
	}
	return r, nil
}

// Result is the attempt's result in a word: keep, revert, inconclusive, parked,
// provisional, dropped, undone or not tried.
func (a Attempt) Result() string { return callOf(a) }
