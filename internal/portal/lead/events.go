package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// Kinds of events.
const (
	KindJob     = "job"     // a job changed its state; Body is a JobEvent
	KindResult  = "result"  // a result was accepted; Body is a ResultEvent
	KindMessage = "message" // Body is an api.Message
	KindClock   = "clock"   // an act on the clock, or another state of the round
	KindTeam    = "team"    // a team was made or changed
	KindBeside  = "beside"  // a ghost or a prize by hand; boards read them again
	KindNoise   = "noise"   // Body is an api.Noise; the last one counts
)

// An Event is one line of a round's history, and of the outbox.
type Event struct {
	Round  string          `json:"round"`
	Number int64           `json:"number"` // 1, 2, 3 … in each round
	At     time.Time       `json:"at"`
	Kind   string          `json:"kind"`
	Team   string          `json:"team,omitempty"`
	Job    string          `json:"job,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// A JobEvent is another state of a job.
type JobEvent struct {
	State   string        `json:"state"`
	Attempt int64         `json:"attempt"`
	Used    time.Duration `json:"used_ns,omitempty"` // worker time that is charged, at the end
	Says    string        `json:"says,omitempty"`
}

// A ResultEvent is an accepted result.
type ResultEvent struct {
	Number   int64           `json:"number"` // of the team's job
	Enqueued time.Time       `json:"enqueued"`
	Outcome  iikanji.Outcome `json:"outcome"`
	Score    float64         `json:"score"`
	Note     string          `json:"note,omitempty"`
	Used     time.Duration   `json:"used_ns,omitempty"`
	Clean    bool            `json:"clean,omitempty"` // it passed without a fault
}

// event writes an event in the transaction of its cause. The counter of the round is locked
// until the commit: numbers are in the order of commits, without gaps.
func (c *Core) event(tx *store.Tx, e Event) error {
	_, err := c.numbered(tx, e)
	return err
}

func (c *Core) numbered(tx *store.Tx, e Event) (int64, error) {
	n, err := tx.Exec("UPDATE rounds SET last_event = last_event + 1 WHERE id = ?", e.Round)
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, fmt.Errorf("an event of the unknown round %s", e.Round)
	}
	if err := tx.Row("SELECT last_event FROM rounds WHERE id = ?", []any{e.Round}, &e.Number); err != nil {
		return 0, err
	}
	if e.Body == nil {
		e.Body = json.RawMessage("{}")
	}
	_, err = tx.Exec("INSERT INTO events (round, number, at, kind, team, job, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
		e.Round, e.Number, c.Now(), e.Kind, e.Team, e.Job, string(e.Body))
	return e.Number, err
}

// jobEvent writes the event of a job's new state.
func (c *Core) jobEvent(tx *store.Tx, j *job, used time.Duration) error {
	body, err := json.Marshal(JobEvent{State: string(j.State), Attempt: j.Attempt, Used: used, Says: j.Says})
	if err != nil {
		return err
	}
	return c.event(tx, Event{Round: j.Round, Kind: KindJob, Team: j.Team, Job: j.ID, Body: body})
}

// eventPage is how many events are read at once.
const eventPage = 500

// EventsAfter reads events of a round after a number, at most eventPage.
func (c *Core) EventsAfter(ctx context.Context, round string, after int64) (out []Event, err error) {
	err = c.store.Read(ctx, func(tx *store.Tx) error {
		out, err = eventsAfter(tx, round, after)
		return err
	})
	return out, err
}

func eventsAfter(tx *store.Tx, round string, after int64) (out []Event, err error) {
	err = tx.Each("SELECT number, at, kind, team, job, body FROM events WHERE round = ? AND number > ? ORDER BY number LIMIT 500",
		[]any{round, after}, func(scan func(...any) error) error {
			e, body := Event{Round: round}, ""
			if err := scan(&e.Number, &e.At, &e.Kind, &e.Team, &e.Job, &body); err != nil {
				return err
			}
			e.Body = json.RawMessage(body)
			out = append(out, e)
			return nil
		})
	return out, err
}
