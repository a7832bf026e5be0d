package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

type workCmd struct {
	Show  workShowCmd  `cmd:"" default:"withargs" help:"Show what changed by hand since the last kept state."`
	Keep  workKeepCmd  `cmd:"" help:"Keep the state of a run: later runs are compared with it."`
	Note  workNoteCmd  `cmd:"" help:"Add a note to the latest run."`
	Back  workBackCmd  `cmd:"" help:"Bring the state of a run back, as one change."`
	Prove workProveCmd `cmd:"" help:"Compare the present state with the kept one in pairs of runs."`
	Watch workWatchCmd `cmd:"" help:"Keep runs of a portal that no command announced."`
	Allow workAllowCmd `cmd:"" help:"Let a file that looks like a secret into the ledger."`
}

// Help returns the long help of the command.
func (workCmd) Help() string {
	return `For people who change a site by hand: the state of the site is taken at the begin of
each iikanji bench. work shows what changed since the last kept state, and keep,
back and prove go on from it. Without a further word it is iikanji work show.

Examples:
  iikanji work
  iikanji work keep
  iikanji work back kept

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// workFlags find the site whose work it is.
type workFlags struct {
	Target string `help:"Folder with an iikanji.toml (default: this folder)." placeholder:"TARGET"`
	placeFlags
}

// site is the target with its folders. Arenas have no work by hand: iikanji starts and
// ends their servers.
func (f *workFlags) site() (t *namedTarget, dir, hist string, err error) {
	if t, err = findTargetOrHere(f.Target); err != nil {
		return nil, "", "", err
	}
	if t.arena != nil {
		return nil, "", "", usageError("%s is an arena, which runs only during commands; work is for sites with an iikanji.toml", t.Name)
	}
	dir, hist, err = f.folders(t)
	return t, dir, hist, err
}

// dayOf is the work on a site; s is nil for what needs no running site.
func dayOf(ctx context.Context, e *env, t *namedTarget, dir string, h *history.History, w *liveTarget) (*work.Day, error) {
	st, err := store.Open(work.Folder(dir, h.Dir()))
	if err != nil {
		return nil, err
	}
	d := &work.Day{Store: st, History: h, Now: e.Now, Who: e.who(ctx, t)}
	if log, err := e.turnOf(h.Dir()).Log(); err == nil { // without it, a run tells who edited before it
		d.Turn = func(at time.Time) string { return turn.Had(log, at) }
	}
	if w != nil {
		d.Site = w.Site()
		d.Site.Target = w.Target() // with the present processes
	}
	return d, nil
}

type workShowCmd struct {
	Since int  `help:"Compare with the state of this run (default: the last kept state)." placeholder:"RUN"`
	All   bool `help:"Show all names of each edit, and the files that the ledger does not take."`
	JSON  bool `help:"Print one JSON document."`
	workFlags
}

// Help returns the long help of the command.
func (workShowCmd) Help() string {
	return `Shows what changed on the site since the last kept state, by meaning: directives of
nginx, variables and indexes of databases, functions, units, kernel values, names of
environment variables, packages, crontabs, programs. The state is taken at the begin
of each iikanji bench. An edit has a warning if it has no effect, or will lose it:

  NOT BUILT             the running program is older than its source
  NOT LOADED            the service has not read the file since
  ONLY AT RUN TIME      a restart or a reboot loses it
  INITIALIZE UNDOES IT  the benchmarker's initialize makes the table without it

Changes of iikanji apply and tune are shown with their numbers. It changes nothing.

Examples:
  iikanji work
  iikanji work --since 3
  iikanji work --json

Exit status: 0 done, 1 failed to run (also: no run has a state yet), 2 usage.`
}

// A workReport is what the command prints.
type workReport struct {
	Site  string            `json:"site"`
	Runs  int               `json:"runs"`
	Base  iikanji.RunID     `json:"base"`
	Kept  bool              `json:"kept"`
	Score float64           `json:"score,omitempty"` // geometric mean of the passed runs of the base
	Of    int               `json:"base_runs"`
	Pass  int               `json:"base_passed"`
	Edits []difference.Edit `json:"edits"`
	// Unread are what could not be read, by host and path.
	Unread map[string]string `json:"unread,omitempty"`
	now    *state.State
}

// Run runs the command.
func (c *workShowCmd) Run(ctx context.Context, e *env) error {
	t, dir, hist, err := c.site()
	if err != nil {
		return err
	}
	h, err := history.View(hist)
	if err != nil {
		return noStates(err)
	}
	defer h.Close()
	var r *workReport
	err = withWhatRuns(ctx, e, t, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
		d, err := dayOf(ctx, e, t, dir, h, w)
		if err != nil {
			return err
		}
		r, err = c.report(ctx, t, d)
		return err
	})
	if err != nil {
		return noStates(err)
	}
	redact.Document(r)
	if c.JSON {
		return writeJSON(e.Stdout, r)
	}
	out := &output{w: e.Stdout, color: e.Color}
	r.write(out, e, c.All)
	for _, line := range turnLinesShort(e, hist) {
		out.line("%s", report.Clean(line))
	}
	return out.err
}

// noStates adds what to do to the error of a history without states.
func noStates(err error) error {
	if errors.Is(err, work.ErrNoState) {
		return hinted(err, "iikanji bench . keeps the state of the site at the begin of each run")
	}
	return err
}

// turnLinesShort say whose turn it is, if anybody's.
func turnLinesShort(e *env, hist string) []string {
	s, err := e.turnOf(hist).State()
	if err != nil || s.Lease == nil && s.Work == nil {
		return nil
	}
	return turnLines(s, e.Now())
}

// report compares the present state with the kept one.
func (c *workShowCmd) report(ctx context.Context, t *namedTarget, d *work.Day) (*workReport, error) {
	base, err := baseOf(d, c.Since)
	if err != nil {
		return nil, err
	}
	now, err := d.Look(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := d.Runs()
	if err != nil {
		return nil, err
	}
	r := &workReport{Site: t.file.Site, Runs: len(runs), Base: base.Run, Kept: base.Kept, Of: len(base.Runs), Unread: map[string]string{}, now: now}
	var passed []*iikanji.Run
	for _, run := range base.Runs {
		if run.Clean() {
			passed = append(passed, run)
		}
	}
	r.Pass, r.Score = len(passed), judge.MeanScore(passed)
	for _, h := range now.Hosts {
		for place, why := range h.Unread {
			r.Unread[strings.TrimPrefix(h.Name+":"+place, ":")] = why
		}
	}
	r.Edits, err = d.Edits(base.State, now)
	return r, err
}

// baseOf is the state of a run, or the kept one for run 0.
func baseOf(d *work.Day, run int) (*work.Base, error) {
	if run == 0 {
		return d.Base()
	}
	return d.StateOf(iikanji.RunID(run))
}

// write writes the report for people.
func (r *workReport) write(out *output, e *env, all bool) {
	base := fmt.Sprintf("Last kept state: run %d", r.Base)
	if !r.Kept {
		base = fmt.Sprintf("No state is kept yet; since run %d", r.Base)
	}
	if r.Pass > 0 {
		base += ", " + report.Count(int64(math.Round(r.Score)))
	}
	base += fmt.Sprintf(" (%d of %d passed).", r.Pass, r.Of)
	out.line("%s: %s. %s", report.Clean(r.Site), report.Number(r.Runs, "run"), base)
	hand := work.ByHand(r.Edits)
	switch {
	case len(r.Edits) == 0:
		out.line("Nothing changed since.")
	case len(hand) == 0:
		out.line("Nothing changed by hand since.")
	default:
		out.line("By hand since run %d: %s", r.Base, report.Number(len(hand), "edit"))
		writeEdits(out, e, hand, all)
	}
	var made []difference.Edit
	for _, x := range r.Edits {
		if !x.ByHand {
			made = append(made, x)
		}
	}
	if len(made) > 0 {
		out.line("By iikanji: %s", report.Number(len(made), "edit"))
		writeEdits(out, e, made, all)
	}
	if n := len(r.Unread); n > 0 && all {
		for _, place := range slices.Sorted(maps.Keys(r.Unread)) {
			out.line("not read: %s: %s", report.Clean(place), report.Clean(r.Unread[place]))
		}
	} else if n > 0 {
		out.line("%s could not be read (--all lists them)", report.Number(n, "place"))
	}
}

// writeEdits writes edits, each with what it is about in the same line or below.
func writeEdits(out *output, e *env, edits []difference.Edit, all bool) {
	for _, x := range edits {
		if all {
			full := x
			full.Names = []string{strings.Join(x.Names, "; ")}
			x = full
		}
		where := cmp.Or(x.Service, x.Host)
		if x.Host != "" && x.Service != "" {
			where = x.Host + " " + x.Service
		}
		first := "  "
		if where != "" {
			first += where + "  "
		}
		first += x.Place
		if x.Added+x.Removed > 0 {
			first += fmt.Sprintf("  +%d −%d", x.Added, x.Removed)
		}
		first, what := report.Clean(first), report.Clean(work.What(x))
		if len([]rune(first))+2+len([]rune(what)) <= e.Cols {
			out.line("  %s  %s", strings.TrimSpace(first), what)
			continue
		}
		out.line("  %s", strings.TrimSpace(first))
		for _, line := range report.Wrap("    ", "    ", what, max(e.Cols, 40)) {
			out.line("%s", line)
		}
	}
}

type workKeepCmd struct {
	Number int    `arg:"" optional:"" name:"run" help:"Number of the run (default: the latest)."`
	Why    string `short:"m" help:"Why, as a note." placeholder:"TEXT"`
	workFlags
}

// Help returns the long help of the command.
func (workKeepCmd) Help() string {
	return `Keeps the state of a run: iikanji work lists the edits since then, and iikanji bench
compares its score with the scores of that state. It changes nothing on the site.

Examples:
  iikanji work keep
  iikanji work keep 2 -m "all checks green"

Exit status: 0 kept, 1 failed to run (also: the run has no state), 2 usage.`
}

// Run runs the command.
func (c *workKeepCmd) Run(ctx context.Context, e *env) error {
	if c.Number < 0 {
		return usageError("run %d: want the number of a run", c.Number)
	}
	return c.withDay(ctx, e, func(d *work.Day) error {
		run, err := d.Keep(iikanji.RunID(c.Number), c.Why)
		if err != nil {
			return noStates(err)
		}
		_, err = fmt.Fprintf(e.Stdout, "run %d is the kept state\n", run)
		return err
	})
}

// withDay opens the history of the site for a note, and calls do.
func (f *workFlags) withDay(ctx context.Context, e *env, do func(d *work.Day) error) error {
	t, dir, hist, err := f.site()
	if err != nil {
		return err
	}
	h, err := openExisting(ctx, e, t, dir, hist, acting{})
	if err != nil {
		return err
	}
	defer h.Close()
	d, err := dayOf(ctx, e, t, dir, h, nil)
	if err != nil {
		return err
	}
	return do(d)
}

type workNoteCmd struct {
	Text   string `arg:"" help:"The note."`
	Number int    `name:"run" help:"Number of the run (default: the latest)." placeholder:"RUN"`
	workFlags
}

// Help returns the long help of the command.
func (workNoteCmd) Help() string {
	return `Adds a note to the latest run, with your name. Notes are in iikanji history show and
in the report; they are never removed.

Examples:
  iikanji work note "query cache off, by aoi"
  iikanji work note "the portal was slow" --run 2

Exit status: 0 added, 1 failed to run (also: there is no such run), 2 usage.`
}

// Run runs the command.
func (c *workNoteCmd) Run(ctx context.Context, e *env) error {
	text := strings.TrimSpace(c.Text)
	switch {
	case text == "":
		return usageError("the note is empty")
	case len(text) > maxNote:
		return usageError("the note has %d bytes, %d are allowed", len(text), maxNote)
	case !utf8.ValidString(text):
		return usageError("the note is not valid UTF-8")
	}
	return c.withDay(ctx, e, func(d *work.Day) error {
		run := iikanji.RunID(c.Number)
		if run == 0 {
			all, err := d.History.Runs()
			if err != nil {
				return err
			}
			if len(all) > 0 {
				run = all[len(all)-1]
			}
		} else if _, err := d.History.LoadRun(run); err != nil {
			return err
		}
		if err := d.Note(run, text); err != nil {
			return err
		}
		_, err := fmt.Fprintf(e.Stdout, "noted at run %d: %s\n", run, report.Clean(text))
		return err
	})
}

type workAllowCmd struct {
	Path string `arg:"" help:"Path of the file on its host, as it was named; on another host HOST:PATH."`
	workFlags
}

// Help returns the long help of the command.
func (workAllowCmd) Help() string {
	return `Lets a file into the ledger although a line of it looks like a secret, from the next
run on. Keys, certificates, account files and dumps are never taken, allowed or not.
The ledger may be pushed to a remote: keep that private until the contest is over.

Examples:
  iikanji work allow /home/isucon/webapp/go/main.go

Exit status: 0 allowed, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *workAllowCmd) Run(ctx context.Context, e *env) error {
	_, path, _ := strings.Cut(":"+c.Path, ":/")
	if path == "" || strings.ContainsAny(c.Path, "\n\r") {
		return usageError("%q: want the absolute path of a file", c.Path)
	}
	_, dir, hist, err := c.site()
	if err != nil {
		return err
	}
	st, err := store.Open(work.Folder(dir, hist))
	if err != nil {
		return err
	}
	if err := st.Allow(c.Path); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s is in the ledger from the next run on\n", report.Clean(c.Path))
	return err
}
