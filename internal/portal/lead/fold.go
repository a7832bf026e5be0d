package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A History is a round's events, folded: what a board is made of. It is not safe for
// concurrent use.
type History struct {
	Data *board.Data
	Last int64 // number of the last event
}

// Follow brings a history up to date. A zero History reads all. It reports the events that
// are new.
func (c *Core) Follow(ctx context.Context, round string, h *History) ([]Event, error) {
	var news []Event
	for {
		events, err := c.EventsAfter(ctx, round, h.Last)
		if err != nil {
			return news, err
		}
		if h.Data == nil || needsRound(events) {
			if err := c.reload(ctx, round, h); err != nil {
				return news, err
			}
		}
		for _, e := range events {
			if err := h.apply(e); err != nil {
				return news, err
			}
		}
		news = append(news, events...)
		if len(events) < eventPage {
			return news, nil
		}
	}
}

// needsRound reports whether events changed the round or its teams.
func needsRound(events []Event) bool {
	for _, e := range events {
		if e.Kind == KindClock || e.Kind == KindTeam || e.Kind == KindJudge || e.Kind == KindBeside || e.Kind == KindNoise {
			return true
		}
	}
	return false
}

// reload reads the round and its teams; results stay. Data is a new value: views of the old
// one stay as they are.
func (c *Core) reload(ctx context.Context, round string, h *History) error {
	return c.store.Read(ctx, func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		d := &board.Data{Round: r.Round, Clock: r.Clock, Published: r.Published}
		if h.Data != nil {
			d.Results = h.Data.Results
		}
		if err := readJudged(tx, round, d); err != nil {
			return err
		}
		if err := readBeside(tx, round, d); err != nil {
			return err
		}
		if err := readNoise(tx, round, d); err != nil {
			return err
		}
		err = tx.Each("SELECT id, name, division, gone, gone_at FROM teams WHERE contest = ? AND "+onBoard+" ORDER BY created, id", []any{r.Contest.ID}, func(scan func(...any) error) error {
			t := board.Team{}
			err := scan(&t.ID, &t.Name, &t.Division, &t.Gone, &t.GoneAt)
			t.Ranked = r.Contest.Ranked(t.Division)
			d.Teams = append(d.Teams, t)
			return err
		})
		h.Data = d
		return err
	})
}

// apply adds one event, once.
func (h *History) apply(e Event) error {
	if e.Number <= h.Last {
		return nil
	}
	if e.Number != h.Last+1 {
		return fmt.Errorf("event %d of %s follows event %d", e.Number, e.Round, h.Last)
	}
	h.Last = e.Number
	if e.Kind != KindResult {
		return nil
	}
	var r ResultEvent
	if err := json.Unmarshal(e.Body, &r); err != nil {
		return fmt.Errorf("reading event %d of %s: %w", e.Number, e.Round, err)
	}
	next := *h.Data // readers may hold the old value
	next.Results = append(next.Results, board.Result{Job: e.Job, Team: e.Team, Number: r.Number, Enqueued: r.Enqueued, At: e.At, Outcome: r.Outcome, Score: r.Score, Note: r.Note, Clean: r.Clean})
	h.Data = &next
	return nil
}

// View is what a reader sees of a history at an instant.
func (h *History) View(reader board.Reader, now time.Time) *board.View {
	return board.Of(h.Data, reader, now)
}
