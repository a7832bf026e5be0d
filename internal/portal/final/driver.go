package final

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A Portal is what a driver calls.
type Portal interface {
	Final(ctx context.Context) (*api.FinalState, error)
	Step(ctx context.Context, s api.FinalStep) error
	Run(ctx context.Context, team string, block int) (*api.Job, error)
	Hosts(ctx context.Context) ([]api.Host, error)
	Decide(ctx context.Context) (*api.FinalState, error)
}

// A Driver drives one final judging. It is used once.
type Driver struct {
	Portal Portal
	// Reboot reboots a machine. It may return before or after the machine is down.
	Reboot func(ctx context.Context, h api.Host) error
	// Persist reads what has to outlive a reboot (before is nil), and compares it afterwards
	// (before is what it read). nil for no such check.
	Persist func(ctx context.Context, team string, hosts []api.Host, before []byte) ([]byte, error)
	Poll    time.Duration // between two looks at the portal
	Log     *slog.Logger
	Now     func() time.Time
}

// Names of steps. Those of the rule are in judging.Decide; the others are notes of the driver.
const (
	handsOff    = "hands-off"
	check       = "check"
	reboot      = "reboot"
	checkAgain  = "check-again"
	persistence = "persistence"
	booted      = "booted"     // the boot ids before the first reboot
	written     = "written"    // what has to outlive the second one
	bootedLater = "booted-two" // the boot ids before it
)

// Run goes through the judging and keeps the verdicts. It may be called again after it was
// interrupted.
func (d *Driver) Run(ctx context.Context) (*api.FinalState, error) {
	f, err := d.Portal.Final(ctx)
	if err != nil {
		return nil, err
	}
	if f.State != contest.Judging {
		return nil, fmt.Errorf("the round is %s: the final judging begins when it is judging", f.State)
	}
	if len(f.Teams) == 0 {
		return nil, fmt.Errorf("the final judging has no plan")
	}
	if err := d.phase(ctx, f, "together", d.before); err != nil {
		return nil, err
	}
	if f.Final.Reboot {
		if err := d.phase(ctx, f, f.Final.Order, d.rebootOnce); err != nil {
			return nil, err
		}
	}
	if err := d.blocks(ctx); err != nil {
		return nil, err
	}
	if f.Final.Reboot {
		if err := d.phase(ctx, f, f.Final.Order, d.persist); err != nil {
			return nil, err
		}
	}
	return d.Portal.Decide(ctx)
}

// phase does the same for all teams: at the same time, or one after the other.
func (d *Driver) phase(ctx context.Context, f *api.FinalState, order string, do func(context.Context, *api.FinalState, string) error) error {
	teams := make([]string, len(f.Teams))
	for i, t := range f.Teams {
		teams[i] = t.Team
		if order == "reverse" {
			teams[len(f.Teams)-1-i] = t.Team
		}
	}
	if order == "together" {
		var all sync.WaitGroup
		errs := make([]error, len(teams))
		for i, team := range teams {
			all.Go(func() { errs[i] = do(ctx, f, team) })
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, team := range teams {
		if err := do(ctx, f, team); err != nil {
			return err
		}
	}
	return nil
}

// team is the present state of a team.
func (d *Driver) team(ctx context.Context, id string) (*api.FinalTeam, error) {
	f, err := d.Portal.Final(ctx)
	if err != nil {
		return nil, err
	}
	for i := range f.Teams {
		if f.Teams[i].Team == id {
			return &f.Teams[i], nil
		}
	}
	return nil, fmt.Errorf("team %s is not in the plan", id)
}

// stepOf is a step of a team, or nil.
func stepOf(t *api.FinalTeam, name string) *api.FinalStep {
	for i := range t.Steps {
		if t.Steps[i].Name == name {
			return &t.Steps[i]
		}
	}
	return nil
}

// lost reports whether a team has failed already: nothing more is done for it.
func lost(t *api.FinalTeam) bool { return !t.Verdict.Open && !t.Verdict.Passed }

// keep keeps a step.
func (d *Driver) keep(ctx context.Context, team, name string, passed bool, evidence string) error {
	d.Log.Info("step", "team", team, "step", name, "passed", passed, "evidence", evidence)
	return d.Portal.Step(ctx, api.FinalStep{Team: team, Name: name, Passed: passed, Evidence: evidence})
}

// wait waits a moment; it returns the error of a context that ended.
func (d *Driver) wait(ctx context.Context) error {
	timer := time.NewTimer(d.Poll)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hosts are the machines of a team.
func (d *Driver) hosts(ctx context.Context, team string) (out []api.Host, err error) {
	all, err := d.Portal.Hosts(ctx)
	for _, h := range all {
		if h.Team == team {
			out = append(out, h)
		}
	}
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("team %s has no host", team)
	}
	return out, err
}
