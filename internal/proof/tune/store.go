package tune

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// A Store keeps the runs, the changes and the ledger of a search.
// *history.History is one; a simulated search has one in memory.
type Store interface {
	LoadRun(id iikanji.RunID) (*iikanji.Run, error)
	AddChange(c *iikanji.Change, diff string) error
	LoadChange(id iikanji.ChangeID) (*iikanji.Change, error)
	Changes() ([]*iikanji.Change, error)
	SaveVerdict(id iikanji.ChangeID, v *iikanji.Verdict) error
	Events() []history.Event
	ReadLedger(newest int, v any) error
	SaveLedger(v any) error
	AddSearch(v any) error
}
