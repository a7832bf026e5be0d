package main

import (
	"context"
	"fmt"
	"path/filepath"
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

	Check   bool            `help:"Read only: say what would be done, and change nothing."`
	Reboot  bool            `help:"Reboot the machines that reboot below [[host]] allows; this machine last, and the same command goes on after its boot."`
	Open    bool            `help:"Allow changes of the site again."`
	Within  time.Duration   `help:"Time that is left (default: until end below [contest])." placeholder:"TIME"`
	Gaps    []time.Duration `help:"How much later servers start than their clients, in further orders." default:"0s,20s,60s" placeholder:"TIMES"`
	LastRun bool            `help:"Make the last run; --no-last-run leaves it out, and the site is not ready." default:"true" negatable:""`
	JSON    bool            `help:"Print one JSON document."`
	clockFlag
	placeFlags

	rehearse bool // the command is iikanji rehearse
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

Mending units needs /etc/systemd/system (or their drop-ins), kernel variables need
/etc/sysctl.d/90-iikanji.conf in folders below [policy], for another machine as in
"db:/etc/systemd/system"; init --policy contest writes them. With --reboot
machines reboot: all at once, one after the other, and those with clients before
those with servers. When this machine goes down, the command goes on by itself after
the boot if it can, else when it is typed again.

Examples:
  iikanji finalize --check
  iikanji finalize
  iikanji finalize --reboot
  iikanji finalize --reboot --gaps 0s
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
	for _, g := range c.Gaps {
		if g < 0 || g > mostGap {
			return usageError("--gaps %v: want 0s to %v", g, mostGap)
		}
	}
	h, err := openHistory(ctx, e, t, dir, hist, acting{what: c.name(), changes: !c.Check, clockFlag: c.clockFlag})
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
		return hinted(err, "iikanji "+c.name()+" goes on where it stopped")
	}
	return c.end(ctx, e, t, h, dir, &res)
}

// mostGap bounds the time between clients and their servers.
const mostGap = 10 * time.Minute

// name is the command's.
func (c *finalizeCmd) name() string {
	if c.rehearse {
		return "rehearse"
	}
	return "finalize"
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
func (c *finalizeCmd) end(ctx context.Context, e *env, t *namedTarget, h *history.History, dir string, res *finalize.Result) error {
	if res.Down {
		out := &output{w: e.Stdout}
		out.wrapped(fmt.Sprintf("this machine reboots. The command goes on by itself when it is back, if it can, and writes into %s; otherwise type it again: iikanji %s --reboot",
			filepath.Join(dir, rebootLog), c.name()), e.Cols)
		return out.err
	}
	if !c.Check {
		if err := past.Note(h, past.Rehearsal{OK: res.Ready, Boot: res.Lost, Says: res.Reason}); err != nil {
			return err
		}
	}
	if res.Ready && !c.rehearse {
		if err := h.Append(history.Event{What: history.Frozen, Text: "finalize: ready"}); err != nil {
			return err
		}
	}
	if !c.Check {
		e.tell(ctx, t, finalNotice(c.name(), res, e.who(ctx, t)))
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
func finalNotice(name string, res *finalize.Result, who string) notice.Notice {
	n := notice.Notice{Kind: name, Title: "READY (" + who + ")"}
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
	case res.Ready && c.rehearse:
		out.wrapped("READY, "+rebootedText(res)+". iikanji finalize leaves the site so.", e.Cols)
	case res.Ready:
		out.wrapped("READY, "+rebootedText(res)+". Changes are refused from now on (iikanji finalize --open); this state is the last known good.", e.Cols)
	case len(res.Left) > 0:
		out.wrapped("not made: "+strings.Join(res.Left, ", "), e.Cols)
	}
	return out.err
}

// rebootedText says which machines were rebooted.
func rebootedText(res *finalize.Result) string {
	switch {
	case !res.Rebooted:
		return "not rebooted"
	case len(res.Stayed) > 0:
		return "rebooted, but for " + strings.Join(res.Stayed, " and ")
	}
	return "rebooted"
}

// runLength is how long a run of the site's benchmarker takes.
func runLength(f *target.File) time.Duration { return f.Bench.RunLength() }

// stackFolder is what a site is opened with.
func (f *finalSite) stackFolder() stack.Options {
	return stack.Options{Dir: f.dir, Progress: func(line string) { f.progress.Say("%s", line) }}
}
