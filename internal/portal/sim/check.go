package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// goOn lets a team go on after a job that ended without a counted result. A job that runs
// again is looked at later.
func (s *simulation) goOn(ctx context.Context, job string, t *team) error {
	state := ""
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Row("SELECT state FROM jobs WHERE id = ?", []any{job}, &state)
	})
	if err == nil && !api.JobState(state).Open() {
		return t.ended(ctx)
	}
	return err
}

// compareBoards compares the folded board with one that is made anew from the tables.
func (s *simulation) compareBoards(ctx context.Context) error {
	if _, err := s.core.Follow(ctx, s.round, &s.history); err != nil {
		return err
	}
	s.report.Boards++
	var results []board.Result
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT r.job, r.team, r.at, r.outcome, r.score, j.enqueued FROM results r JOIN jobs j ON j.id = r.job ORDER BY r.number", nil, func(scan func(...any) error) error {
			r, outcome := board.Result{}, ""
			if err := scan(&r.Job, &r.Team, &r.At, &outcome, &r.Score, &r.Enqueued); err != nil {
				return err
			}
			results = append(results, r)
			return results[len(results)-1].Outcome.UnmarshalText([]byte(outcome))
		})
	})
	if err != nil {
		return err
	}
	for _, reader := range []board.Reader{{Role: board.Public}, {Role: board.Staff}} {
		got := map[string]float64{}
		for _, row := range s.history.View(reader, s.now).Rows {
			if row.Runs > 0 {
				got[row.Team] = row.Standing
			}
		}
		want := s.naive(results, reader.Role == board.Staff)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			s.problems = append(s.problems, fmt.Errorf("at %s the %s board differs from its results", s.now.Sub(s.start), reader.Role))
		}
	}
	return nil
}

// naive is the standing of each team: its last visible result.
func (s *simulation) naive(results []board.Result, all bool) map[string]float64 {
	end := s.start.Add(s.o.Length)
	freeze := end.Add(-s.freeze())
	out := map[string]float64{}
	for _, r := range results {
		if r.Outcome == iikanji.Void || !r.Enqueued.Before(end) || r.At.After(s.now) || !r.At.Before(end.Add(30*time.Minute)) {
			continue
		}
		if !all && !s.now.Before(freeze) && !r.At.Before(freeze) {
			continue
		}
		out[r.Team] = r.Score
	}
	return out
}

// finalChecks checks the invariants on the tables after the end.
func (s *simulation) finalChecks(ctx context.Context) error {
	counts := map[string]int{}
	queries := map[string]string{
		"open":      "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'offered', 'running')",
		"locks":     "SELECT COUNT(*) FROM open_jobs",
		"done":      "SELECT COUNT(*) FROM jobs WHERE state = 'done'",
		"results":   "SELECT COUNT(*) FROM results",
		"broken":    "SELECT COUNT(*) FROM jobs WHERE state = 'broken'",
		"cancelled": "SELECT COUNT(*) FROM jobs WHERE state = 'cancelled'",
		"alone":     "SELECT COUNT(*) FROM results r WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.round = r.round AND e.number = r.number AND e.kind = 'result' AND e.job = r.job)",
		"told":      "SELECT COUNT(*) FROM events WHERE kind = 'result'",
		"events":    "SELECT COUNT(*) FROM events",
		"last":      "SELECT last_event FROM rounds",
		"relayed":   "SELECT relayed FROM rounds",
		"charged":   "SELECT COUNT(*) FROM jobs WHERE charged = 1 AND state IN ('broken')",
		"attempts":  "SELECT COUNT(*) FROM attempts a JOIN attempts b ON a.job = b.job AND a.epoch < b.epoch AND (a.ended = 0 OR a.ended > b.began)",
	}
	err := s.store.Read(ctx, func(tx *store.Tx) error {
		for name, query := range queries {
			n := 0
			if err := tx.Row(query, nil, &n); err != nil {
				return err
			}
			counts[name] = n
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.report.Results, s.report.Broken, s.report.Cancelled = counts["results"], counts["broken"], counts["cancelled"]
	for _, c := range []struct{ what, a, b string }{
		{"I1: open jobs and their locks", "open", "locks"}, {"I4: done jobs and results", "done", "results"},
		{"I5: results and their events", "results", "told"}, {"I5: numbers and events", "last", "events"}, {"I5: relayed events", "relayed", "last"},
	} {
		if counts[c.a] != counts[c.b] {
			s.problems = append(s.problems, fmt.Errorf("%s: %d and %d", c.what, counts[c.a], counts[c.b]))
		}
	}
	for what, name := range map[string]string{"jobs that never ended": "open", "I5: results without their event": "alone", "broken jobs that are charged": "charged", "I2: attempts of one job that overlap": "attempts"} {
		if counts[name] != 0 {
			s.problems = append(s.problems, fmt.Errorf("%s: %d", what, counts[name]))
		}
	}
	return errors.Join(s.compareBoards(ctx), s.digest(), s.exported(ctx))
}

// digest is the SHA-256 of the staff's last board.
func (s *simulation) digest() error {
	b, err := json.Marshal(s.history.View(board.Reader{Role: board.Staff}, s.now).Rows)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	s.report.Digest = hex.EncodeToString(sum[:])
	return nil
}
