package lead

import (
	"context"
	"fmt"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/board"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// A Reopen makes a past round a contest of practice. Ghosts is how many of its best teams become
// ghosts of it; Public says that these teams agreed that everyone sees them.
type Reopen struct {
	contest.Reopening
	Contest string // the past one
	Ghosts  int
	Public  bool
}

// Reopen keeps a contest of practice of a past round. It is refused while results of the round are
// hidden or not final.
func (c *Core) Reopen(ctx context.Context, who string, o Reopen) (*contest.Contest, error) {
	if o.Ghosts < 0 || o.Ghosts > mostGhosts {
		return nil, refused("ghosts", "a round has at most %d ghosts", mostGhosts)
	}
	past := RoundID(o.Contest, o.Round)
	file := ""
	err := c.store.Read(ctx, func(tx *store.Tx) error {
		if err := tx.Row("SELECT file FROM contests WHERE id = ?", []any{o.Contest}, &file); err != nil {
			return notFound(err)
		}
		r, err := c.round(tx, past)
		if err != nil {
			return err
		}
		if !contest.Over(r.Round, r.Clock, r.State, c.Now()) {
			return refused("not-over", "%s is %s: its results are not final, or its board is frozen", past, r.State)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	o.Start = c.Now()
	text, err := contest.Reopen([]byte(file), o.Reopening)
	if err != nil {
		return nil, err
	}
	made, err := c.AddContest(ctx, text, o.ID+".toml")
	if err != nil {
		return nil, err
	}
	return made, c.pastGhosts(ctx, who, past, o)
}

// pastGhosts makes ghosts of the best teams of a past round.
func (c *Core) pastGhosts(ctx context.Context, who, past string, o Reopen) error {
	if o.Ghosts == 0 {
		return nil
	}
	var h History
	if _, err := c.Follow(ctx, past, &h); err != nil {
		return err
	}
	left := o.Ghosts
	for _, row := range h.View(board.Reader{Role: board.Public}, c.Now()).Rows {
		if left == 0 || row.Rank == 0 || row.Runs == 0 {
			continue
		}
		g := api.NewGhost{Name: fmt.Sprintf("%d. %s", row.Rank, plain.Line(row.Name)), From: past, Team: row.Team, Public: o.Public}
		if _, err := c.AddGhost(ctx, who, RoundID(o.ID, o.Round), g); err != nil {
			return fmt.Errorf("the ghost of %s: %w", plain.Line(row.Name), err)
		}
		left--
	}
	return nil
}
