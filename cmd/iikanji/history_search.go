package main

import (
	"errors"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

// search prints the result of the latest search again, as tune did at its end.
func (c *historyListCmd) search(e *env, a *namedTarget, h *history.History) error {
	record, err := tune.ReadRecord(h)
	if err != nil {
		return err
	}
	if len(record.Searches) == 0 {
		return hinted(errors.New("no search has ended in this history"), "iikanji tune "+a.Name+" makes one")
	}
	last := record.Searches[len(record.Searches)-1]
	out := last.Outcome
	out.Attempts = record.Attempts[min(last.First, len(record.Attempts)):]
	if c.JSON {
		return writeJSON(e.Stdout, &out)
	}
	if err := printTrials(e, &out); err != nil {
		return err
	}
	return printHeadline(e, a, &out)
}
