package selftest

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// A store is a history in memory: the tune.Store and the change.Journal of one
// simulated search.
type store struct {
	runs     []*iikanji.Run // run n is at n−1
	changes  []*iikanji.Change
	events   []history.Event
	verdicts map[iikanji.ChangeID]iikanji.Verdict
	ledger   any // as the latest search saved it
}

// addRun numbers a run and keeps it.
func (s *store) addRun(r *iikanji.Run) {
	r.ID = iikanji.RunID(len(s.runs) + 1)
	s.runs = append(s.runs, r)
}

// LoadRun implements tune.Store.
func (s *store) LoadRun(id iikanji.RunID) (*iikanji.Run, error) {
	if id < 1 || int(id) > len(s.runs) {
		return nil, fmt.Errorf("there is no run %d: %w", id, fs.ErrNotExist)
	}
	return s.runs[id-1], nil
}

// AddChange implements tune.Store.
func (s *store) AddChange(c *iikanji.Change, _ string) error {
	c.ID, c.Stage = iikanji.ChangeID(len(s.changes)+1), iikanji.Planned
	kept := *c
	s.changes = append(s.changes, &kept)
	return nil
}

// LoadChange implements tune.Store.
func (s *store) LoadChange(id iikanji.ChangeID) (*iikanji.Change, error) {
	if id < 1 || int(id) > len(s.changes) {
		return nil, fmt.Errorf("there is no change %d: %w", id, fs.ErrNotExist)
	}
	c := *s.changes[id-1]
	return &c, nil
}

// Changes implements tune.Store.
func (s *store) Changes() ([]*iikanji.Change, error) {
	return s.ChangesAt(func(iikanji.Stage) bool { return true })
}

// ChangesAt implements change.Journal.
func (s *store) ChangesAt(wanted func(iikanji.Stage) bool) ([]*iikanji.Change, error) {
	var all []*iikanji.Change
	for _, c := range s.changes {
		if wanted(c.Stage) {
			one := *c
			all = append(all, &one)
		}
	}
	return all, nil
}

// MoveChange implements change.Journal.
func (s *store) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	if id < 1 || int(id) > len(s.changes) {
		return fmt.Errorf("there is no change %d: %w", id, fs.ErrNotExist)
	}
	if c := s.changes[id-1]; !c.Stage.May(to) {
		return fmt.Errorf("moving change %d from %s to %s: this move is not allowed", id, c.Stage, to)
	}
	s.changes[id-1].Stage = to
	return s.Append(history.Event{What: history.Staged, Change: id, Stage: to, Text: why})
}

// Append implements change.Journal.
func (s *store) Append(e history.Event) error {
	if e.What == history.Staged { // the tuner reads no other
		e.Seq = int64(len(s.events) + 1)
		s.events = append(s.events, e)
	}
	return nil
}

// Events implements tune.Store.
func (s *store) Events() []history.Event { return s.events }

// SaveVerdict implements tune.Store.
func (s *store) SaveVerdict(id iikanji.ChangeID, v *iikanji.Verdict) error {
	s.verdicts[id] = *v
	return nil
}

// ReadLedger implements tune.Store. A ledger goes through JSON only when another search
// reads it.
func (s *store) ReadLedger(_ int, v any) error {
	if s.ledger == nil {
		return fs.ErrNotExist
	}
	b, err := json.Marshal(s.ledger)
	if err != nil {
		return fmt.Errorf("saving the ledger of a simulated search: %w", err)
	}
	return json.Unmarshal(b, v)
}

// SaveLedger implements tune.Store.
func (s *store) SaveLedger(v any) error {
	s.ledger = v
	return nil
}

// AddSearch does nothing: nothing reads the record of a simulated search.
func (s *store) AddSearch(any) error { return nil }
