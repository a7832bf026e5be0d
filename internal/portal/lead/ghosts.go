package lead

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// mostGhosts is how many ghosts a round has.
const mostGhosts = 20

// A ghostBody is what is kept of a ghost beside its name.
type ghostBody struct {
	Public bool               `json:"public"`
	Points []board.GhostPoint `json:"points"`
}

// AddGhost adds a ghost to a round: of points, or of a team's runs of an earlier round.
func (c *Core) AddGhost(ctx context.Context, who, round string, g api.NewGhost) (id string, err error) {
	if g.From != "" {
		if g.Points, err = c.pastCourse(ctx, g.From, g.Team); err != nil {
			return "", err
		}
		if g.Source == "" {
			g.Source = g.From
		}
	}
	id = c.newID()
	return id, c.store.Write(ctx, "ghost", func(tx *store.Tx) error {
		if _, err := c.round(tx, round); err != nil {
			return err
		}
		n := 0
		if err := tx.Row("SELECT COUNT(*) FROM ghosts WHERE round = ?", []any{round}, &n); err != nil {
			return err
		}
		if n >= mostGhosts {
			return refused("ghosts", "a round has at most %d ghosts", mostGhosts)
		}
		if err := c.KeepGhost(tx, round, id, c.Now(), g); err != nil {
			return err
		}
		if err := c.audit(tx, who, "ghost", round+" "+id+" "+cleaned(g.Name, 60)+" "+cleaned(g.Source, 180)); err != nil {
			return err
		}
		return c.event(tx, Event{Round: round, Kind: KindBeside})
	})
}

// KeepGhost writes a ghost in a transaction of the caller, who writes its event. Ghosts are shown
// in the order of their creation.
func (c *Core) KeepGhost(tx *store.Tx, round, id string, created time.Time, g api.NewGhost) error {
	name := cleaned(strings.TrimSpace(g.Name), 60)
	if name == "" {
		return refused("name", "a ghost has a name")
	}
	if err := board.CheckGhost(g.Points); err != nil {
		return refused("points", "%s", err)
	}
	points := slices.Clone(g.Points)
	for i := range points {
		points[i].Label = plain.CutBytes(plain.Line(points[i].Label), 200)
	}
	body, err := json.Marshal(ghostBody{g.Public, points})
	if err != nil {
		return fmt.Errorf("writing a ghost: %w", err)
	}
	_, err = tx.Exec("INSERT INTO ghosts (id, round, name, source, body, created) VALUES (?, ?, ?, ?, ?, ?)", id, round, name, cleaned(g.Source, 180), string(body), created)
	return err
}

// RemoveGhost removes a ghost.
func (c *Core) RemoveGhost(ctx context.Context, who, round, id string) error {
	return c.store.Write(ctx, "ghost", func(tx *store.Tx) error {
		n, err := tx.Exec("DELETE FROM ghosts WHERE id = ? AND round = ?", id, round)
		if err == nil && n == 0 {
			err = api.ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := c.audit(tx, who, "ghost removed", round+" "+id); err != nil {
			return err
		}
		return c.event(tx, Event{Round: round, Kind: KindBeside})
	})
}

// pastCourse is the course of a team in a round that everyone may see whole: one whose results a
// freeze still hides is refused, as a ghost would show them.
func (c *Core) pastCourse(ctx context.Context, round, team string) ([]board.GhostPoint, error) {
	var h History
	if _, err := c.Follow(ctx, round, &h); err != nil {
		return nil, err
	}
	if h.Data.Clock.Frozen(c.Now()) {
		return nil, refused("frozen", "the board of %s is frozen: a ghost of it would show hidden results", plain.Line(round))
	}
	v := h.View(board.Reader{Role: board.Public}, c.Now())
	known := slices.ContainsFunc(v.Rows, func(r board.Row) bool { return r.Team == team })
	if !known {
		return nil, api.ErrNotFound
	}
	var out []board.GhostPoint
	for _, s := range v.Series(team) {
		for _, p := range s.Points {
			out = append(out, board.GhostPoint{Minute: p.Minute, Score: p.Score})
		}
	}
	if len(out) == 0 {
		return nil, refused("points", "the team has no run that counts in %s", plain.Line(round))
	}
	return out, nil
}

// readBeside reads the ghosts and the prizes by hand of a round into its data.
func readBeside(tx *store.Tx, round string, d *board.Data) error {
	d.Ghosts, d.Awards = nil, nil
	err := tx.Each("SELECT id, name, source, body FROM ghosts WHERE round = ? ORDER BY created, id", []any{round}, func(scan func(...any) error) error {
		g, body := board.Ghost{}, ""
		if err := scan(&g.ID, &g.Name, &g.Source, &body); err != nil {
			return err
		}
		var b ghostBody
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			return fmt.Errorf("reading a ghost: %w", err)
		}
		g.Public, g.Points = b.Public, b.Points
		d.Ghosts = append(d.Ghosts, g)
		return nil
	})
	if err != nil {
		return err
	}
	return tx.Each("SELECT prize, team, at, reason FROM awards WHERE round = ? ORDER BY at, id", []any{round}, func(scan func(...any) error) error {
		a := board.Award{}
		err := scan(&a.Prize, &a.Team, &a.At, &a.Reason)
		d.Awards = append(d.Awards, a)
		return err
	})
}

// Award gives a prize by hand to a team, or takes it back. It needs a reason, which is public.
func (c *Core) Award(ctx context.Context, who, round string, a api.Award) error {
	reason := cleaned(strings.TrimSpace(a.Reason), 780)
	if reason == "" {
		return refused("reason", "an award needs a reason: everyone sees it")
	}
	return c.store.Write(ctx, "award", func(tx *store.Tx) error {
		r, err := c.round(tx, round)
		if err != nil {
			return err
		}
		if p := r.Round.Prize(a.Prize); p == nil || p.Kind != "manual" {
			return refused("prize", "the round gives no prize %q by hand", plain.Line(a.Prize))
		}
		if a.Team != "" {
			known := 0
			if err := tx.Row("SELECT COUNT(*) FROM teams WHERE id = ? AND contest = ? AND gone = ''", []any{a.Team, r.Contest.ID}, &known); err != nil {
				return err
			}
			if known == 0 {
				return api.ErrNotFound
			}
		}
		if _, err := tx.Exec("INSERT INTO awards (id, round, prize, team, at, account, reason) VALUES (?, ?, ?, ?, ?, ?, ?)", c.newID(), round, a.Prize, a.Team, c.Now(), who, reason); err != nil {
			return err
		}
		if err := c.audit(tx, who, "award", round+" "+a.Prize+" "+a.Team+" "+reason); err != nil {
			return err
		}
		return c.event(tx, Event{Round: round, Kind: KindBeside})
	})
}

// cleanRun reports whether a report is of a run that passed without a fault.
func cleanRun(r api.Report) bool { return r.Outcome == iikanji.Passed && len(r.Faults) == 0 }
