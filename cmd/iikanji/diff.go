package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/window"
)

type diffCmd struct {
	Before string `arg:"" help:"A log, a profile that access or slow saved, or a folder of iikanji collect."`
	After  string `arg:"" help:"Another log, profile or folder of the same kind."`

	Kind string `help:"Kind of the logs: access, slow, or auto to detect it." default:"auto" enum:"auto,access,slow"`
	accessFlags
	Limit  int    `help:"Rows to show; 0 for all (default: 40 in a table, else all)." default:"-1" placeholder:"N"`
	Format string `help:"table, tsv, csv, markdown or json." default:"table" enum:"table,tsv,csv,markdown,json"`
	JSON   bool   `help:"The same as --format json."`

	Literals bool `help:"Show what may be a secret in URLs; by default it is redacted."`
}

// Help returns the long help of the command.
func (diffCmd) Help() string {
	return `Compares two access logs, two slow logs, or two saved profiles of either kind,
row by row: total before and after, and how total, count, mean and p99 changed.
New and gone rows are marked. The largest change of total time comes first.

Two folders that iikanji collect wrote, such as one from before and one from
after a deployment, are compared per request: shares, times and errors of
routes, executions and time of statements, CPU time of services. Each ratio has
an interval, from blocks of seconds drawn at random or from Poisson counts.

iikanji access diff and iikanji slow diff do the same for logs of one kind.

Examples:
  iikanji diff access.log.1 access.log
  iikanji diff before.json after.json --format markdown
  iikanji diff slow-before.log slow-after.log --limit 10
  iikanji diff before after

Exit status: 0 done (whatever changed), 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *diffCmd) Run(ctx context.Context, e *env) error {
	if window.Is(c.Before) && window.Is(c.After) {
		return c.windows(e)
	}
	opt, err := c.accessFlags.options(ctx)
	if err != nil {
		return err
	}
	var sides [2]*iikanji.Profile
	for i, name := range []string{c.Before, c.After} {
		sides[i], err = orInterrupted(ctx, func() (*iikanji.Profile, error) { return c.read(ctx, e, name, opt) })
		if err != nil {
			return accessError(ctx, err)
		}
	}
	before, after := sides[0], sides[1]
	if before.Source != after.Source {
		return fmt.Errorf("comparing %s with %s: one is %s, the other %s", c.Before, c.After, kindOf(before), kindOf(after))
	}
	if before.Source == iikanji.Slow {
		if !c.Literals {
			redact.Profile(before, false)
			redact.Profile(after, false)
		}
		return c.writeSlow(e, before, after)
	}
	if err := accesslog.Align(before, after); err != nil {
		return err
	}
	if !c.Literals {
		var names redact.Names // equal keys of both sides stay equal
		names.Profile(before, false)
		names.Profile(after, false)
	}
	var pairs []report.RowPair
	for _, p := range tally.Pairs(before, after) {
		pairs = append(pairs, report.RowPair(p))
	}
	flags := tableFlags{Limit: c.Limit, Format: c.Format, JSON: c.JSON}
	view := viewOf(before)
	show, err := flags.options(e, view)
	if err != nil {
		return err
	}
	return view.WriteDiff(e.Stdout, before, after, pairs, show)
}

func kindOf(p *iikanji.Profile) string {
	if p.Source == iikanji.Access {
		return "an access log"
	}
	return "a " + p.Source.String() + " log"
}

// writeSlow writes the output of iikanji slow diff.
func (c *diffCmd) writeSlow(e *env, before, after *iikanji.Profile) error {
	format, limit := c.Format, c.Limit
	if c.JSON {
		format = "json"
	}
	if format != "table" && format != "markdown" {
		return report.SlowDiff(before, after, max(limit, 0), true).Write(e.Stdout, report.Format(format), 0)
	}
	if limit < 0 {
		limit = tableLimit
	}
	return report.SlowDiffText(e.Stdout, before, after, report.Format(format), e.Cols, limit)
}

// read returns the profile of a file: a saved profile, or a log of either kind.
func (c *diffCmd) read(ctx context.Context, e *env, name string, opt accesslog.Options) (*iikanji.Profile, error) {
	if name == "-" {
		return nil, usageError("diff reads two files: standard input can be only one log")
	}
	if isProfile(name) {
		return loadProfile(name)
	}
	var access error
	if c.Kind != "slow" {
		p, err := readAccess(ctx, e, name, opt)
		var unknown *accesslog.UnknownFormatError
		if err == nil || c.Kind == "access" || !errors.As(err, &unknown) {
			return p, err
		}
		access = err
	}
	p, err := readSlow(ctx, e, []string{name}, slowlog.Options{})
	if err != nil && access != nil {
		return nil, hinted(fmt.Errorf("reading %s: it is neither a profile nor an access log nor a slow log", name),
			"--kind access or --kind slow shows the reason")
	}
	return p, err
}

func readAccess(ctx context.Context, e *env, name string, opt accesslog.Options) (*iikanji.Profile, error) {
	in, err := lines.Open(name, e.Stdin)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return accesslog.Read(ctx, []*lines.Input{in}, opt)
}

// isProfile reports whether a file begins like a profile that --save wrote.
func isProfile(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(head[:n]))
	seen := 0
	for {
		t, err := d.Token()
		if err != nil {
			return seen == 2
		}
		if s, ok := t.(string); ok && (s == "version" || s == "source") {
			seen++
		}
	}
}
