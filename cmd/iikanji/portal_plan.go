package main

import (
	"context"
	"os"
	"time"

	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/sim"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalPlanCmd struct {
	Teams   int           `help:"Number of teams." required:"" placeholder:"N"`
	Length  time.Duration `name:"run" help:"Length of a run." default:"75s" placeholder:"DURATION"`
	PerHour float64       `help:"Runs of a team in an hour." default:"6" placeholder:"N"`
	Wait    time.Duration `help:"What 95 of 100 runs may wait at most." default:"1m" placeholder:"DURATION"`
	JSON    bool          `help:"Print one JSON document."`
}

// Help returns the long help of the command.
func (portalPlanCmd) Help() string {
	return `Shows how many workers a contest needs, and how long runs wait for one: Erlang's
formula for queues (C), with a tenth more workers than are busy on average.

Examples:
  iikanji portal plan --teams 1000 --run 75s --per-hour 6

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalPlanCmd) Run(_ context.Context, e *env) error {
	if c.Teams < 1 || c.Teams > 100_000 || c.PerHour <= 0 || c.PerHour > 1000 || c.Length <= 0 || c.Length > 24*time.Hour || c.Wait < time.Second {
		return usageError("want 1 to 100000 --teams, up to 1000 --per-hour, --run up to 24h and --wait of at least 1s")
	}
	p := queue.PlanFor(c.Teams, c.PerHour, c.Length, c.Wait)
	if c.JSON {
		return writeJSON(e.Stdout, p)
	}
	out := &output{w: e.Stdout}
	out.line("%d workers: %.1f are busy on average. A run waits %s on average, 95 of 100 at most %s.",
		p.Workers, p.Busy, report.Duration(p.Mean), report.Duration(p.P95))
	return out.err
}

type portalSimCmd struct {
	Teams   int           `help:"Number of teams." default:"60" placeholder:"N"`
	Workers int           `help:"Number of workers." default:"9" placeholder:"N"`
	Hours   float64       `help:"Length of the round." default:"8" placeholder:"HOURS"`
	Length  time.Duration `name:"run" help:"Mean length of a run." default:"75s" placeholder:"DURATION"`
	Think   time.Duration `help:"Mean time between two runs of a team." default:"7m" placeholder:"DURATION"`
	Seed    uint64        `help:"Seed of what happens." default:"1"`
	Calm    bool          `help:"No worker dies, no run is void."`
	JSON    bool          `help:"Print one JSON document."`
}

// Help returns the long help of the command.
func (portalSimCmd) Help() string {
	return `Simulates a whole contest in seconds, on the portal's own code and a database in a
scratch folder: teams that think, greedy ones, programs; workers that die, fall
silent, and send results twice. Shows how long runs would wait.

Examples:
  iikanji portal sim --teams 5 --workers 1 --hours 1

Exit status: 0 done, 1 failed to run or an invariant did not hold, 2 usage.`
}

// Run runs the command.
func (c *portalSimCmd) Run(ctx context.Context, e *env) error {
	if c.Teams < 1 || c.Teams > 5000 || c.Workers < 1 || c.Workers > 1000 || c.Hours < 1 || c.Hours > 72 || c.Length < 10*time.Second || c.Think < 0 {
		return usageError("want 1 to 5000 --teams, 1 to 1000 --workers, 1 to 72 --hours and --run of at least 10s")
	}
	dir, err := os.MkdirTemp("", "iikanji-sim-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := sim.Run(ctx, sim.Options{Teams: c.Teams, Workers: c.Workers, Length: time.Duration(c.Hours * float64(time.Hour)), Run: c.Length, Think: c.Think, Seed: c.Seed, Faults: !c.Calm, Boards: 20, Dir: dir})
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, r)
	}
	out := &output{w: e.Stdout}
	out.line("%d runs of %d teams on %d workers, %.0f %% busy", r.Jobs, r.Teams, r.Workers, 100*r.Busy)
	out.line("wait: median %s, longest %s; fairness %.2f (1 is equal)", report.Duration(r.Median), report.Duration(r.Longest), r.Jain)
	out.line("%d attempts lost, %d runs void, %d results sent twice; each job has one result", r.Lost, r.Voids, r.Twice)
	return out.err
}
