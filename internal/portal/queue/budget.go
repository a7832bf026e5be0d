package queue

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A Past is one charged job of a team: jobs that were void, broken or lost are not charged.
type Past struct {
	Enqueued time.Time
	Ended    time.Time // zero while it is open
}

// A BudgetError is a refusal, with the instant from which the team may enqueue; zero for
// never.
type BudgetError struct {
	Text string
	From time.Time
}

func (e *BudgetError) Error() string { return e.Text }

// Check holds a team to its budget. others is how many jobs of other teams wait.
func Check(b contest.Budget, past []Past, now time.Time, others int) error {
	if b.Saturated && others == 0 {
		return nil
	}
	if b.Runs > 0 && len(past) >= b.Runs {
		return &BudgetError{Text: fmt.Sprintf("all %d runs are used", b.Runs)}
	}
	var last time.Time
	var recent []time.Time
	for _, p := range past {
		if p.Ended.After(last) {
			last = p.Ended
		}
		if p.Enqueued.After(now.Add(-time.Hour)) {
			recent = append(recent, p.Enqueued)
		}
	}
	if b.PerHour > 0 && len(recent) >= b.PerHour {
		first := recent[0]
		for _, at := range recent {
			if at.Before(first) {
				first = at
			}
		}
		return &BudgetError{Text: fmt.Sprintf("%d runs in an hour are the limit", b.PerHour), From: first.Add(time.Hour)}
	}
	if from := last.Add(b.CoolDown); b.CoolDown > 0 && !last.IsZero() && from.After(now) {
		return &BudgetError{Text: fmt.Sprintf("a run begins %s after the one before", b.CoolDown), From: from}
	}
	return nil
}
