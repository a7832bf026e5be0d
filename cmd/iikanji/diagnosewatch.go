package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/loader"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/window"
)

// leastWatch is the shortest time that is watched.
const leastWatch = 5 * time.Second

// checkWatch refuses flags that exclude each other.
func (c *diagnoseCmd) checkWatch(t *namedTarget) error {
	switch {
	case c.Watch == 0 && c.Sensors:
		return usageError("--sensors goes with --watch: other observations turn the logs on anyway")
	case c.Watch == 0:
		return nil
	case t.arena != nil:
		return usageError("--watch is for sites with an iikanji.toml: an arena has no traffic of its own")
	case c.Watch < leastWatch || c.Watch > 24*time.Hour:
		return usageError("--watch %v: want 5s to 24h", c.Watch)
	case c.Of != 0:
		return usageError("--watch excludes --run")
	}
	return nil
}

// A watching is one observation of a site's own traffic.
type watching struct {
	e       *env
	target  *namedTarget
	dir     string // the work folder
	history string
	length  time.Duration
	sensors bool // turn on the logs that are missing
	late    clockFlag
	learn   func(s *livesite.Subject, h *history.History) field.Learn
}

// run observes the site. done is called with the diagnosis while the site is still
// open.
func (w *watching) run(ctx context.Context, done func(d *diagnose.Diagnosis, s *livesite.Subject) error) error {
	h, err := openHistory(ctx, w.e, w.target, w.dir, w.history, acting{what: "watch", changes: w.sensors, clockFlag: w.late})
	if err != nil {
		return hinted(err, "choose another folder with --dir or --history")
	}
	defer h.Close()
	defer tidy(w.e, h)
	progress := report.NewProgress(w.e.Stderr, w.e.TTY, w.e.width, w.e.Now)
	defer progress.Done()
	say := func(line string) { progress.Say("%s", line) }
	// A site that has its own traffic may be deployed meanwhile, and a job that was found on
	// the machine may come to its end.
	ended := func(err error) { say(err.Error() + ": what it did since then is not seen") }
	return withMachines(ctx, w.target, w.sensors, say, func() error {
		return w.use(ctx, livesite.Options{File: w.target.file, Dir: w.dir, Hosts: w.target.hosts, Progress: say, Ended: ended}, h, progress, done)
	})
}

// use observes the site.
func (w *watching) use(ctx context.Context, o livesite.Options, h *history.History, progress *report.Progress, done func(d *diagnose.Diagnosis, s *livesite.Subject) error) error {
	say := o.Progress
	return livesite.Use(ctx, o, func(ctx context.Context, s *livesite.Subject) error {
		if w.sensors {
			s.Journal(h)
		}
		say(fmt.Sprintf("watching the traffic of %s for %s", s.URL(), report.Duration(w.length)))
		f := &field.Field{Subject: s, Loader: &loader.Watch{Site: w.target.file.Site, Now: w.e.Now}, History: h, Now: w.e.Now, Machine: machine(), Say: say}
		var learn field.Learn
		if w.learn != nil {
			learn = w.learn(s, h)
		}
		d, _, err := f.Watch(ctx, field.Load{Time: w.length}, learn)
		if err != nil {
			return err
		}
		progress.Done()
		return done(d, s)
	})
}

// watch observes the site's own traffic and prints the findings with what to take
// away.
func (c *diagnoseCmd) watch(ctx context.Context, e *env, t *namedTarget) error {
	dir, hist, err := placeFlags{Dir: c.Dir, History: c.History}.folders(t)
	if err != nil {
		return err
	}
	w := &watching{e: e, target: t, dir: dir, history: hist, length: c.Watch, sensors: c.Sensors, late: c.clockFlag}
	return w.run(ctx, func(d *diagnose.Diagnosis, s *livesite.Subject) error {
		if c.Explain != "" || c.Format != report.Text && c.Format != report.Markdown && c.Format != report.JSON {
			return c.print(e, t, d, hist, "")
		}
		taken := takeAway(ctx, d, s.Site())
		if c.Format == report.JSON {
			return writeJSON(e.Stdout, struct {
				*diagnose.Diagnosis
				PerHour   float64         `json:"times_per_hour"` // gains are of the watched time
				Remedies  []plannedRemedy `json:"take_away"`
				Reference string          `json:"kept_in"`
				Limits    []target.Limit  `json:"limits,omitempty"`
			}{d, perHour(d), taken, runFolder(hist, d), t.limits()})
		}
		page := hourly(d)
		page.Most = c.most()
		page.Notes = append(limitNotes(t.limits()), page.Notes...)
		if err := page.Write(e.Stdout, c.Format, e.Cols); err != nil {
			return err
		}
		return writeTaken(e, taken, runFolder(hist, d))
	})
}

// perHour is how often the watched time fits into an hour.
func perHour(d *diagnose.Diagnosis) float64 {
	if d.Run.Took <= 0 {
		return 0
	}
	return time.Hour.Seconds() / d.Run.Took.Seconds()
}

// hourly is the page of findings with gains in seconds per hour of the traffic.
func hourly(d *diagnose.Diagnosis) *report.Findings {
	p := findingsPage(d)
	times := perHour(d)
	p.Title = fmt.Sprintf("%s  run %d, watched for %s; seconds are per hour of this traffic", d.Run.Scenario, d.Run.ID, report.Duration(d.Run.Took))
	p.Findings = slices.Clone(d.Findings)
	for i := range p.Findings {
		g := &p.Findings[i].Gain
		g.Lo, g.Hi = g.Lo*times, g.Hi*times
	}
	of := p.Of
	p.Of = func(f iikanji.Finding) float64 { return of(f) * times }
	return p
}

func runFolder(hist string, d *diagnose.Diagnosis) string {
	return filepath.Join(hist, "runs", fmt.Sprintf("%04d", d.Run.ID))
}

// takeAway is the first remedy of each finding, with what carries it out. Nothing
// is tried on the site: a plan that would need a trial is described by its
// statement.
func takeAway(ctx context.Context, d *diagnose.Diagnosis, site *change.Site) []plannedRemedy {
	number := map[iikanji.Code]int{}
	var out []plannedRemedy
	for i := range d.Findings {
		f := &d.Findings[i]
		for j, r := range f.Remedies {
			number[f.Code]++
			if j > 0 {
				continue
			}
			p := plannedRemedy{Ref: refOf(f.Code, number[f.Code]), Where: f.Where, Gain: &f.Gain, Remedy: r}
			if text, ok := window.Statement(r); ok {
				p.Diff = text
			} else if site == nil {
				p.Why = "the site is not at hand: iikanji plan shows the diff on its machine"
			} else {
				p.plan(ctx, site)
			}
			out = append(out, p)
		}
	}
	return out
}

// writeTaken prints what carries out the remedies.
func writeTaken(e *env, taken []plannedRemedy, kept string) error {
	out := &output{w: e.Stdout, color: e.Color}
	for i := range taken {
		p := &taken[i]
		out.line("")
		out.line("%s  %s", p.Ref, report.Clean(p.Remedy.Says))
		switch {
		case p.Diff != "":
			out.diff(p.Diff)
		case p.Why != "":
			out.wrapped("  by hand: "+p.Why, wideOf(e))
		}
	}
	out.line("\nnothing was changed; kept in %s", kept)
	return out.err
}

func wideOf(e *env) int { return max(e.Cols, 40) }

// errNotCollected is the error of a folder that iikanji collect did not write.
var errNotCollected = errors.New("the folder has no window that iikanji collect wrote")

// from diagnoses a folder that iikanji collect wrote.
func (c *diagnoseCmd) from(ctx context.Context, e *env) error {
	if c.Target != "" || c.Watch > 0 || c.Of != 0 || c.Score || c.Sensors {
		return usageError("--from is a folder that was collected: no target, --watch, --run or --score goes with it")
	}
	if !window.Is(c.From) {
		return hinted(fmt.Errorf("reading %s: %w", c.From, errNotCollected), "iikanji collect --into FOLDER makes one")
	}
	h, err := history.View(c.From)
	if err != nil {
		return err
	}
	defer h.Close()
	d, err := recallLatest(h, 0)
	if err != nil {
		return fmt.Errorf("reading %s: %w", c.From, err)
	}
	switch {
	case c.Format == report.JSON:
		return writeJSON(e.Stdout, struct {
			*diagnose.Diagnosis
			PerHour  float64         `json:"times_per_hour"`
			Remedies []plannedRemedy `json:"take_away"`
		}{d, perHour(d), takeAway(ctx, d, nil)})
	case c.Explain != "":
		some, err := hourly(d).Explain(e.Stdout, iikanji.Code(c.Explain), c.Format, e.Cols)
		if err == nil && !some {
			err = hinted(fmt.Errorf("the folder has no finding %s", c.Explain), "iikanji diagnose --from "+c.From+" lists its findings")
		}
		return err
	}
	page := hourly(d)
	page.Most = c.most()
	if err := page.Write(e.Stdout, c.Format, e.Cols); err != nil || c.Format != report.Text && c.Format != report.Markdown {
		return err
	}
	return writeTaken(e, takeAway(ctx, d, nil), c.From)
}
