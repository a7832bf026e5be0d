package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/day/notice"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/ui"
)

type turnCmd struct {
	Show turnShowCmd `cmd:"" default:"withargs" help:"Show whose turn it is."`
	Take turnTakeCmd `cmd:"" help:"Take the turn for some time."`
	Give turnGiveCmd `cmd:"" help:"Give the turn back."`
}

// Help returns the long help of the command.
func (turnCmd) Help() string { return turnShowCmd{}.Help() }

// turnFlags find the site whose turn it is.
type turnFlags struct {
	Target string `help:"Target (default: the iikanji.toml in this folder)." placeholder:"TARGET"`
	placeFlags
}

// book is the turn of the target.
func (f *turnFlags) book(e *env) (*turn.Book, *namedTarget, error) {
	t, err := findTargetOrHere(f.Target)
	if err != nil {
		return nil, nil, err
	}
	_, hist, err := f.folders(t)
	if err != nil {
		return nil, nil, err
	}
	return e.turnOf(hist), t, nil
}

type turnShowCmd struct {
	JSON bool `help:"Print one JSON document."`
	turnFlags
}

// Help returns the long help of the command.
func (turnShowCmd) Help() string {
	return `Shows whose turn it is to measure and to change the site, for people who share
one machine. Every command that measures or changes takes the turn for its time
and is refused when another person has it. Who you are is told by IIKANJI_WHO,
the comment of the SSH key that logged in, or git's user.name.

Examples:
  iikanji turn
  iikanji turn --json
  iikanji turn take "index test" --for 15m
  iikanji turn take --from aoi
  iikanji turn give

Exit status: 0 done, 1 failed to run (also: another has the turn), 2 usage.`
}

// Run runs the command.
func (c *turnShowCmd) Run(_ context.Context, e *env) error {
	b, _, err := c.book(e)
	if err != nil {
		return err
	}
	s, err := b.State()
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, s)
	}
	out := &output{w: e.Stdout}
	for _, line := range turnLines(s, e.Now()) {
		out.line("%s", report.Clean(line))
	}
	return out.err
}

// turnLines say whose turn it is.
func turnLines(s turn.State, now time.Time) (lines []string) {
	if l := s.Lease; l != nil {
		why := ""
		if l.Why != "" {
			why = ", " + l.Why
		}
		lines = append(lines, fmt.Sprintf("turn: %s%s, since %s until %s (%s left)", l.Who, why,
			l.Since.Local().Format("15:04"), l.Until.Local().Format("15:04"), ui.Left(l.Until.Sub(now))))
	} else {
		lines = append(lines, "turn: free")
	}
	if w := s.Work; w != nil {
		lines = append(lines, fmt.Sprintf("now: %s runs %s since %s (process %d)", w.Who, w.What, w.Since.Local().Format("15:04:05"), w.PID))
	}
	if w := s.Want; w != nil {
		lines = append(lines, fmt.Sprintf("%s waits for the turn", w.Who))
	}
	return lines
}

type turnTakeCmd struct {
	Why string `arg:"" optional:"" help:"What for, as in \"index test\"."`

	For  time.Duration `help:"How long." default:"15m"`
	From string        `help:"Take it from this person, which is noted; a command of theirs is waited for." placeholder:"WHO"`
	JSON bool          `help:"Print one JSON document."`
	turnFlags
}

// Help returns the long help of the command.
func (turnTakeCmd) Help() string {
	return `Takes the turn until it is given back or the time is over; a reboot does not end
it. Other people's commands that measure or change are refused meanwhile. A
search that works gives way after its present run.

Examples:
  iikanji turn take "index test" --for 15m
  iikanji turn take --from aoi

Exit status: 0 taken, 1 failed to run (also: another has the turn), 2 usage.`
}

// Run runs the command.
func (c *turnTakeCmd) Run(ctx context.Context, e *env) error {
	if c.For < time.Minute || c.For > turn.MaxTime {
		return usageError("--for %v: want 1m to %v", c.For, turn.MaxTime)
	}
	b, t, err := c.book(e)
	if err != nil {
		return err
	}
	lease, err := b.Take(ctx, turn.Request{Who: e.who(ctx, t), Why: turn.Name(c.Why), For: c.For, From: c.From, Waits: func(w turn.Work) {
		fmt.Fprintf(e.Stderr, "%s runs %s: the turn is yours when it ends\n", report.Clean(w.Who), report.Clean(w.What))
	}})
	if err != nil {
		return err
	}
	long, err := b.LongLease(ctx, longTurn)
	if err != nil {
		return err
	}
	if long != nil || c.From != "" {
		e.tell(ctx, t, turnNotice(lease, c.From))
	}
	if c.JSON {
		return writeJSON(e.Stdout, lease)
	}
	_, err = fmt.Fprintf(e.Stdout, "the turn is yours, %s, until %s; iikanji turn give ends it\n", report.Clean(lease.Who), lease.Until.Local().Format("15:04"))
	return err
}

// longTurn is the length from which the team is told of a turn.
const longTurn = 30 * time.Minute

// tellLong tells the team once of a command that has worked for long, when it keeps another
// person's command from working. It never fails that command.
func (e *env) tellLong(ctx context.Context, t *namedTarget, b *turn.Book, who string) {
	if t.file == nil || len(t.file.Team.Notify) == 0 {
		return
	}
	w, err := b.LongWork(ctx, longTurn)
	if err != nil || w == nil {
		return
	}
	e.tell(ctx, t, notice.Notice{Kind: "turn", Title: fmt.Sprintf("%s runs %s since %s (%s); %s waits", w.Who, w.What, w.Since.Local().Format("15:04"),
		ui.Left(e.Now().Sub(w.Since)), who)})
}

// turnNotice tells of a turn that is long, or was taken from another.
func turnNotice(l *turn.Lease, from string) notice.Notice {
	title := fmt.Sprintf("%s has the turn until %s", l.Who, l.Until.Local().Format("15:04"))
	if l.Why != "" {
		title += ": " + l.Why
	}
	if from != "" {
		title += "; it was taken from " + from
	}
	return notice.Notice{Kind: "turn", Title: title}
}

type turnGiveCmd struct{ turnFlags }

// Help returns the long help of the command.
func (turnGiveCmd) Help() string {
	return `Gives the turn back before its time is over.

Examples:
  iikanji turn give

Exit status: 0 given, 1 failed to run (also: you do not have it), 2 usage.`
}

// Run runs the command.
func (c *turnGiveCmd) Run(ctx context.Context, e *env) error {
	b, t, err := c.book(e)
	if err != nil {
		return err
	}
	lease, err := b.Give(ctx, e.who(ctx, t))
	var busy *turn.BusyError
	if errors.Is(err, turn.ErrNotYours) && !errors.As(err, &busy) {
		return hinted(err, "iikanji turn shows whose it is")
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "given back after %s\n", report.Duration(e.Now().Sub(lease.Since).Round(time.Second)))
	return err
}
