package lead

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// notFound is api.ErrNotFound for a row that is not there.
func notFound(err error) error {
	if errors.Is(err, store.ErrNone) {
		return api.ErrNotFound
	}
	return err
}

// refused is a refusal by the state of the contest.
func refused(code, format string, args ...any) error {
	return &api.RefusedError{Code: code, Text: fmt.Sprintf(format, args...)}
}

// clockOf is the clock of a round after its acts.
func clockOf(tx *store.Tx, r *Round) (*contest.Clock, error) {
	clock := contest.NewClock(r.Round)
	err := tx.Each("SELECT team, began FROM windows WHERE round = ?", []any{r.ID}, func(scan func(...any) error) error {
		team, began := "", time.Time{}
		if err := scan(&team, &began); err != nil {
			return err
		}
		clock.Windows[team] = began
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = tx.Each("SELECT body FROM acts WHERE round = ? ORDER BY number", []any{r.ID}, func(scan func(...any) error) error {
		body, act := "", contest.Act{}
		if err := scan(&body); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(body), &act); err != nil {
			return fmt.Errorf("reading an act on a clock: %w", err)
		}
		return clock.Apply(act)
	})
	return clock, err
}

// AddContest keeps a contest. Its rounds begin as drafts; open rounds and those of a local
// contest are ready at once.
func (c *Core) AddContest(ctx context.Context, file []byte, path string) (*contest.Contest, error) {
	parsed, err := contest.Parse(path, file)
	if err != nil {
		return nil, err
	}
	now := c.Now()
	return parsed, c.store.Write(ctx, "contest", func(tx *store.Tx) error {
		// A parser of the stored text has no path: the id goes with it.
		text := string(file)
		if _, err := contest.Parse(parsed.ID+".toml", file); err != nil {
			return err
		}
		n := int64(0)
		if err := tx.Row("SELECT COUNT(*) FROM contests WHERE id = ?", []any{parsed.ID}, &n); err != nil {
			return err
		}
		if n > 0 {
			return refused("exists", "there is a contest %s already", parsed.ID)
		}
		if err := c.check(parsed); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO contests (id, file, digest, created) VALUES (?, ?, ?, ?)", parsed.ID, text, parsed.Digest, now); err != nil {
			return err
		}
		for i := range parsed.Rounds {
			r := &parsed.Rounds[i]
			state := contest.Draft
			if parsed.Local || r.Kind == contest.Open {
				state = contest.Ready
			}
			if _, err := tx.Exec("INSERT INTO rounds (id, contest, state, version, last_event, relayed, published) VALUES (?, ?, ?, 1, 0, 0, 0)", RoundID(parsed.ID, r.ID), parsed.ID, string(state)); err != nil {
				return err
			}
		}
		return c.audit(tx, "", "contest new", parsed.ID)
	})
}

// Act makes an act on a round's clock.
func (c *Core) Act(ctx context.Context, who, round string, act contest.Act) error {
	act.At, act.Who = c.Now(), who
	err := c.store.Write(ctx, "act", func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		body, err := makeAct(tx, r, act)
		if err != nil {
			return err
		}
		if err := changed(tx, r, r.State); err != nil {
			return err
		}
		if err := c.audit(tx, who, "clock "+string(act.Kind), string(body)); err != nil {
			return err
		}
		return c.event(tx, Event{Round: round, Kind: KindClock, Team: act.Team, Body: body})
	})
	c.Wake()
	return err
}

// makeAct makes an act on a round's clock and keeps it. It returns its text.
func makeAct(tx *store.Tx, r *Round, act contest.Act) ([]byte, error) {
	clock, err := clockOf(tx, r) // one of its own: a kept one is not changed
	if err != nil {
		return nil, err
	}
	if err := clock.Apply(act); err != nil {
		return nil, refused("clock", "%s", err)
	}
	body, err := json.Marshal(act)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec("INSERT INTO acts (round, number, body) SELECT ?, COALESCE(MAX(number), 0) + 1, ? FROM acts WHERE round = ?", r.ID, string(body), r.ID)
	return body, err
}

// Begin begins a team's window.
func (c *Core) Begin(ctx context.Context, round, team string) error {
	return c.store.Write(ctx, "window", func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		clock, err := clockOf(tx, r)
		if err != nil {
			return err
		}
		if err := clock.Begin(team, c.Now()); err != nil {
			return refused("clock", "%s", err)
		}
		if _, err := tx.Exec("INSERT INTO windows (round, team, began) VALUES (?, ?, ?)", round, team, c.Now()); err != nil {
			return err
		}
		if err := changed(tx, r, r.State); err != nil {
			return err
		}
		return c.event(tx, Event{Round: round, Kind: KindClock, Team: team})
	})
}

// changed writes a round's state, if its version is that which was read.
func changed(tx *store.Tx, r *Round, to contest.State) error {
	n, err := tx.Exec("UPDATE rounds SET state = ?, version = version + 1 WHERE id = ? AND version = ?", string(to), r.ID, r.Version)
	if err == nil && n == 0 {
		err = refused("conflict", "the round was changed at the same time: try again")
	}
	return err
}

// Move changes a round's state by staff.
func (c *Core) Move(ctx context.Context, who, round string, to contest.State) error {
	err := c.store.Write(ctx, "move", func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		f := contest.Facts{Now: c.Now()}
		if f.Verdicts, err = decided(tx, r); err != nil {
			return err
		}
		if err := tx.Row("SELECT COUNT(*) FROM open_jobs WHERE round = ?", []any{round}, &f.OpenJobs); err != nil {
			return err
		}
		if err := contest.Move(r.Round, r.Clock, r.State, to, f); err != nil {
			return refused("state", "%s", err)
		}
		return c.move(tx, who, r, to)
	})
	c.Wake()
	return err
}

// decided reports whether each team of the final judging has a verdict.
func decided(tx *store.Tx, r *Round) (bool, error) {
	if r.Round.Final.Runs == 0 {
		return true, nil
	}
	planned, kept := 0, 0
	if err := tx.Row("SELECT COUNT(*) FROM final_teams WHERE round = ?", []any{r.ID}, &planned); err != nil {
		return false, err
	}
	err := tx.Row("SELECT COUNT(*) FROM verdicts WHERE round = ?", []any{r.ID}, &kept)
	return planned > 0 && kept == planned, err
}

// move writes a transition with its event.
func (c *Core) move(tx *store.Tx, who string, r *Round, to contest.State) error {
	if err := changed(tx, r, to); err != nil {
		return err
	}
	if err := c.audit(tx, who, "state", r.ID+": "+string(r.State)+" → "+string(to)); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"from": string(r.State), "to": string(to)})
	if err != nil {
		return err
	}
	return c.event(tx, Event{Round: r.ID, Kind: KindClock, Body: body})
}
