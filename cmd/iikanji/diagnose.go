package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/grading"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/show/progress"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/observe"
	"github.com/iikanji/iikanji/internal/site/target"
)

type diagnoseCmd struct {
	Target string `arg:"" optional:"" help:"Target to observe, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`

	Watch   time.Duration `help:"Watch the site's own traffic for this time: send no load, restart nothing, change nothing (sites with an iikanji.toml)." placeholder:"TIME"`
	Sensors bool          `help:"With --watch: turn missing logs on for that time; it is journalled and undone."`
	From    string        `help:"Diagnose a folder of iikanji collect; no target is needed." type:"path" placeholder:"FOLDER"`

	NoRestart bool `help:"Do not restart the apps of a site: statements of the connections that they have open are then not seen."`

	Profile bool `help:"Profile the CPU of Go apps: for the run, a file with a profiler is added to the source; it is journalled and undone."`

	Load    time.Duration `help:"Length of the load phase." default:"20s"`
	Of      int           `name:"run" help:"Diagnose this saved run again; start nothing." placeholder:"N"`
	Seed    uint64        `help:"Seed of the offered work." default:"1"`
	Clock   float64       `help:"Speed of virtual time (default: that of the target)." placeholder:"X"`
	Pin     string        `help:"CPUs: auto, split, shared (off), or GENERATOR/STACK as in 0/1." default:"auto"`
	Dir     string        `help:"Work folder of the stack (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
	History string        `help:"Folder for runs (default: history in the work folder)." type:"path" placeholder:"FOLDER"`
	Env     []string      `help:"Additional environment variable of the app." placeholder:"K=V" sep:"none"`

	appFlag
	clockFlag

	Explain  string        `help:"Show evidence, plans and remedies of the findings with this code." placeholder:"CODE"`
	Score    bool          `help:"Compare the findings with the known causes of the target."`
	All      bool          `help:"Show all findings and notes; by default as many as 20 lines hold, with --watch the first ten findings."`
	Literals bool          `help:"Show literals of statements, and what may be a secret; by default they are redacted."`
	Format   report.Format `help:"table, tsv, csv, markdown or json." enum:"table,tsv,csv,markdown,json" default:"table"`
	JSON     bool          `help:"The same as --format json."`
}

// Help returns the long help of the command.
func (diagnoseCmd) Help() string {
	return `Brings the target up, loads it once with the slow log on for every statement,
and prints what is slow, why, its cost in seconds, and what to do, best first.
Do not compare the score of such a run with others: observing costs time.

A site is left as it was, but for this: its log settings are changed for the run,
its apps are restarted before the run (only connections that are opened later log
every statement), and again after it where the site has a slow log of its own
(these connections would fill it), and pages are requested after it. The command
says so when it does it; --no-restart leaves the apps alone.

With --watch no load is sent: the findings are about the traffic that the site
has, in seconds per hour of it, each with the statement, setting or diff to take
away. Statements are read from the slow log if it has all of them, from
performance_schema if it is on, and else estimated from the list of running
statements. A sensor is used only if the service's own counters confirm it.

A sensor without proof that it saw the run is listed, and findings that depend
on it are left out.

Examples:
  iikanji diagnose isucondition
  iikanji diagnose isucondition --run 7 --explain DB101
  iikanji diagnose isucondition --score
  iikanji diagnose isucondition --format markdown > findings.md
  iikanji diagnose /srv/shop --watch 10m
  iikanji diagnose /srv/shop --watch 1h --sensors
  iikanji diagnose --from before

Exit status: 0 done, 1 failed to run (also: interrupted), 2 usage.`
}

// Run runs the command.
func (c *diagnoseCmd) Run(ctx context.Context, e *env) error {
	if c.JSON {
		c.Format = report.JSON
	}
	c.Explain = strings.ToUpper(c.Explain)
	if c.From != "" {
		return c.from(ctx, e)
	}
	a, err := findTargetOrHere(c.Target)
	if err != nil {
		return err
	}
	if err := c.checkWatch(a); err != nil {
		return err
	}
	if c.Load < time.Second {
		return usageError("--load %v: want 1s or more", c.Load)
	}
	if c.Score && a.arena == nil {
		return usageError("--score is for arenas: the causes of a site are not known")
	}
	if c.Explain = strings.ToUpper(c.Explain); c.Explain != "" && (c.Score || c.Format != report.Text && c.Format != report.Markdown) {
		return usageError("--explain goes with --format table or markdown, and not with --score")
	}
	if c.Score && (c.Format == report.TSV || c.Format == report.CSV) {
		return usageError("--score goes with --format table, markdown or json: %s is one table", c.Format)
	}
	if c.Watch > 0 {
		return c.watch(ctx, e, a)
	}
	b := &benchCmd{Target: c.Target, Load: c.Load, Seed: c.Seed, Clock: c.Clock, Pin: c.Pin, Dir: c.Dir, History: c.History, Env: c.Env}
	r, err := b.prepare(e, a)
	if err != nil {
		return err
	}
	defer r.progress.Done()
	var d *diagnose.Diagnosis
	var forbidden []plannedRemedy
	if c.Of != 0 {
		d, err = recall(r.history, iikanji.RunID(c.Of))
	} else {
		d, forbidden, err = c.observe(ctx, r)
	}
	if err != nil {
		return err
	}
	r.progress.Done()
	if !c.Literals {
		redact.Document(d)
	}
	return c.print(e, a, d, r.history, promiseLine(a, forbidden))
}

// recall diagnoses a saved run again.
func recall(dir string, id iikanji.RunID) (*diagnose.Diagnosis, error) {
	h, err := history.View(dir)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	ob, known, err := observe.Recall(h, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hinted(fmt.Errorf("run %d does not exist, or was not observed", id), "iikanji diagnose without --run makes an observed run")
	}
	if err != nil {
		return nil, err
	}
	return diagnose.New(ob, known)
}

// observe brings the target up, makes one observed run and takes the target
// down again, with its databases' settings as before. With the findings come the remedies
// that the policy forbids.
func (c *diagnoseCmd) observe(ctx context.Context, r *benchRun) (d *diagnose.Diagnosis, forbidden []plannedRemedy, err error) {
	h, err := r.openHistory(ctx, acting{what: "diagnose", changes: true, clockFlag: c.clockFlag})
	if err != nil {
		return nil, nil, err
	}
	defer h.Close()
	defer tidy(r.e, h)
	r.file = progress.NewWriter(r.history, "diagnose", r.target.Name, r.e.Now)
	defer func() { endProgress(r.e, r.file, err) }()
	began := r.e.Now()
	err = useTarget(ctx, r.target, r.stackOptions(), false, func(ctx context.Context, s field.Subject) (err error) {
		f := r.field(h, s, r.loaderOf(s, h))
		f.Profile, f.NoRestart = c.Profile, c.NoRestart
		w := r.beginWork(ctx, f)
		d, _, err = f.Diagnose(ctx, field.Load{Time: r.Load}, func() error {
			r.ready(began, s)
			f.Boot = r.boot
			return nil
		})
		if err == nil {
			w.observed(r, d.Run.ID)
			forbidden = forbiddenOf(ctx, d, s.Site())
			if r.target.file != nil {
				r.warnOfDisks(ctx)
			}
		}
		return err
	})
	var none *field.NoLoadError
	if errors.As(err, &none) {
		if file := r.target.file; file != nil && file.Bench.Command != "" {
			err = hinted(err, "run the benchmarker by hand in "+cmp.Or(file.Bench.Dir, filepath.Dir(file.Path))+": "+file.Bench.Command+" (IIKANJI_URL is "+file.URL+")")
		} else {
			err = hinted(err, "iikanji bench "+r.target.Name+" --no-load shows which checks failed")
		}
	}
	return d, forbidden, err
}

// briefLines is how many lines the text has, unless all is asked for: it is seen at once on a
// terminal of 24 lines.
const briefLines = 20

// print writes the diagnosis. promises is a line on what the policy forbids, "" for none.
func (c *diagnoseCmd) print(e *env, a *namedTarget, d *diagnose.Diagnosis, dir, promises string) error {
	score := grading.ScoreOf(d.Findings, grading.ReadAnswers(a.answers()))
	if c.Format == report.JSON {
		doc := struct {
			*diagnose.Diagnosis
			Score  *grading.Score `json:"score,omitempty"`
			Limits []target.Limit `json:"limits,omitempty"`
		}{Diagnosis: d, Limits: a.limits()}
		if c.Score {
			doc.Score = &score
		}
		return writeJSON(e.Stdout, doc)
	}
	page := findingsPage(d)
	page.Notes = append(limitNotes(a.limits()), page.Notes...)
	after := c.after(e, a, d, dir, promises)
	if page.Most = c.most(); page.Most > 0 && c.Explain == "" {
		page.Notes = slices.DeleteFunc(page.Notes, func(n string) bool { return strings.HasPrefix(n, greenNote) })
		slices.SortStableFunc(page.Notes, func(x, y string) int { return noteRank(x) - noteRank(y) })
		page.Room = briefLines - len(after)
	}
	if c.Explain != "" {
		some, err := page.Explain(e.Stdout, iikanji.Code(c.Explain), c.Format, e.Cols)
		if err == nil && !some {
			return hinted(fmt.Errorf("run %d has no finding %s", d.Run.ID, c.Explain), fmt.Sprintf("iikanji diagnose %s --run %d lists its findings", a.Name, d.Run.ID))
		}
		return err
	}
	if err := page.Write(e.Stdout, c.Format, e.Cols); err != nil {
		return err
	}
	if c.Score {
		if err := writeScore(e, c.Format, score); err != nil {
			return err
		}
	}
	if c.Format != report.Text {
		return nil
	}
	out := &output{w: e.Stdout}
	for _, line := range after {
		out.line("%s", line)
	}
	return out.err
}

// after are the lines below the findings: where the run is kept, how to see evidence, and
// what the policy forbids.
func (c *diagnoseCmd) after(e *env, a *namedTarget, d *diagnose.Diagnosis, dir, promises string) (lines []string) {
	if c.most() == 0 {
		lines = []string{"", "kept in " + filepath.Join(dir, "runs", fmt.Sprintf("%04d", d.Run.ID))}
	}
	if len(d.Findings) > 0 {
		lines = append(lines, fmt.Sprintf("evidence and plans: iikanji diagnose %s --run %d --explain %s", a.Name, d.Run.ID, firstCause(d.Findings).Code))
	}
	if promises != "" {
		lines = append(lines, report.Wrap("", "", promises, wideOf(e))...)
	}
	return lines
}

// firstCause is the finding that is numbered 1. Where all are doubts about the measurement,
// it is the first of them.
func firstCause(findings []iikanji.Finding) iikanji.Finding {
	return findings[max(0, slices.IndexFunc(findings, func(f iikanji.Finding) bool { return !f.Doubt }))]
}

// fewFindings is how many findings have a place on a usual terminal, with two lines each.
const fewFindings = 10

// most is how many findings are shown; 0 for all.
func (c *diagnoseCmd) most() int {
	if c.All || c.Score {
		return 0
	}
	return fewFindings
}

// greenNote begins the note on sensors that saw the run, which a brief text leaves out, and
// redNote is in that on one which did not.
const (
	greenNote = "sensors green: "
	redNote   = " RED, not used: "
)

// noteRank is the place of a note in a brief text: what is not supported, then what was not
// seen.
func noteRank(note string) int {
	switch {
	case strings.HasPrefix(note, notSupported):
		return 0
	case strings.Contains(note, redNote):
		return 1
	}
	return 2
}

// findingsPage builds the page of findings. The notes above its table explain the
// numbers and list the sensors that did not see the run.
func findingsPage(d *diagnose.Diagnosis) *report.Findings {
	run := d.Run
	outcome := run.Outcome.String()
	if run.Outcome == iikanji.Passed && run.Score > 0 {
		outcome += fmt.Sprintf(", score %s while observed", report.Count(int64(run.Score)))
	}
	p := &report.Findings{Title: fmt.Sprintf("%s  run %d, %s of load: %s", run.Scenario, run.ID, report.Duration(run.Took), outcome),
		Findings: d.Findings, Of: d.Of, QueryPlans: d.QueryPlansByDigest()}
	binding, of := "no resource was used up", ""
	if d.Binding != "" {
		binding, of = "the limit was "+d.Binding, " of it"
	}
	p.Notes = append(p.Notes, fmt.Sprintf("%s; seconds are what a cure could save%s; share: of the %.1f s that statements took%s (DB, and levers of statements), of the %.1f s of all cores (others)",
		binding, of, d.Statements, of, d.CPU))
	var green []string
	for _, s := range d.Sensors {
		if s.Green {
			green = append(green, fmt.Sprintf("%s (%s)", s.Name, s.Proofs[min(1, len(s.Proofs)-1)].Says))
		}
	}
	if len(green) > 0 {
		p.Notes = append(p.Notes, greenNote+strings.Join(green, ", "))
	}
	for _, u := range d.Unexplained {
		p.Unexplained = append(p.Unexplained, u.Text)
	}
	for _, s := range d.Sensors {
		if !s.Green {
			p.Notes = append(p.Notes, s.Name+redNote+s.Why())
		}
	}
	if run.Outcome != iikanji.Passed {
		p.Notes = append(p.Notes, run.Reasons...)
	}
	for _, w := range run.Warnings {
		red := func(s observe.Sensor) bool { return !s.Green && strings.HasPrefix(w, s.Name+": ") } // already in the notes
		if !slices.ContainsFunc(d.Sensors, red) {
			p.Notes = append(p.Notes, "doubt: "+w)
		}
	}
	return p
}

// writeScore lists the known causes with the rank of their findings.
func writeScore(e *env, f report.Format, s grading.Score) error {
	if _, err := fmt.Fprintf(e.Stdout, "\nof %d known causes: %d among the first 5 findings, %d among the first 10, %d in all\n%d unexpected findings (no known cause has their code and place), %d that show a found cause again and take no place\n\n",
		len(s.Answers), s.At5, s.At10, s.All, len(s.Unexpected), s.Doubled); err != nil {
		return err
	}
	if s.Proven > 0 {
		if _, err := fmt.Fprintf(e.Stdout, "of the %d with a measured effect of their own: %d among the first 10\n\n", s.Proven, s.ProvenAt10); err != nil {
			return err
		}
	}
	t := report.Table{Columns: []report.Column{{Name: "found"}, {Name: "effect"}, {Name: "code", Left: true}, {Name: "where", Left: true}, {Name: "cause", Left: true, Shrink: true}}}
	for _, a := range s.Answers {
		at, effect := "-", ""
		if a.Found > 0 {
			at = fmt.Sprintf("#%d", a.Found)
		}
		if a.Effect > 0 {
			effect = fmt.Sprintf("%+.0f %%", a.Effect)
		}
		t.Rows = append(t.Rows, []string{at, effect, string(a.Code), report.Shorten(a.Where, 32), a.Why})
	}
	for _, u := range s.Unexpected {
		t.Rows = append(t.Rows, []string{"extra", "", string(u.Code), report.Shorten(u.Where, 32), u.Claim})
	}
	return t.Write(e.Stdout, f, e.Cols)
}
