package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/ladder"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

type ladderCmd struct {
	Target string `arg:"" help:"Arena whose ladder is climbed, such as isucondition."`

	From   int           `help:"First rung to judge; those before it are applied without a trial." default:"1" placeholder:"N"`
	To     int           `help:"Last rung (default: the last of the ladder)." placeholder:"M"`
	Alone  bool          `help:"Judge each rung by itself on the untouched site, and undo it: nothing stays."`
	Repeat int           `help:"Make this many runs with each rung in force in place of judging it: how many pass, and what they score. Nothing stays." placeholder:"N"`
	List   bool          `help:"Print the rungs and end; start nothing."`
	Time   time.Duration `help:"Time limit for all of it, including the last comparison; 0 for no limit." default:"15m"`
	Load   time.Duration `help:"Length of the load of a rung's runs." default:"8s"`
	Full   time.Duration `help:"Length of the load in the last comparison, if the time allows it." default:"20s"`
	Pairs  int           `help:"Pairs of runs in the last comparison." default:"3"`
	Noisy  bool          `help:"Use every run, however much it was disturbed."`

	Seed  uint64   `help:"Seed of the offered work and of the order of runs." default:"1"`
	Clock float64  `help:"Speed of virtual time (default: that of the target)." placeholder:"X"`
	Pin   string   `help:"CPUs: auto, split, shared (off), or GENERATOR/STACK as in 0/1." default:"auto"`
	Env   []string `help:"Additional environment variable of the app." placeholder:"K=V" sep:"none"`
	Set   []string `help:"Setting of the arena for all runs; see iikanji bench --help." placeholder:"NAME=VALUE" sep:"none"`
	placeFlags
	hostsFlags

	JSON bool `help:"Print the rungs and the outcome as one JSON document."`
}

// Help returns the long help of the command.
func (ladderCmd) Help() string {
	return `Repeats what a contest team did, row by row: applies each rung of an arena's
ladder in its order and judges it in interleaved pairs of runs, as iikanji tune
judges a change. A rung stays unless the runs prove that it hurts, or it fails
the checks; a rung that the team took back stays only with a proven gain. What
does not stay is undone to the byte. At the end every service is killed and
started in the worst order, and the original site is compared with the final one.

The time is divided between the rungs: one whose share ends without a proof
stays, and the table says "not proven". More time proves smaller effects.

With --alone, each rung is judged on the untouched site and undone. A rung that
builds on an earlier one cannot be made then, and the table says so.

With --repeat, no rung is judged: each is put in force, and so many runs of --load show how
many pass, before the first rung and with each one. So a row that raises the load shows the
risk that it brings. All are undone at the end.

With --hosts, the rows are those of the write-up for several machines: the arena is
put onto machines of its own (Linux namespaces with systemd and sshd; needs root),
which end with the command. Rows that need more machines are left out.

Ctrl-C undoes the rung on trial and leaves the others in force; the same command
then goes on. After kill -9, iikanji recover comes first. All rungs are ordinary
changes: iikanji history shows each, iikanji revert --all undoes them.

Examples:
  iikanji ladder isucondition --list
  iikanji ladder isucondition
  iikanji ladder isucondition --from 1 --to 2 --time 5m
  iikanji ladder isucondition --alone
  iikanji ladder isucondition --from 2 --to 2 --repeat 5 --load 60s --time 1h
  iikanji ladder isucondition --time 1h --load 20s --full 60s
  iikanji ladder isucondition --hosts 3

Exit status: 0 done, 1 failed to run (also: interrupted), 2 usage, 3 the site
fails its checks.`
}

// Run runs the command.
func (c *ladderCmd) Run(ctx context.Context, e *env) error {
	if err := c.checkRepeat(); err != nil {
		return err
	}
	rungs, err := c.rungs()
	if err != nil {
		return err
	}
	if c.List {
		return c.printRungs(e, rungs)
	}
	if c.Hosts != 0 {
		return c.onHosts(ctx, e, rungs)
	}
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	if c.Repeat > 0 {
		return c.repeat(ctx, e, a, rungs)
	}
	return c.climb(ctx, e, a, rungs)
}

// onHosts climbs the rows for several machines on machines of the arena's own.
func (c *ladderCmd) onHosts(ctx context.Context, e *env, rungs []ladder.Rung) error {
	if c.Clock != 0 || len(c.Env) > 0 || len(c.Set) > 0 || c.History != "" {
		return usageError("--hosts excludes --clock, --env, --set and --history")
	}
	if _, err := c.asTune().options(cmp.Or(e.LeastLoad, defaultLeastLoad)); err != nil {
		return err // before machines are made
	}
	return c.onPark(ctx, e, c.Target, c.Dir, func(dir string) error {
		one := *c
		one.Target, one.Dir, one.hostsFlags, one.Pin = dir, filepath.Join(dir, "work"), c.made("ladder", c.Target), "auto"
		a, err := findTarget(dir)
		if err != nil {
			return err
		}
		return one.climb(ctx, e, a, rungs)
	})
}

// climb climbs rungs on a target, and prints what came of them.
func (c *ladderCmd) climb(ctx context.Context, e *env, a *namedTarget, rungs []ladder.Rung) error {
	as := c.asTune()
	climbed := &climb{Rungs: []climbedRung{}}
	err := as.live(ctx, e, a, func(ctx context.Context, r *benchRun, w *liveTarget, h *history.History, o search.Options) (err error) {
		t, live := as.tuner("ladder", r, w, h, o)
		defer func() { live.end(r.e, err) }()
		defer tidy(r.e, h)
		t.Options.Command = c.command(r)
		live.say(fmt.Sprintf("climbing %d rungs of %s; the history is %s", len(rungs), a.Name, r.history))
		climbed.Outcome, err = t.Climb(ctx, c.steps(rungs), func(i int, done tune.Climbed) {
			climbed.Rungs = append(climbed.Rungs, climbedRung{rungs[i], done})
		})
		return err
	})
	if climbed.Outcome == nil {
		return err
	}
	return errors.Join(c.print(e, a, climbed), c.ended(ctx, err, a))
}

// rungs reads the rungs of the arena up to --to.
func (c *ladderCmd) rungs() ([]ladder.Rung, error) {
	a, err := findArena(c.Target)
	if err != nil {
		return nil, err
	}
	rungs, err := c.read(a)
	if err != nil {
		return nil, err
	}
	to := c.To
	if to == 0 {
		to = len(rungs)
	}
	if c.From < 1 || to < c.From || to > len(rungs) {
		return nil, usageError("--from %d and --to %d: the ladder has the rungs 1 to %d", c.From, to, len(rungs))
	}
	if c.Alone { // no rung stands on those before it
		return rungs[c.From-1 : to], nil
	}
	return rungs[:to], nil
}

// read reads the ladder of an arena: with --hosts that for machines, as far as they suffice.
func (c *ladderCmd) read(a *arena.Arena) ([]ladder.Rung, error) {
	rows := a.Ladder
	if c.Hosts != 0 {
		rows = a.HostsLadder
	}
	switch {
	case c.Hosts < 0 || c.Hosts > mostHosts:
		return nil, usageError("--hosts %d: want 1 to %d", c.Hosts, mostHosts)
	case rows == nil && c.Hosts != 0:
		return nil, usageError("%s has no ladder for several machines", a.Name)
	case rows == nil:
		return nil, usageError("%s has no ladder", a.Name)
	}
	rungs, err := ladder.Read(rows)
	if err != nil || c.Hosts == 0 {
		return rungs, err
	}
	i := slices.IndexFunc(rungs, func(r ladder.Rung) bool { return r.Hosts > c.Hosts })
	if i == 0 {
		return nil, usageError("--hosts %d: the first row needs %d machines", c.Hosts, rungs[0].Hosts)
	}
	if i > 0 {
		rungs = rungs[:i]
	}
	return rungs, nil
}

// steps are rungs as the tuner climbs them. Rungs before --from are applied without a
// trial; those of them that the write-up took back are left out by the tuner.
func (c *ladderCmd) steps(rungs []ladder.Rung) []tune.Rung {
	all := make([]tune.Rung, 0, len(rungs))
	for _, r := range rungs {
		s := tune.Rung{Name: r.File, Says: fmt.Sprintf("rung %d: %s", r.Number, r.Row), Hurts: r.Hurts, Alone: c.Alone, Given: !c.Alone && r.Number < c.From}
		for _, remedy := range r.Remedies {
			s.Parts = append(s.Parts, search.Candidate{Remedy: remedy, Claim: r.Row, Where: r.File})
		}
		all = append(all, s)
	}
	return all
}

// asTune has the flags that tune shares.
func (c *ladderCmd) asTune() *tuneCmd {
	return &tuneCmd{Target: c.Target, Time: c.Time, Short: c.Load, Full: max(c.Full, c.Load), Watch: c.Load, Pairs: c.Pairs, Noisy: c.Noisy,
		Seed: c.Seed, Clock: c.Clock, Pin: c.Pin, Env: c.Env, Set: c.Set, placeFlags: c.placeFlags, as: "ladder"}
}

// command is the command line that repeats the climb, without secrets.
func (c *ladderCmd) command(r *benchRun) string {
	text := fmt.Sprintf("iikanji ladder %s --from %d --time %s --load %s --full %s --pairs %d --seed %s --pin %s",
		c.Target, c.From, c.Time, c.Load, c.Full, c.Pairs, strconv.FormatUint(r.Seed, 10), c.Pin)
	if c.To != 0 {
		text += fmt.Sprintf(" --to %d", c.To)
	}
	if c.Clock != 0 {
		text += " --clock " + strconv.FormatFloat(c.Clock, 'g', -1, 64)
	}
	if c.Alone {
		text += " --alone"
	}
	if c.Noisy {
		text += " --noisy"
	}
	for _, set := range c.Set {
		text += " --set " + set
	}
	for _, env := range c.Env { // the values may be secret
		name, _, _ := strings.Cut(env, "=")
		text += " --env " + name + "=…"
	}
	return text
}

// ended returns the error with the exit status of a climb that ended with err.
func (c *ladderCmd) ended(ctx context.Context, err error, a *namedTarget) error {
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, tune.ErrChecks):
		return &exitError{Status: exitChecks, Err: err}
	case err != nil && ctx.Err() != nil && c.again != "":
		return hinted(errors.New("interrupted"), c.gone(a.Name+c.flags()))
	case err != nil && ctx.Err() != nil:
		return hinted(errors.New("interrupted: the rungs that stay are in force, the rung on trial is undone"),
			fmt.Sprintf("the same command goes on; iikanji revert %s%s --all undoes them", a.Name, c.flags()))
	}
	return err
}

// A climb is the result of the command.
type climb struct {
	Rungs   []climbedRung `json:"rungs"`
	Outcome *tune.Outcome `json:"outcome"`
}

// A climbedRung is a row with what came of it.
type climbedRung struct {
	ladder.Rung
	Climbed tune.Climbed `json:"climbed"`
}
