package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/day/finalize"
	"github.com/iikanji/iikanji/internal/day/notice"
	"github.com/iikanji/iikanji/internal/day/past"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/target"
)

type finalizeCmd struct {
	Target string `arg:"" optional:"" help:"Site to leave, a folder with an iikanji.toml (default: the one in this folder)."`

	Check   bool          `help:"Read only: say what would be done, and change nothing."`
	Reboot  bool          `help:"Reboot this machine, and go on afterwards with the same command."`
	Open    bool          `help:"Allow changes of the site again."`
	Within  time.Duration `help:"Time that is left (default: until end below [contest])." placeholder:"TIME"`
	LastRun bool          `help:"Make the last run; --no-last-run leaves it out, and the site is not ready." default:"true" negatable:""`
	JSON    bool          `help:"Print one JSON document."`
	clockFlag
	placeFlags
}

// Help returns the long help of the command.
func (finalizeCmd) Help() string {
	return `Brings a site into the state in which it may be left at the end of a contest:
turns logs and sensors off, mends what a reboot would lose (settings that only
the running servers have, units that the boot does not start or that give up),
ends and starts all services in the orders of a boot, and makes a last run. It
says READY, or NOT READY with the reason and the way back. Each step is a change
in the history or a check: after an interruption the same command goes on, and no
service is left down. After READY changes are refused until finalize --open.

Mending units needs /etc/systemd/system, kernel variables need /etc/sysctl.d in
folders below [policy]. With --reboot the machine reboots, which ends the command;
the same command goes on then, and proves that everything came back.

Examples:
  iikanji finalize --check
  iikanji finalize
  iikanji finalize --reboot
  iikanji finalize --open

Exit status: 0 ready (with --check: read; with --open: opened), 1 failed to run,
2 usage, 3 not ready.`
}

// Run runs the command.
func (c *finalizeCmd) Run(ctx context.Context, e *env) error {
	t, err := findTargetOrHere(c.Target)
	if err != nil {
		return err
	}
	if t.arena != nil {
		return usageError("%s is an arena, which is taken down after each command; finalize is for a site with an iikanji.toml", t.Name)
	}
	if c.Check && c.Open || c.Reboot && (c.Check || c.Open) {
		return usageError("want one of --check, --reboot and --open")
	}
	dir, hist, err := c.folders(t)
	if err != nil {
		return err
	}
	h, err := openHistory(ctx, e, t, dir, hist, acting{what: "finalize", changes: !c.Check, clockFlag: c.clockFlag})
	if err != nil {
		return err
	}
	defer h.Close()
	if c.Open {
		return c.open(e, h)
	}
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	f := &finalSite{cmd: c, e: e, target: t, dir: dir, history: h, progress: progress}
	res, err := f.do(ctx)
	progress.Done()
	if err != nil {
		return hinted(err, "iikanji finalize goes on where it stopped")
	}
	return c.end(ctx, e, t, h, &res)
}

// open allows changes again.
func (c *finalizeCmd) open(e *env, h *history.History) error {
	if h.Frozen() == "" {
		_, err := fmt.Fprintln(e.Stdout, "changes are allowed already")
		return err
	}
	if err := h.Append(history.Event{What: history.Opened, Text: "finalize --open"}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(e.Stdout, "changes are allowed again; run iikanji finalize once more before the end")
	return err
}

// end records and prints the result.
func (c *finalizeCmd) end(ctx context.Context, e *env, t *namedTarget, h *history.History, res *finalize.Result) error {
	if res.Down {
		_, err := fmt.Fprintf(e.Stdout, "the machine reboots; when it is back: iikanji finalize --reboot\n")
		return err
	}
	if !c.Check {
		if err := past.Note(h, past.Rehearsal{OK: res.Ready, Boot: res.Lost, Says: res.Reason}); err != nil {
			return err
		}
	}
	if res.Ready {
		if err := h.Append(history.Event{What: history.Frozen, Text: "finalize: ready"}); err != nil {
			return err
		}
	}
	if !c.Check {
		e.tell(ctx, t, finalNotice(res, e.who(ctx, t)))
	}
	if c.JSON {
		if err := writeJSON(e.Stdout, res); err != nil {
			return err
		}
	} else if err := c.print(e, res); err != nil {
		return err
	}
	if !res.Ready && !c.Check {
		return &exitError{Status: exitChecks}
	}
	return nil
}

// finalNotice tells how a site was left.
func finalNotice(res *finalize.Result, who string) notice.Notice {
	n := notice.Notice{Kind: "finalize", Title: "READY (" + who + ")"}
	if !res.Ready {
		n.Title = "NOT READY (" + who + ")"
		n.Lines = []string{res.Reason, "way back: " + res.Back}
	}
	for _, s := range res.Steps {
		n.Lines = append(n.Lines, s.Name+": "+s.Says)
	}
	return n
}

func (c *finalizeCmd) print(e *env, res *finalize.Result) error {
	out := &output{w: e.Stdout, color: e.Color}
	if !res.Ready && !c.Check {
		out.wrapped("NOT READY: "+res.Reason, e.Cols)
		out.wrapped("way back: "+res.Back, e.Cols)
	}
	for i, s := range res.Steps {
		mark := ""
		if !s.OK {
			mark = "! "
		}
		out.wrapped(fmt.Sprintf("%d %-22s  %s%s", i+1, s.Name, mark, s.Says), e.Cols)
		for _, more := range s.More {
			out.wrapped("    "+more, e.Cols)
		}
	}
	switch {
	case c.Check:
		out.line("nothing was changed; services are ended and started, and the last run is made, by iikanji finalize")
	case res.Ready:
		rebooted := "not rebooted"
		if res.Rebooted {
			rebooted = "rebooted"
		}
		out.wrapped("READY, "+rebooted+". Changes are refused from now on (iikanji finalize --open); this state is the last known good.", e.Cols)
	case len(res.Left) > 0:
		out.wrapped("not made: "+strings.Join(res.Left, ", "), e.Cols)
	}
	return out.err
}

// runLength is how long a run of the site's benchmarker takes.
func runLength(f *target.File) time.Duration { return f.Bench.RunLength() }

// stackFolder is what a site is opened with.
func (f *finalSite) stackFolder() stack.Options {
	return stack.Options{Dir: f.dir, Progress: func(line string) { f.progress.Say("%s", line) }}
}
