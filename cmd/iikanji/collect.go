package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/observe"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/window"
)

type collectCmd struct {
	Target string `arg:"" optional:"" help:"Folder with an iikanji.toml (default: the site is found as iikanji init finds it)."`

	URL     string        `help:"Address of the site, where no iikanji.toml is given." placeholder:"URL"`
	For     time.Duration `help:"Time to watch." default:"10m" placeholder:"TIME"`
	Into    string        `help:"New folder for what is collected." type:"path" default:"window" placeholder:"FOLDER"`
	Sensors bool          `help:"Turn missing logs on for that time; it is journalled and undone."`
	clockFlag
	placeFlags
}

// Help returns the long help of the command.
func (collectCmd) Help() string {
	return `Watches a site's own traffic and writes a folder that another machine can
diagnose and compare: routes, digests of statements, schema, statistics,
variables, configuration, samples of the machine. It changes nothing on the
site; --sensors turns missing logs on and undoes that at the end.

The folder has no literals of statements, no lines of logs and no secrets that
are recognized by their names or forms. CONTENTS.txt lists its files. Read it
before you send the folder to somebody.

iikanji is one static binary: copy it to the machine, nothing else is needed.

Examples:
  iikanji collect --for 10m --into before
  iikanji collect /srv/shop --for 1h --sensors --into monday
  iikanji diagnose --from before
  iikanji diff before after

Exit status: 0 done, 1 failed to run (also: interrupted), 2 usage.`
}

// Run runs the command.
func (c *collectCmd) Run(ctx context.Context, e *env) error {
	if c.For < leastWatch || c.For > 24*time.Hour {
		return usageError("--for %v: want 5s to 24h", c.For)
	}
	if entries, err := os.ReadDir(c.Into); err == nil && len(entries) > 0 {
		return usageError("--into %s: the folder is not empty", c.Into)
	}
	t, err := c.site(ctx)
	if err != nil {
		return err
	}
	dir, hist, err := c.folders(t)
	if err != nil {
		return err
	}
	w := &watching{e: e, target: t, dir: dir, history: hist, length: c.For, sensors: c.Sensors, late: c.clockFlag,
		learn: func(*livesite.Subject, *history.History) field.Learn { return c.learn }}
	return w.run(ctx, func(d *diagnose.Diagnosis, s *livesite.Subject) error { return c.done(e, t, d) })
}

// site is the site that the command line names, or the one of this machine.
func (c *collectCmd) site(ctx context.Context) (*namedTarget, error) {
	if c.Target != "" {
		t, err := findTarget(c.Target)
		if err == nil && t.arena != nil {
			err = usageError("%s is an arena: it has no traffic of its own", c.Target)
		}
		return t, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the site: %w", err)
	}
	found, err := discover.Ask(ctx, host.Local{}, discover.Options{URL: c.URL, Dir: wd, Self: os.Getpid()})
	if err != nil {
		return nil, hinted(err, "name the site with --url, or describe it with iikanji init")
	}
	f, err := target.Parse(filepath.Join(wd, target.Name), []byte(found.Text()))
	if err != nil {
		return nil, fmt.Errorf("BUG: the description that was made cannot be read: %w", err)
	}
	return &namedTarget{Name: f.Site, file: f}, nil
}

// learn redacts what was observed and writes it into the folder.
func (c *collectCmd) learn(ctx context.Context, o *observe.Observer, run *iikanji.Run) (d *diagnose.Diagnosis, known []iikanji.Fact, err error) {
	ob, err := o.Finish(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	if known, err = o.Ask(ctx, ob); err != nil {
		return nil, nil, err
	}
	w := windowOf(ob)
	for i := range ob.Profiles {
		window.Profile(&ob.Profiles[i])
	}
	known, left, err := window.Facts(known)
	if err != nil {
		return nil, nil, err
	}
	run.Warnings, run.Notes = nil, nil // they quote statements
	if err := os.MkdirAll(c.Into, 0o700); err != nil {
		return nil, nil, fmt.Errorf("making the folder: %w", err)
	}
	h, err := history.Open(c.Into)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if run.ID, _, err = h.NewRun(); err != nil {
		return nil, nil, err
	}
	if err := observe.Keep(h, ob, known); err != nil {
		return nil, nil, err
	}
	if err := w.Save(c.Into); err != nil {
		return nil, nil, err
	}
	files := map[string][]string{}
	for _, s := range ob.Target.Services {
		files[s.Name] = s.Configs
	}
	if err := window.Configs(c.Into, files); err != nil {
		o := err
		run.Notes = append(run.Notes, o.Error())
	}
	if err := window.Contents(c.Into, left); err != nil {
		return nil, nil, err
	}
	d, err = diagnose.New(ob, known)
	return d, known, err
}

// windowOf is the window of an observation.
func windowOf(ob *observe.Observation) *window.Window {
	w := &window.Window{Site: ob.Run.Scenario, Began: ob.Run.Began, Took: ob.Run.Took, CPU: map[string][]float64{}}
	for i, s := range ob.Host {
		w.Seconds = append(w.Seconds, middle(s).Unix())
		for _, x := range s.Services {
			if w.CPU[x.Name] == nil {
				w.CPU[x.Name] = make([]float64, len(ob.Host))
			}
			w.CPU[x.Name][i] = (x.User + x.System) * s.Over.Seconds()
		}
	}
	return w
}

// middle is the middle of the interval of a sample.
func middle(s hoststat.Sample) time.Time { return s.At.Add(-s.Over / 2) }

// done describes what was written.
func (c *collectCmd) done(e *env, t *namedTarget, d *diagnose.Diagnosis) error {
	out := &output{w: e.Stdout}
	out.line("%s has %s of %s; %s lists what is in it", c.Into, report.Duration(d.Run.Took), report.Clean(t.file.Site), filepath.Join(c.Into, window.List))
	for _, s := range d.Sensors {
		if !s.Green {
			out.wrapped(fmt.Sprintf("%s RED: %s", s.Name, s.Why()), wideOf(e))
		}
	}
	for _, n := range d.Run.Notes {
		out.wrapped("left out: "+n, wideOf(e))
	}
	out.line("next: iikanji diagnose --from %s", c.Into)
	return out.err
}
