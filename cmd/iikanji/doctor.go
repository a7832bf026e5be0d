package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/doctor"
	"github.com/iikanji/iikanji/internal/site/livesite"
)

type doctorCmd struct {
	Target string `arg:"" optional:"" help:"Folder with an iikanji.toml, or the file." default:"."`

	Restart bool `help:"Also restart each service once."`
	Bench   bool `help:"Also run the benchmarker once."`
	JSON    bool `help:"Print one JSON document: all checks."`
	placeFlags
}

// Help returns the long help of the command.
func (doctorCmd) Help() string {
	return `Checks an iikanji.toml against the running machine: the process of each service,
every path and right, log formats, configuration tests, accounts and rights in
databases, builds, and what answers. Each failure has a remedy. It changes
nothing, but for what --restart and --bench ask for.

Examples:
  iikanji doctor
  iikanji doctor /srv/shop --restart --bench

Exit status: 0 nothing failed, 1 failed to run, 2 usage, 3 a check failed.`
}

// brief is the time after which checks without a terminal begin to print their progress.
const brief = 5 * time.Second

// Run runs the command.
func (c *doctorCmd) Run(ctx context.Context, e *env) error {
	t, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	if t.arena != nil {
		return usageError("%s is an arena, which iikanji starts itself: there is nothing to check", t.Name)
	}
	dir, hist, err := c.folders(t)
	if err != nil {
		return err
	}
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	began := e.Now()
	o := doctor.Options{File: t.file, Dir: dir, Restart: c.Restart, Show: func(check doctor.Check) {
		if e.TTY || e.Now().Sub(began) > brief {
			progress.Status("%s: %s", cmp.Or(check.Service, "site"), check.Name)
		}
	}}
	if c.Restart || c.Bench {
		h, err := history.Open(hist) // its lock: no other iikanji may work on the site now
		if err != nil {
			return err
		}
		defer h.Close()
		if c.Bench {
			o.Bench = func(ctx context.Context, s *livesite.Subject) (*iikanji.Run, error) { return c.bench(ctx, e, t, h, s) }
		}
	}
	var checks []doctor.Check
	err = withMachines(ctx, t, false, nil, func() (err error) {
		o.Hosts = t.hosts
		checks, err = doctor.Run(ctx, o)
		return err
	})
	progress.Done()
	if err != nil {
		return err
	}
	return c.print(e, checks)
}

// bench makes one run and keeps it.
func (c *doctorCmd) bench(ctx context.Context, e *env, t *namedTarget, h *history.History, s *livesite.Subject) (*iikanji.Run, error) {
	b := &benchCmd{Target: c.Target, Pin: "off", Dir: c.Dir, History: c.History}
	r, err := b.prepare(e, t)
	if err != nil {
		return nil, err
	}
	f := r.field(h, s, r.loaderOf(s, h))
	m, err := f.Run(ctx, field.Spec{HostEvery: time.Second, KeepSamples: true})
	if err != nil {
		return nil, err
	}
	m.Complete()
	return m.Run, h.SaveRun(m.Run)
}

// print lists the checks: failures and warnings with their remedies.
func (c *doctorCmd) print(e *env, checks []doctor.Check) error {
	failed := 0
	for _, check := range checks {
		if check.State == doctor.Failed || check.State == doctor.Skipped {
			failed++
		}
	}
	var err error
	if c.JSON {
		err = writeJSON(e.Stdout, struct {
			OK     bool           `json:"ok"`
			Checks []doctor.Check `json:"checks"`
		}{failed == 0, checks})
	} else {
		err = c.table(e, checks, failed)
	}
	if err == nil && failed > 0 {
		err = &exitError{Status: exitChecks}
	}
	return err
}

func (c *doctorCmd) table(e *env, checks []doctor.Check, failed int) error {
	out := &output{w: e.Stdout, color: e.Color}
	warnings := 0
	for _, check := range checks {
		if check.State == doctor.Warning {
			warnings++
		}
		out.line("%-7s  %s: %s: %s", check.State, cmp.Or(check.Service, "site"), check.Name, report.Clean(check.Says))
		if check.Remedy != "" && check.State != doctor.OK {
			out.line("         remedy: %s", report.Clean(check.Remedy))
		}
	}
	if failed == 0 {
		says := "none failed"
		if warnings > 0 {
			says += ", " + report.Number(warnings, "warning")
		}
		out.line("\n%s, %s; next: iikanji diagnose %s", report.Number(len(checks), "check"), says, c.Target)
		return out.err
	}
	out.line("\n%s", fmt.Sprintf("%d of %s failed", failed, report.Number(len(checks), "check")))
	return out.err
}
