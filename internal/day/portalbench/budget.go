package portalbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A Budget is how many runs a portal still allows, and when the next may begin.
type Budget struct {
	Limited bool
	Left    int       // valid if Limited
	Next    time.Time // when the next may be pressed; zero for now
}

// budgetFile is the file of a history that keeps from which run on runs_left counts.
const budgetFile = "portal.json"

type budgetDoc struct {
	Version  int           `json:"version"`
	RunsLeft int           `json:"runs_left"` // as iikanji.toml had it
	After    iikanji.RunID `json:"after"`     // the last run when that number was first read
}

// BudgetOf counts. A number in runs_left that was not seen before counts from now on; it
// is kept if h can be written.
func BudgetOf(h *history.History, b *target.Bench, write bool) (Budget, error) {
	all, err := h.RunList()
	if err != nil {
		return Budget{}, err
	}
	last := iikanji.RunID(0)
	var end time.Time
	loaded := func(r history.RunEntry) bool { return r.Saved }
	for _, r := range all {
		if !loaded(r) {
			continue
		}
		last = r.ID
		if run, err := h.LoadRun(r.ID); err == nil && !run.Watched && run.Began.Add(run.Took).After(end) {
			end = run.Began.Add(run.Took)
		}
	}
	var out Budget
	if gap := time.Duration(b.LeastGap); gap > 0 && !end.IsZero() {
		out.Next = end.Add(gap)
	}
	if b.RunsLeft <= 0 {
		return out, nil
	}
	doc, err := readBudget(h.Dir())
	if err != nil {
		return out, err
	}
	if doc.RunsLeft != b.RunsLeft {
		doc = budgetDoc{1, b.RunsLeft, last}
		if write {
			if err := writeBudget(h.Dir(), doc); err != nil {
				return out, err
			}
		}
	}
	out.Limited, out.Left = true, b.RunsLeft
	for _, r := range all {
		if r.ID <= doc.After || !loaded(r) {
			continue
		}
		if run, err := h.LoadRun(r.ID); err == nil && !run.Watched {
			out.Left--
		}
	}
	out.Left = max(0, out.Left)
	return out, nil
}

func readBudget(dir string) (doc budgetDoc, err error) {
	text, err := os.ReadFile(filepath.Join(dir, budgetFile))
	if errors.Is(err, fs.ErrNotExist) {
		return doc, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err == nil && doc.Version > 1 {
		err = fmt.Errorf("it has version %d, this iikanji reads up to 1", doc.Version)
	}
	if err != nil {
		return doc, fmt.Errorf("reading %s: %w", budgetFile, err)
	}
	return doc, nil
}

func writeBudget(dir string, doc budgetDoc) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", budgetFile, err)
	}
	path := filepath.Join(dir, budgetFile)
	if err = os.WriteFile(path+".tmp", append(text, '\n'), 0o600); err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", budgetFile, err)
	}
	return nil
}

// A SpentError is a portal that allows no further run.
type SpentError struct{ Runs int }

func (e *SpentError) Error() string {
	return fmt.Sprintf("all %d runs of runs_left are used up", e.Runs)
}

// Hints tells where the number is.
func (e *SpentError) Hints() []string {
	return []string{"runs_left below [bench] in " + target.Name + " is the number: write how many the portal shows now"}
}

// await waits until the next run may begin.
func (b Budget) await(ctx context.Context, now func() time.Time, say func(string)) error {
	wait := b.Next.Sub(now())
	if b.Next.IsZero() || wait <= 0 {
		return nil
	}
	say(fmt.Sprintf("least_gap: the next run may begin in %s, at %s", wait.Round(time.Second), b.Next.Local().Format("15:04:05")))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
