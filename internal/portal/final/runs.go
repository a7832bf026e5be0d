package final

import (
	"context"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
)

// blocks makes the runs: each block has all teams that are left once, in the order of the plan, and
// begins when the one before has ended. Void runs are repeated within their block.
func (d *Driver) blocks(ctx context.Context) error {
	f, err := d.Portal.Final(ctx)
	if err != nil {
		return err
	}
	for block := range f.Final.Runs {
		for {
			open, err := d.block(ctx, block)
			if err != nil {
				return err
			}
			if !open {
				break
			}
			if err := d.wait(ctx); err != nil {
				return err
			}
		}
		d.Log.Info("block", "number", block+1, "of", f.Final.Runs)
	}
	return nil
}

// block enqueues the runs of a block that are missing. open is whether one has not ended.
func (d *Driver) block(ctx context.Context, block int) (open bool, err error) {
	f, err := d.Portal.Final(ctx)
	if err != nil {
		return false, err
	}
	teams := map[string]*api.FinalTeam{}
	for i := range f.Teams {
		teams[f.Teams[i].Team] = &f.Teams[i]
	}
	for _, p := range f.Plan {
		t := teams[p.Team]
		if p.Block != block || t == nil || lost(t) {
			continue
		}
		running, valid := false, false
		for _, r := range t.Runs {
			if r.Block != block {
				continue
			}
			running = running || r.State.Open()
			valid = valid || r.State == api.Done && (r.Outcome == iikanji.Passed || r.Outcome == iikanji.Failed)
		}
		if valid {
			continue
		}
		open = true
		if running {
			continue
		}
		if _, err := d.Portal.Run(ctx, p.Team, block); err != nil {
			return false, fmt.Errorf("the run of team %s in block %d: %w", t.Name, block+1, err)
		}
	}
	return open, nil
}
