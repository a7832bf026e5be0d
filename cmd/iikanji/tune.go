package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/scenario"
	"github.com/iikanji/iikanji/internal/stack"
	"github.com/iikanji/iikanji/internal/tune"
)

type tuneCmd struct {
	Target string `arg:"" help:"Target to tune: the name of an arena, as in isucondition."`

	Time     time.Duration `help:"Time for everything, the last comparison included." default:"15m"`
	Runs     int           `help:"Most runs of the search." placeholder:"N"`
	Until    string        `help:"Stop searching at this multiple of the first score, as in x5." placeholder:"xN"`
	Short    time.Duration `help:"Load of the runs that search." default:"10s"`
	Full     time.Duration `help:"Load of the runs of the last comparison, where the time allows." default:"60s"`
	Watch    time.Duration `help:"Load of observed runs." default:"10s"`
	Pairs    int           `help:"Pairs of the last comparison." default:"4"`
	Proposer string        `help:"Program, with arguments, that gets findings and facts as JSON and answers with changes." placeholder:"CMD"`
	Noisy    bool          `help:"Let runs count that were disturbed from outside. The result is not to be trusted."`

	Seed  uint64   `help:"Seed of the offered work and of orders." default:"1"`
	Clock float64  `help:"Speed of virtual time (default: the arena's)." placeholder:"X"`
	Pin   string   `help:"CPUs: auto, off, or GENERATOR/STACK as in 0/1." default:"auto"`
	Env   []string `help:"Further environment of the app." placeholder:"K=V" sep:"none"`
	placeFlags

	JSON bool `help:"Print the outcome as one JSON document."`
}

// Help is the long help of the command.
func (tuneCmd) Help() string {
	return `Boots the arena and goes round the circle, unattended: runs the untouched site
against itself to know the noise, observes a run, tries the remedies of what it
finds one at a time in interleaved pairs of runs, keeps what they prove, undoes
the rest to the byte, and observes again. At the end every service is killed and
started in the worst order, and the untouched site is measured against the final
one in full runs: that ratio is the headline.

Ctrl-C undoes the candidate under trial and leaves what was kept; the same
command goes on from there. iikanji history shows each change with its proof,
iikanji revert --all gives the original bytes back.

Examples:
  iikanji tune isucondition
  iikanji tune isucondition --time 1h --until x10
  iikanji tune isucondition --proposer ./propose.py

Exit status: 0 done, 1 failed to run (also: interrupted, a machine too noisy to
prove anything), 2 usage, 3 the site fails its checks.`
}

// Run is the command.
func (c *tuneCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	b := &benchCmd{Target: c.Target, Load: c.Short, Seed: c.Seed, Clock: c.Clock, Pin: c.Pin, Dir: c.Dir, History: c.History, Env: c.Env}
	r, err := b.prepare(e, a)
	if err != nil {
		return err
	}
	h, err := history.Open(r.history)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := refuseHalfDone(h, a, c.placeFlags); err != nil {
		return err
	}
	var out *tune.Outcome
	err = withLiveTarget(ctx, e, a, stack.Options{Dir: r.Dir, StackCPUs: r.pin.stack, Env: r.Env}, func(ctx context.Context, w *liveTarget) (err error) {
		w.progress.Done()
		out, err = c.tune(ctx, r, w, h, o)
		return err
	})
	if out == nil {
		return err
	}
	return errors.Join(c.print(e, a, out), c.ended(ctx, err, a))
}

// ended makes an exit status of how the search ended.
func (c *tuneCmd) ended(ctx context.Context, err error, a *arena.Arena) error {
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, tune.ErrChecks):
		return &exitError{Status: exitChecks, Err: err}
	case err != nil && ctx.Err() != nil:
		return hinted(errors.New("interrupted: what was kept stays, the candidate is undone"), "the same command goes on from here")
	}
	return err
}

func (c *tuneCmd) options() (tune.TuneOptions, error) {
	o := tune.TuneOptions{Time: c.Time, Runs: c.Runs, Short: c.Short, Full: c.Full, Watch: c.Watch, Pairs: c.Pairs, Seed: c.Seed}
	if c.Until != "" {
		text := strings.TrimLeft(strings.ToLower(c.Until), "x×")
		var err error
		if o.Until, err = strconv.ParseFloat(text, 64); err != nil || !(o.Until > 1) || math.IsInf(o.Until, 0) {
			return o, usageError("--until %q: want a multiple above 1, as in x5", c.Until)
		}
	}
	switch {
	case c.Short < 3*time.Second || c.Full < c.Short || c.Full > time.Hour:
		return o, usageError("--short %v and --full %v: want 3s or more, and the full one not shorter", c.Short, c.Full)
	case c.Watch < 3*time.Second:
		return o, usageError("--watch %v: want 3s or more", c.Watch)
	case c.Pairs < 2 || c.Pairs > 50:
		return o, usageError("--pairs %d: want 2 to 50", c.Pairs)
	case c.Runs < 0:
		return o, usageError("--runs %d: want 1 or more, or 0 for no end", c.Runs)
	case c.Time != 0 && c.Time < o.LeastTime():
		return o, usageError("--time %v: the noise, one trial and the last comparison take %v with these runs; 0 is for no end", c.Time, o.LeastTime())
	}
	return o, nil
}

// tune wires the tuner up and runs it, with its live view.
func (c *tuneCmd) tune(ctx context.Context, r *benchRun, w *liveTarget, h *history.History, o tune.TuneOptions) (*tune.Outcome, error) {
	e := r.e
	r.progress = report.NewProgress(io.Discard, false, e.Cols, e.Now) // the view speaks, not the runs in it
	live := &tuneView{live: report.NewLive(e.Stderr, e.TTY, e.width, e.Now), began: e.Now(), now: e.Now}
	defer live.live.Done()
	f := r.searchField(h, w, c.Noisy)
	f.Progress = live.tick
	propose, err := c.proposer(w)
	if err != nil {
		return nil, err
	}
	o.Basis = c.basis(r)
	t := &tune.Tuner{Field: f, Site: w.Site(), Acts: w.executor(h), History: h, Options: o, Now: e.Now, Show: live.show, Say: live.say, Propose: propose, WhichFile: f.WhichFile}
	limit := "until nothing is left to try"
	if o.Time > 0 {
		limit = "for at most " + o.Time.String()
	}
	live.say(fmt.Sprintf("tuning %s %s; the history is %s", r.arena.Name, limit, r.history))
	return t.Tune(ctx)
}

// basis names what runs must share to be compared: scores of another machine,
// of other CPUs or of other offered work say nothing about these. Environment
// may hold secrets, so only its digest is noted.
func (c *tuneCmd) basis(r *benchRun) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	place := r.pin.placement()
	text := fmt.Sprintf("%s on %s, %d cores, generator on %s, stack on %s, seed %d", r.arena.Name, host, place.Cores, place.Generator, place.Stack, r.Seed)
	if r.Clock != 0 {
		text += fmt.Sprintf(", clock %g", r.Clock)
	}
	if len(r.Env) > 0 {
		text += fmt.Sprintf(", environment %.8x", sha256.Sum256([]byte(strings.Join(r.Env, "\x00"))))
	}
	return text
}

// A tuneView draws where a search stands.
type tuneView struct {
	live  *report.Live
	began time.Time
	now   func() time.Time
	mu    sync.Mutex // a run tells of itself from its own goroutines
	view  tune.View
	run   bench.Progress
}

func (v *tuneView) say(line string) {
	v.live.Say("%s  %s", clock(v.now().Sub(v.began)), line)
}

func clock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

func (v *tuneView) show(view tune.View) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view, v.run = view, bench.Progress{}
	v.draw()
}

// tick is told by the engine while a run goes on.
func (v *tuneView) tick(p bench.Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run = p
	v.draw()
}

func (v *tuneView) draw() {
	w, p := &v.view, &v.run
	head := fmt.Sprintf("%s: %s", w.Phase, w.Doing)
	if w.Doing == "" {
		head = w.Phase
	}
	lines := []string{head}
	if w.Why != "" {
		lines = append(lines, "  why: "+w.Why)
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
	if p.Phase == string(scenario.Load) {
		proof += fmt.Sprintf("; this run: %s left, score %s", p.Left.Round(time.Second), report.Count(int64(p.Score)))
	}
	lines = append(lines, proof)
	stand := fmt.Sprintf("  run %d, %d tried, %d kept", w.Runs, w.Tried, w.Kept)
	if w.Score > 0 {
		stand += fmt.Sprintf("; score %s", report.Count(int64(math.Round(w.Score))))
		if w.First > 0 && w.Score != w.First {
			stand += fmt.Sprintf(", %.1f × the first", w.Score/w.First)
		}
	}
	if w.Left > 0 {
		stand += fmt.Sprintf("; %s left", clock(w.Left))
	}
	v.live.Draw(append(lines, stand)...)
}

// effectText is an effect on ln(score) with its interval, in percent.
func effectText(mid, lo, hi float64) string {
	pct := func(x float64) string { return fmt.Sprintf("%+.1f", 100*math.Expm1(x)) }
	return fmt.Sprintf("%s %% (%s to %s)", pct(mid), pct(lo), pct(hi))
}

// print shows what came of it.
func (c *tuneCmd) print(e *env, a *arena.Arena, out *tune.Outcome) error {
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
	_, err := fmt.Fprintf(e.Stdout, "\nproofs and diffs: %s\nundo: %s --all\n", fmt.Sprintf(where, "history"), fmt.Sprintf(where, "revert"))
	return err
}
