package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// EventSubject is the subject of a round's events of a kind.
func EventSubject(round, kind string) string { return "iik.ev." + round + "." + kind }

// Relay publishes the events that were not published yet, and learns from them how much
// worker time teams used. An event that is published twice is applied once, by its number.
func (l *Leader) Relay(ctx context.Context) error {
	type due struct {
		round string
		last  int64
		sent  int64
	}
	var rounds []due
	err := l.store.Read(ctx, func(tx *store.Tx) error {
		return tx.Each("SELECT id, last_event, relayed FROM rounds", nil, func(scan func(...any) error) error {
			var d due
			err := scan(&d.round, &d.last, &d.sent)
			rounds = append(rounds, d)
			return err
		})
	})
	if err != nil {
		return err
	}
	for _, d := range rounds {
		// A new leader learns the past of the round first.
		after := min(d.sent, l.folded[d.round])
		for after < d.last {
			events, err := l.EventsAfter(ctx, d.round, after)
			if err != nil {
				return err
			}
			if len(events) == 0 {
				break
			}
			if err := l.relay(ctx, d.round, d.sent, events); err != nil {
				return err
			}
			after = events[len(events)-1].Number
		}
	}
	return nil
}

// relay publishes those of some events that are after a number, and notes the last.
func (l *Leader) relay(ctx context.Context, round string, sent int64, events []Event) error {
	for _, e := range events {
		l.learn(e)
		if e.Number <= sent {
			continue
		}
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		l.point("before-publish:event")
		m := carry.Message{Subject: EventSubject(round, e.Kind), ID: round + "/" + strconv.FormatInt(e.Number, 10), Data: data}
		if err := l.carry.Publish(ctx, carry.Events, m); err != nil {
			return fmt.Errorf("relaying event %d of %s: %w", e.Number, round, err)
		}
		l.point("after-publish:event")
	}
	last := events[len(events)-1].Number
	if last <= sent {
		return nil
	}
	return l.write(ctx, "relayed", func(tx *store.Tx) error {
		_, err := tx.Exec("UPDATE rounds SET relayed = ? WHERE id = ? AND relayed < ?", last, round, last)
		return err
	})
}

// learn adds the worker time of an event, once.
func (l *Leader) learn(e Event) {
	if e.Number <= l.folded[e.Round] {
		return
	}
	l.folded[e.Round] = e.Number
	if e.Kind != KindResult && e.Kind != KindJob {
		return
	}
	var r ResultEvent // both kinds have used_ns
	if json.Unmarshal(e.Body, &r) != nil || r.Used <= 0 {
		return
	}
	l.queueMu.Lock()
	defer l.queueMu.Unlock()
	l.used.Add(e.Team, r.Used, e.At)
	l.runs = append(l.runs, r.Used)
	l.runs = l.runs[max(0, len(l.runs)-kept):]
}
