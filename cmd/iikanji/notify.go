package main

import (
	"context"
	"fmt"
	"os"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/notice"
	"github.com/iikanji/iikanji/internal/show/report"
)

type notifyCmd struct {
	Test notifyTestCmd `cmd:"" help:"Send a notice to every receiver of the team."`
}

type notifyTestCmd struct {
	Target string `help:"Target (default: the iikanji.toml in this folder)." placeholder:"TARGET"`
	JSON   bool   `help:"Print one JSON document."`
}

// Help returns the long help of the command.
func (notifyTestCmd) Help() string {
	return `Sends a notice to every receiver in notify below [team], and says for each
whether it was told. A receiver is a reference, as in "env:DISCORD_WEBHOOK": the
address is a secret, and no message of iikanji has it.

Examples:
  iikanji notify test
  iikanji notify test --json

Exit status: 0 all were told, 1 failed to run (also: one was not told), 2 usage.`
}

// Run runs the command.
func (c *notifyTestCmd) Run(ctx context.Context, e *env) error {
	t, err := findTargetOrHere(c.Target)
	if err != nil {
		return err
	}
	if t.file == nil || len(t.file.Team.Notify) == 0 {
		return hinted(fmt.Errorf("%s has no receiver of notices", t.Name), `write notify = ["env:DISCORD_WEBHOOK"] below [team] in its iikanji.toml`)
	}
	out := t.sender().Send(ctx, notice.Notice{Kind: "test", Site: t.file.Site, Title: "a test, sent by " + e.who(ctx, t), At: e.Now()})
	failed := 0
	for _, o := range out {
		if o.Failure != "" {
			failed++
		}
	}
	if c.JSON {
		err = writeJSON(e.Stdout, out)
	} else {
		p := &output{w: e.Stdout}
		for _, o := range out {
			if o.Failure != "" {
				p.line("%s: not told: %s", report.Clean(o.Receiver), report.Clean(o.Failure))
			} else {
				p.line("%s: told (%s)", report.Clean(o.Receiver), o.Form)
			}
		}
		err = p.err
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %s not told", failed, report.Number(len(out), "receiver"))
	}
	return err
}

// sender sends notices to the team of a site.
func (t *namedTarget) sender() *notice.Sender {
	return &notice.Sender{Refs: t.file.Team.Notify, Getenv: os.Getenv, Read: os.ReadFile, Forbids: t.file.Contest.Forbids}
}

// tell sends a notice to the team of a site, if it has one. A failure is one line: it never
// fails the command.
func (e *env) tell(ctx context.Context, t *namedTarget, n notice.Notice) {
	if t.file == nil || len(t.file.Team.Notify) == 0 {
		return
	}
	n.Site, n.At = t.file.Site, e.Now()
	for _, o := range t.sender().Send(context.WithoutCancel(ctx), n) {
		if o.Failure != "" {
			fmt.Fprintf(e.Stderr, "notice to %s failed: %s\n", report.Clean(o.Receiver), report.Clean(o.Failure))
		}
	}
}

// noticeFaults is how many faults of a run are told.
const noticeFaults = 3

// runNotice tells of a run.
func runNotice(run *iikanji.Run, who string, more ...string) notice.Notice {
	n := notice.Notice{Kind: "run", Title: fmt.Sprintf("run %d %s", run.ID, run.Outcome)}
	if run.Outcome == iikanji.Passed {
		n.Title += " " + scoreText(run.Score)
	}
	n.Title += " (" + who + ")"
	n.Lines = append(n.Lines, more...)
	if run.Outcome != iikanji.Passed {
		n.Lines = append(n.Lines, run.Reasons...)
	}
	for _, f := range run.Faults[:min(len(run.Faults), noticeFaults)] {
		n.Lines = append(n.Lines, fmt.Sprintf("%d × %s", f.Count, f.Message))
	}
	return n
}
