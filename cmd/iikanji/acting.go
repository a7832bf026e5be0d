package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/finalize"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/ui"
)

// An acting is what a command does with a site and with its history.
type acting struct {
	what    string // the command, as in "bench"; "" for one that only writes notes
	changes bool   // it may change a host
	yields  bool   // it gives way to a person within one run
	clockFlag
}

// A clockFlag is the flag of commands that change a host.
type clockFlag struct {
	AfterEnd string `help:"Reason for changing a host after the contest's end, which is kept in the history." placeholder:"REASON"`
}

// who is the person who runs a command.
func (e *env) who(ctx context.Context, t *namedTarget) string {
	a := turn.Asker{Host: host.Local{}, Getenv: os.Getenv, PID: os.Getpid(), Dir: "/"}
	if t != nil && t.file != nil {
		a.Dir = filepath.Dir(t.file.Path)
	}
	if u, err := user.Current(); err == nil {
		a.Home, a.User = u.HomeDir, u.Username
	}
	if home, err := os.UserHomeDir(); err == nil { // sudo may keep that of the account that logged in
		a.Home = home
	}
	return a.Who(ctx)
}

// turnOf is the turn of the site with a history.
func (e *env) turnOf(hist string) *turn.Book { return &turn.Book{Dir: turn.Folder(hist), Now: e.Now} }

// openHistory opens the history of a target for writing, and creates it if it is
// missing; dir is the target's work folder. A command that acts takes the turn for its
// time, and gives it back when it closes the history.
func openHistory(ctx context.Context, e *env, t *namedTarget, dir, hist string, act acting) (*history.History, error) {
	h, _, err := openToAct(ctx, e, t, dir, hist, act)
	return h, err
}

// openToAct is openHistory, with the turn: nil for a command that only writes notes.
func openToAct(ctx context.Context, e *env, t *namedTarget, dir, hist string, act acting) (*history.History, *turn.Hold, error) {
	late, err := t.clock(e, act)
	if err != nil {
		return nil, nil, err
	}
	h, err := history.Open(hist)
	if err != nil {
		if act.what != "" { // a command that works holds the history
			e.tellLong(ctx, t, e.turnOf(hist), e.who(ctx, t))
		}
		return nil, nil, e.busy(hist, err)
	}
	if err := frozen(h, act); err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	if err := t.nameRoots(h, dir); err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	if act.what == "" {
		return h, nil, nil
	}
	who := e.who(ctx, t)
	hold, err := e.turnOf(h.Dir()).Work(ctx, turn.Work{Who: who, What: act.what, Yields: act.yields})
	if err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	h.OnClose(hold.Release)
	if late != "" {
		err = h.Append(history.Event{What: history.Noted, Text: fmt.Sprintf("%s by %s %s: %s", act.what, who, late, act.AfterEnd)})
	}
	if err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	return h, hold, nil
}

// unfreezing are the commands that act on a site after finalize has said READY: they
// measure, or bring back a known state.
var unfreezing = []string{"finalize", "rehearse", "recover", "revert", "bench", "diagnose"}

// frozen refuses a change of a site that finalize has left ready.
func frozen(h *history.History, act acting) error {
	why := h.Frozen()
	if why == "" || !act.changes || slices.Contains(unfreezing, act.what) {
		return nil
	}
	return hinted(fmt.Errorf("the site is left as it is (%s): changes are refused", why), "iikanji finalize --open allows changes again")
}

// busy adds who works to the error of a history that another process writes.
func (e *env) busy(hist string, err error) error {
	s, other := e.turnOf(hist).State()
	if other != nil || s.Work == nil {
		return err
	}
	return fmt.Errorf("%w: %w", &turn.BusyError{State: s, Now: e.Now()}, err)
}

// freezeShare is the share of a contest after which nothing new should begin.
const freezeShare = 0.8

// clock refuses a change of a host after the end of a contest, unless there is a reason;
// late says how late it is then. Near the end it says so.
func (t *namedTarget) clock(e *env, act acting) (late string, err error) {
	if t.file == nil || act.what == "" {
		return "", nil
	}
	begin, end, now := time.Time(t.file.Contest.Begin), time.Time(t.file.Contest.End), e.Now()
	switch {
	case end.IsZero():
		return "", nil
	case now.After(end) && !act.changes:
		return "", nil
	case now.After(end) && act.AfterEnd == "":
		return "", hinted(fmt.Errorf("the contest ended %s ago, at %s: changing a host now disqualifies", report.Duration(now.Sub(end).Round(time.Second)), end.Local().Format("15:04")),
			`--after-end "REASON" does it all the same, and keeps the reason`, "end below [contest] in iikanji.toml is the time")
	case now.After(end):
		return fmt.Sprintf("after the end of the contest (%s)", end.Local().Format("15:04")), nil
	}
	if line := freezeLine(begin, end, now, t.finalizeNeeds()); line != "" {
		fmt.Fprintln(e.Stderr, line)
	}
	return "", nil
}

// finalizeNeeds is how long iikanji finalize of a site takes.
func (t *namedTarget) finalizeNeeds() time.Duration {
	p := finalize.Plan{Orders: finalize.OrdersOf(hasServers(t.file), finalize.Gaps()), Run: runLength(t.file)}
	return p.Needs()
}

// freezeLine is what is said in the last fifth of a contest, "" before. finalize is how long
// leaving the site takes.
func freezeLine(begin, end, now time.Time, finalize time.Duration) string {
	if begin.IsZero() || end.IsZero() || now.Before(begin.Add(time.Duration(freezeShare*float64(end.Sub(begin))))) || now.After(end) {
		return ""
	}
	return fmt.Sprintf("%s, end %s, %s left: freeze; finalize needs %s. No new edits; end with a state that has passed several times",
		now.Local().Format("15:04"), end.Local().Format("15:04"), ui.Left(end.Sub(now)), report.Duration(finalize.Round(time.Minute)))
}
