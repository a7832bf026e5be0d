package tune

import (
	"errors"
	"io/fs"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// searchVersion is the version of the record of a search.
const searchVersion = 1

// A Search is the record of one search that has ended. The attempts are in the
// ledger, which the searches of a history share.
type Search struct {
	Version int            `json:"version"`
	Began   time.Time      `json:"began"`
	Options search.Options `json:"options"`
	// First is the index of the search's first attempt in the ledger.
	First int `json:"first_attempt"`
	Outcome
	// Attempts hides the field of Outcome in JSON; it is always nil.
	Attempts *struct{} `json:"attempts,omitempty"`
}

// saveSearch saves the record of the search.
func (t *Tuner) saveSearch(out *Outcome) error {
	s := Search{Version: searchVersion, Began: t.book.began, Options: t.Options, First: t.book.first, Outcome: *out}
	s.Outcome.Attempts = nil
	return t.History.AddSearch(&s)
}

// A Record is what the searches of a history left there.
type Record struct {
	Calibration []iikanji.RunID // of the unchanged site, for the noise
	Attempts    []search.Attempt
	InForce     []iikanji.ChangeID // in the order in which they were applied
	Searches    []Search           // oldest first; a search that was killed is missing
}

// ReadRecord reads what the searches of a history left. A history without a
// search has an empty Record.
func ReadRecord(h *history.History) (*Record, error) {
	var l search.Ledger
	if err := h.ReadLedger(ledgerVersion, &l); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r := &Record{Calibration: l.AA, Attempts: l.Attempts, InForce: l.InForce}
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
