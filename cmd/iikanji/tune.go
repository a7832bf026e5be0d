package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/progress"
	"github.com/iikanji/iikanji/internal/show/report"
)

type tuneCmd struct {
	Target string `arg:"" optional:"" help:"Target to tune, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`

	Time     time.Duration `help:"Time limit for all of it, including the last comparison; 0 for no limit." default:"15m"`
	Runs     int           `help:"Maximum number of runs of the search." placeholder:"N"`
	Until    string        `help:"Stop the search at this multiple of the first score, as in x5." placeholder:"xN"`
	Short    time.Duration `help:"Length of the load of the search's runs." default:"10s"`
	Full     time.Duration `help:"Length of the load in the last comparison, if the time allows it." default:"60s"`
	Watch    time.Duration `help:"Length of the load of observed runs." default:"10s"`
	Pairs    int           `help:"Pairs of runs in the last comparison." default:"4"`
	Proposer string        `help:"Program, with arguments, that reads findings and facts as JSON and writes changes." placeholder:"CMD"`
	Noisy    bool          `help:"Use every run, however much it was disturbed."`

	Seed  uint64   `help:"Seed of the offered work and of the order of runs." default:"1"`
	Clock float64  `help:"Speed of virtual time (default: that of the target)." placeholder:"X"`
	Pin   string   `help:"CPUs: auto, split, shared (off), or GENERATOR/STACK as in 0/1." default:"auto"`
	Env   []string `help:"Additional environment variable of the app." placeholder:"K=V" sep:"none"`
	Set   []string `help:"Setting of the arena for all runs; see iikanji bench --help." placeholder:"NAME=VALUE" sep:"none"`
	clockFlag
	placeFlags

	JSON bool `help:"Print the outcome as one JSON document."`
	hostsFlags

	timeGiven bool   `kong:"-"` // Time is not the default
	as        string `kong:"-"` // the command that searches, "" for tune
}

// Help returns the long help of the command.
func (tuneCmd) Help() string {
	return `Brings the target up and tunes it, unattended, in a loop: compares the original
site with itself to measure the noise, observes a run, tries the remedies of the
findings one at a time in interleaved pairs of runs, keeps those with a proven
gain, undoes the others to the byte, and observes again. At the end it kills
every service and starts them in the worst order, and compares the original site
with the final one in full runs: that ratio is the headline.

Ctrl-C undoes the candidate on trial and leaves the kept changes; the same
command then continues the search. iikanji history shows each change with its
evidence, iikanji revert --all restores the original bytes.

Where machines of a site differ in load, it also tries to move the database to another
one: the data are copied once, pairs of runs lead the clients there and back, and what
a model of the machines predicts is printed beside what was measured. With --hosts an
arena is put onto machines of its own (Linux namespaces with systemd and sshd; needs
root), which end with the command; its folder keeps the history.

A busy machine makes the noise larger; the search says what it can still prove,
and proves that. A run counts unless it was disturbed much more than others. If
all are, they all count.

Examples:
  iikanji tune isucondition
  iikanji tune isucondition --time 1h --until x10
  iikanji tune isucondition --proposer ./propose.py
  iikanji tune isucondition --hosts 3 --time 25m

Exit status: 0 done, 1 failed to run (also: interrupted), 2 usage, 3 the site
fails its checks.`
}

// Run runs the command.
func (c *tuneCmd) Run(ctx context.Context, e *env) error {
	if c.Hosts != 0 {
		return c.onHosts(ctx, e)
	}
	a, err := findTargetOrHere(c.Target)
	if err != nil {
		return err
	}
	var out *tune.Outcome
	err = c.live(ctx, e, a, func(ctx context.Context, r *benchRun, w *liveTarget, h *history.History, o search.Options) (err error) {
		out, err = c.tune(ctx, r, w, h, o)
		return err
	})
	if out == nil {
		return err
	}
	return errors.Join(c.print(e, a, out), c.ended(ctx, err, a))
}

// onHosts tunes the arena on machines of its own.
func (c *tuneCmd) onHosts(ctx context.Context, e *env) error {
	if c.Clock != 0 || len(c.Env) > 0 || len(c.Set) > 0 || c.History != "" {
		return usageError("--hosts excludes --clock, --env, --set and --history")
	}
	if _, err := c.options(cmp.Or(e.LeastLoad, defaultLeastLoad)); err != nil {
		return err
	}
	return c.onPark(ctx, e, c.Target, c.Dir, func(dir string) error {
		one := *c
		one.Target, one.Dir, one.hostsFlags, one.Pin = dir, filepath.Join(dir, "work"), c.made("tune", c.Target), "auto"
		return one.Run(ctx, e)
	})
}

// live checks the flags, opens the history, brings the target up and calls do.
func (c *tuneCmd) live(ctx context.Context, e *env, a *namedTarget, do func(context.Context, *benchRun, *liveTarget, *history.History, search.Options) error) error {
	c.fitSite(a)
	o, err := c.options(leastLoadOf(e, a))
	if err != nil {
		return err
	}
	b := &benchCmd{Target: c.Target, Load: c.Short, Seed: c.Seed, Clock: c.Clock, Pin: c.Pin, Dir: c.Dir, History: c.History, Env: c.Env, Set: c.Set}
	r, err := b.prepare(e, a)
	if err != nil {
		return err
	}
	h, err := r.openHistory(ctx, acting{what: cmp.Or(c.as, "tune"), changes: true, yields: true, clockFlag: c.clockFlag})
	if err != nil {
		return err
	}
	defer h.Close()
	if err := refuseHalfDone(h, a, c.placeFlags); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	r.patient = true
	r.before = func() {
		if way := r.hold.GiveWay(); way != nil {
			end(way)
		}
	}
	err = withLiveTarget(ctx, e, a, stack.Options{Dir: r.Dir, StackCPUs: r.pin.stack, Env: r.Env}, func(ctx context.Context, w *liveTarget) error {
		w.progress.Done()
		return do(ctx, r, w, h, o)
	})
	var way *turn.GaveWayError
	if err != nil && errors.As(context.Cause(ctx), &way) {
		return way
	}
	return err
}

// ended returns the error with the exit status of a search that ended with err.
func (c *tuneCmd) ended(ctx context.Context, err error, a *namedTarget) error {
	var way *turn.GaveWayError
	switch {
	case errors.As(err, &way):
		return hinted(fmt.Errorf("%w: the kept changes stay, the candidate is undone", err), "the same command continues the search")
	case err != nil && ctx.Err() == nil && errors.Is(err, tune.ErrChecks):
		return &exitError{Status: exitChecks, Err: err}
	case err != nil && ctx.Err() != nil && c.again != "":
		return hinted(errors.New("interrupted"), c.gone(c.Target+c.flags()))
	case err != nil && ctx.Err() != nil:
		return hinted(errors.New("interrupted: the kept changes stay, the candidate is undone"), "the same command continues the search")
	}
	return err
}

// leastLoadOf is the shortest load of the runs of a search of a target. A program without
// services has no load: its run may be as short as it is.
func leastLoadOf(e *env, t *namedTarget) time.Duration {
	if t.file != nil && t.file.ProgramOnly() {
		return cmp.Or(e.LeastLoad, 100*time.Millisecond)
	}
	return cmp.Or(e.LeastLoad, defaultLeastLoad)
}

// defaultLeastLoad is the shortest load of the runs of a search.
const defaultLeastLoad = 3 * time.Second

// options checks the flags. No run may have a shorter load than least.
func (c *tuneCmd) options(least time.Duration) (search.Options, error) {
	o := search.Options{Time: c.Time, Runs: c.Runs, Short: c.Short, Full: c.Full, Watch: c.Watch, Pairs: c.Pairs, Seed: c.Seed}
	if c.Until != "" {
		text := strings.TrimLeft(strings.ToLower(c.Until), "x×")
		var err error
		if o.Until, err = strconv.ParseFloat(text, 64); err != nil || !(o.Until > 1) || math.IsInf(o.Until, 0) {
			return o, usageError("--until %q: want a multiple above 1, as in x5", c.Until)
		}
	}
	switch {
	case c.Short < least || c.Full < c.Short || c.Full > time.Hour:
		return o, usageError("--short %v and --full %v: want %v or more, and --full not below --short", c.Short, c.Full, least)
	case c.Watch < least:
		return o, usageError("--watch %v: want %v or more", c.Watch, least)
	case c.Pairs < 2 || c.Pairs > 50:
		return o, usageError("--pairs %d: want 2 to 50", c.Pairs)
	case c.Runs < 0:
		return o, usageError("--runs %d: want 1 or more, or 0 for no limit", c.Runs)
	case c.Time != 0 && c.Time < o.LeastTime():
		return o, usageError("a time limit of %v: with runs of %v, the noise, one trial and the last comparison take %v at least; 0 means no limit; "+
			"${IIKANJI_SECONDS} in bench.command makes the runs of an outside benchmarker short", c.Time, c.Short, o.LeastTime())
	}
	return o, nil
}

// tune runs the tuner with its live view.
func (c *tuneCmd) tune(ctx context.Context, r *benchRun, w *liveTarget, h *history.History, o search.Options) (_ *tune.Outcome, err error) {
	propose, err := c.proposer(w)
	if err != nil {
		return nil, err
	}
	t, live := c.tuner("tune", r, w, h, o)
	defer func() { live.end(r.e, err) }()
	defer r.searchWork(ctx, w, h, live.say)()
	defer tidy(r.e, h)
	t.Propose = propose
	limit := "until no candidate is left"
	if o.Time > 0 {
		limit = "for at most " + o.Time.String()
	}
	live.say(fmt.Sprintf("tuning %s %s; the history is %s", r.target.Name, limit, r.history))
	if says := niceSays(); says != "" {
		live.say(says)
	}
	return t.Tune(ctx)
}

// tuner returns the tuner of a live target, and the view that it draws. command is
// what runs it, for the progress file.
func (c *tuneCmd) tuner(command string, r *benchRun, w *liveTarget, h *history.History, o search.Options) (*tune.Tuner, *tuneView) {
	e := r.e
	r.progress = report.NewProgress(io.Discard, false, e.width, e.Now) // the live view replaces the progress of single runs
	live := &tuneView{live: report.NewProgress(e.Stderr, e.TTY, e.width, e.Now), began: e.Now(), now: e.Now, file: progress.NewWriter(r.history, command, r.target.Name, e.Now)}
	f := r.searchField(h, w, c.Noisy)
	f.Progress = live.tick
	o.Basis, o.Command = c.basis(r), c.command(r)
	place := r.pin.placement()
	o.Place = &place
	return &tune.Tuner{Field: &tellingField{f, live.say}, Site: w.Site(), Acts: w.executor(h), History: h, Options: o, Now: e.Now, Show: live.show, Say: live.say, WhichFile: f.WhichFile}, live
}

// basis describes the conditions that runs must share to be compared: scores of
// another machine, of other CPUs or of other offered work are not comparable.
// Environment variables may be secret, so only their digest is recorded.
func (c *tuneCmd) basis(r *benchRun) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	place := r.pin.placement()
	text := fmt.Sprintf("%s on %s, %d cores, generator on %s, stack on %s, seed %d", r.target.Name, host, place.Cores, place.Generator, place.Stack, r.Seed)
	if r.Clock != 0 {
		text += fmt.Sprintf(", clock %g", r.Clock)
	}
	for _, name := range slices.Sorted(maps.Keys(r.settings)) {
		text += fmt.Sprintf(", %s %s", name, r.settings[name])
	}
	if len(r.Env) > 0 {
		text += fmt.Sprintf(", environment %.8x", sha256.Sum256([]byte(strings.Join(r.Env, "\x00"))))
	}
	return text
}

// command is the command line that repeats the search. Values of environment
// variables may be secret: only their names are recorded.
func (c *tuneCmd) command(r *benchRun) string {
	parts := []string{"iikanji tune", r.target.Name, "--time", c.Time.String(), "--short", c.Short.String(), "--full", c.Full.String(), "--watch", c.Watch.String(),
		"--pairs", strconv.Itoa(c.Pairs), "--seed", strconv.FormatUint(c.Seed, 10), "--pin", c.Pin}
	if c.Runs > 0 {
		parts = append(parts, "--runs", strconv.Itoa(c.Runs))
	}
	if c.Until != "" {
		parts = append(parts, "--until", c.Until)
	}
	if c.Clock != 0 {
		parts = append(parts, "--clock", strconv.FormatFloat(c.Clock, 'g', -1, 64))
	}
	if c.Noisy {
		parts = append(parts, "--noisy")
	}
	for _, set := range c.Set {
		parts = append(parts, "--set", set)
	}
	for _, env := range c.Env {
		name, _, _ := strings.Cut(env, "=")
		parts = append(parts, "--env", name+"=…")
	}
	if c.Proposer != "" {
		parts = append(parts, "--proposer", "…")
	}
	return strings.Join(parts, " ")
}

// A tuneView draws the state of a search.
type tuneView struct {
	live  *report.Progress
	began time.Time
	now   func() time.Time
	mu    sync.Mutex // a run reports its progress from other goroutines
	view  tune.View
	run   bench.Progress
	file  *progress.Writer // for other processes
	grown growth
}

// end removes the drawing and writes the last state of the progress file.
func (v *tuneView) end(e *env, err error) {
	v.live.Done()
	endProgress(e, v.file, err)
}

// endProgress writes how a command ended into its progress file. The result does not
// depend on that file: an error is a warning.
func endProgress(e *env, file *progress.Writer, err error) {
	result := "done"
	if err != nil {
		result = err.Error()
	}
	if err := file.End(report.Clean(result)); err != nil {
		fmt.Fprintf(e.Stderr, "warning: the live page may have missed some of this: %s\n", report.Clean(err.Error()))
	}
}

func (v *tuneView) say(line string) {
	v.live.Say("%s  %s", clock(v.now().Sub(v.began)), line)
	v.file.Say(line)
}

func clock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

func (v *tuneView) show(view tune.View) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view, v.run = view, bench.Progress{}
	v.file.Update(func(s *progress.State) {
		s.Phase, s.Doing, s.Why, s.Pairs, s.Effect, s.Score, s.First = view.Phase, view.Doing, view.Purpose, view.Pairs, view.Effect, view.Score, view.First
		s.Runs, s.Tried, s.Kept, s.Left, s.Run = view.Runs, view.Tried, view.Kept, view.Left, progress.Run{}
	})
	v.draw()
}

// tick takes the progress of the current run.
func (v *tuneView) tick(p bench.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run = p
	v.file.Update(v.grown.record(p))
	v.draw()
}

func (v *tuneView) draw() {
	w, p := &v.view, &v.run
	head := fmt.Sprintf("%s: %s", w.Phase, w.Doing)
	if w.Doing == "" {
		head = w.Phase
	}
	lines := []string{head}
	if w.Purpose != "" {
		lines = append(lines, "  why: "+w.Purpose)
	}
	proof := "  no pair yet"
	if w.Phase == "calibrate" || w.Phase == "observe" || w.Phase == "rehearsal" {
		proof = "  no pairs in this phase"
	}
	if w.Pairs > 0 && w.Effect != nil && w.Effect.Level > 0 {
		proof = fmt.Sprintf("  %d pairs: %s", w.Pairs, effectText(w.Effect.Mid, w.Effect.Lo, w.Effect.Hi))
	} else if w.Pairs > 0 {
		proof = fmt.Sprintf("  %d pairs", w.Pairs)
	}
	switch {
	case p.Unseen:
		proof += "; this run: " + unseenText(*p)
	case p.Phase == string(scenario.Load):
		proof += fmt.Sprintf("; this run: %s left, score %s", p.Left.Round(time.Second), report.Count(int64(p.Score)))
	}
	lines = append(lines, proof)
	totals := fmt.Sprintf("  run %d, %d tried, %d kept", w.Runs, w.Tried, w.Kept)
	if w.Score > 0 {
		totals += fmt.Sprintf("; score %s", report.Count(int64(math.Round(w.Score))))
		if w.First > 0 && w.Score != w.First {
			totals += fmt.Sprintf(", %.1f × the first", w.Score/w.First)
		}
	}
	if w.Left > 0 {
		totals += fmt.Sprintf("; %s left", clock(w.Left))
	}
	v.live.Draw(append(lines, totals)...)
}

// effectText formats an effect on ln(score) with its interval, in percent.
func effectText(mid, lo, hi float64) string {
	pct := func(x float64) string { return fmt.Sprintf("%+.1f", inPercent(x)) }
	return fmt.Sprintf("%s %% (%s to %s)", pct(mid), pct(lo), pct(hi))
}

// inPercent converts an effect on ln(score).
func inPercent(x float64) float64 { return 100 * math.Expm1(x) }

// print writes the outcome.
func (c *tuneCmd) print(e *env, a *namedTarget, out *tune.Outcome) error {
	if c.JSON {
		return writeJSON(e.Stdout, out)
	}
	if err := printTrials(e, out); err != nil {
		return err
	}
	if err := printHeadline(e, a, out); err != nil {
		return err
	}
	where := "iikanji %s " + a.Name + c.flags()
	next := fmt.Sprintf("%s\nundo: %s --all", c.nextText(fmt.Sprintf(where, "tune"), out), fmt.Sprintf(where, "revert"))
	if c.again != "" {
		next = fmt.Sprintf("the machines end now, with all changes; once more, on new ones: %s --time %s", c.again, c.Time)
	}
	_, err := fmt.Fprintf(e.Stdout, "\n%sevidence and diffs: %s\nall of it on one page: %s\n%s\n",
		learntText(out), fmt.Sprintf(where, "history"), fmt.Sprintf(where, "report"), next)
	return err
}

// nextText is the command that goes on where the search ended, with what it does.
func (c *tuneCmd) nextText(command string, out *tune.Outcome) string {
	p, limit := out.Proofs, c.Time
	does := "go on searching"
	if p.Unproven > 0 {
		does = fmt.Sprintf("go on, and decide on the %s that are unproven alone", report.Number(p.Unproven, "change"))
		if limit > 0 { // the last comparison takes as long again
			limit = max(limit, (2*p.Time).Round(time.Minute)+time.Minute)
		}
	}
	return fmt.Sprintf("%s: %s --time %s", does, command, limit)
}
