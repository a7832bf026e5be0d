package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/show/report"
)

type portalPoolCmd struct {
	List    portalPoolListCmd    `cmd:"" help:"List the workers: what each runs, and when it was heard of."`
	Hold    portalPoolHoldCmd    `cmd:"" help:"Give a worker no more runs."`
	Release portalPoolReleaseCmd `cmd:"" help:"Let a worker work again that was held or in quarantine."`
}

// Help returns the long help of the command.
func (portalPoolCmd) Help() string { return portalPoolListCmd{}.Help() }

type portalPoolListCmd struct {
	JSON bool `help:"Print one JSON document."`
	portalCaller
}

// Help returns the long help of the command.
func (portalPoolListCmd) Help() string {
	return `Lists the workers of a portal with what they run and when they were heard of. A worker
that could not run jobs of three teams in a row is in quarantine: it gets no more until
"release". The page /staff/ROUND shows the same.

Examples:
  iikanji portal pool list

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalPoolListCmd) Run(ctx context.Context, e *env) error {
	workers := []api.Worker{}
	if err := c.call(ctx, http.MethodGet, "/workers", nil, &workers); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, workers)
	}
	out := &output{w: e.Stdout}
	if len(workers) == 0 {
		out.line("no worker has registered")
	}
	for _, w := range workers {
		out.line("%s", workerLine(&w))
	}
	return out.err
}

// workerLine is a worker in one line.
func workerLine(w *api.Worker) string {
	words := []string{w.ID, w.Name, report.Number(w.Busy, "run") + " of " + report.Number(w.Slots, "slot"), strings.Join(w.Kinds, " "), w.Version}
	if w.Quarantined {
		words = append(words, "HELD: it gets no runs")
	}
	if w.Gone {
		words = append(words, "NOT HEARD OF since "+w.Seen.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	return report.Clean(strings.Join(words, "  "))
}

// holding is an act on a worker.
type holding struct {
	Worker string `arg:"" help:"Id of the worker, as in the list."`
	Reason string `help:"Why; it is in the audit log." required:"" placeholder:"TEXT"`
	portalCaller
}

func (c *holding) act(ctx context.Context, e *env, hold bool, said string) error {
	var done struct{}
	if err := c.call(ctx, http.MethodPost, "/workers/"+url.PathEscape(c.Worker), map[string]any{"hold": hold, "reason": c.Reason}, &done); err != nil {
		return err
	}
	out := &output{w: e.Stdout}
	out.line("%s %s", c.Worker, said)
	return out.err
}

type portalPoolHoldCmd struct{ holding }

// Help returns the long help of the command.
func (portalPoolHoldCmd) Help() string {
	return `Gives a worker no more runs; the one that it makes goes on to its end.

Examples:
  iikanji portal pool hold WORKER --reason "its disk is slow"

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalPoolHoldCmd) Run(ctx context.Context, e *env) error {
	return c.act(ctx, e, true, "gets no more runs")
}

type portalPoolReleaseCmd struct{ holding }

// Help returns the long help of the command.
func (portalPoolReleaseCmd) Help() string {
	return `Lets a worker work again: one that was held, or one in quarantine whose mistake is
mended.

Examples:
  iikanji portal pool release WORKER --reason "the benchmarker is installed"

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// Run runs the command.
func (c *portalPoolReleaseCmd) Run(ctx context.Context, e *env) error {
	return c.act(ctx, e, false, "works again")
}
