package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/day/work/ledger"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A benchWork keeps the state of a site at the begin of a run, and says afterwards what the
// run shows. Nothing of it fails a run: an error is a line.
type benchWork struct {
	day     *work.Day
	state   *state.State
	traffic *work.Traffic
	routes  *iikanji.Profile
	compare *work.Comparison
	pushing chan error // how the push of the ledger ended; nil without one
}

// beginWork takes the state of a site before its run; nil for an arena, or if it cannot be
// taken.
func (r *benchRun) beginWork(ctx context.Context, f *field.Field) *benchWork {
	if r.arena != nil || f.Subject == nil || r.NoLoad {
		return nil
	}
	d, err := dayOf(ctx, r.e, r.target, r.Dir, f.History, &liveTarget{Subject: f.Subject, progress: r.progress})
	if err != nil {
		r.progress.Say("the state of the site is not kept: %s", report.Clean(err.Error()))
		return nil
	}
	r.progress.Status("taking the state of the site")
	s, err := d.Look(ctx)
	if err != nil {
		r.progress.Say("the state of the site is not kept: %s", report.Clean(err.Error()))
		return nil
	}
	return &benchWork{day: d, state: s, traffic: work.WatchTraffic(d.Site)}
}

// fingerprint is that of the state; "" without one.
func (b *benchWork) fingerprint() iikanji.Fingerprint {
	if b == nil {
		return ""
	}
	return b.state.Fingerprint
}

// loaded reads the requests of the run, after its load and before it is saved.
func (b *benchWork) loaded(ctx context.Context, run *iikanji.Run) {
	if b == nil {
		return
	}
	b.routes = b.traffic.Read(context.WithoutCancel(ctx))
	work.Counted(run, b.routes)
}

// shownUnread is how many places that could not be read are named.
const shownUnread = 3

// saved keeps the state of a run that was saved, names what could not be read of it for the first
// time, and compares it.
func (b *benchWork) saved(r *benchRun, run *iikanji.Run) {
	if b == nil {
		return
	}
	err := b.day.Save(b.state, run.ID)
	unread := b.day.NewlyUnread(b.state)
	for _, text := range unread[:min(len(unread), shownUnread)] {
		r.progress.Say("not read: %s", report.Clean(text))
	}
	if more := len(unread) - shownUnread; more > 0 {
		r.progress.Say("%s could not be read either (iikanji work --all)", report.Number(more, "place"))
	}
	if err == nil && r.Message != "" {
		err = b.day.Note(run.ID, r.Message)
	}
	if err == nil {
		b.compare, err = b.day.Compare(run, b.state)
	}
	if err != nil {
		r.progress.Say("the run is not compared: %s", report.Clean(err.Error()))
	}
}

// print writes what the run shows.
func (b *benchWork) print(r *benchRun, out *output) {
	if b == nil || b.compare == nil {
		return
	}
	c := b.compare
	tail := c.Sum()
	if costs := c.PerRequest(); costs != "" && tail != "" {
		tail = costs + ". " + tail
	} else if costs != "" {
		tail = costs
	}
	out.line("")
	texts := append([]string{c.Head(), c.Verdict(), tail, c.Advice(), work.Limit(c.Run)}, saidOf(c.Run, b.day.Site.Target, b.routes)...)
	for _, text := range append(texts, c.Failures()...) {
		if text == "" {
			continue
		}
		for _, line := range report.Wrap("", "  ", report.Clean(text), max(r.e.Cols, 40)) {
			out.line("%s", line)
		}
	}
	for _, e := range work.ByHand(c.Edits) {
		if e.Warning != "" {
			for _, line := range report.Wrap("", "  ", report.Clean(work.Line(e)), max(r.e.Cols, 40)) {
				out.line("%s", line)
			}
		}
	}
}

// toldRoutes is how many routes a notice has.
const toldRoutes = 3

// told is what a notice has of the comparison: its verdict with the interval, the costs per
// request, the limit, what the benchmarker said of its load, and the heaviest routes.
func (b *benchWork) told() (lines []string) {
	if b == nil || b.compare == nil {
		return nil
	}
	c := b.compare
	lines = append(lines, c.Head()+"; "+c.Verdict(), c.PerRequest(), work.Limit(c.Run))
	lines = append(lines, saidOf(c.Run, b.day.Site.Target, b.routes)...)
	if b.routes != nil {
		for _, r := range b.routes.Rows[:min(len(b.routes.Rows), toldRoutes)] {
			lines = append(lines, fmt.Sprintf("%s: %s in %s", r.Key, report.Duration(r.Total), report.Number(int(r.Count), "request")))
		}
	}
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

// write writes the run into the ledger and begins to send it to the team's remote. It returns
// what happened, as one line, and lines about files that were left out.
func (b *benchWork) write(ctx context.Context, r *benchRun, run *iikanji.Run) (line string, more []string) {
	if b == nil || b.compare == nil {
		return "", nil
	}
	l, err := ledger.Open(b.day.Store)
	if err != nil {
		return report.Clean(err.Error()), nil
	}
	subject := redact.Prose(b.compare.Subject(r.Message))
	id, stopped, err := l.Write(ctx, ledger.Record{State: b.state, Run: run, Edits: b.compare.Edits, Subject: subject, Who: b.day.Who, Routes: b.routes, Statements: statementsOf(run),
		Body: b.compare.Body(b.routes, b.before(run), b.day.Who)})
	site := b.day.Site
	distance := func(place string) int {
		if site.MayWrite("", place) == nil {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(stopped, func(a, b ledger.Stopped) int { // the site's own files first
		return cmp.Compare(distance(a.Place), distance(b.Place))
	})
	fresh, all := 0, len(stopped)
	for _, s := range stopped {
		if s.New {
			if fresh++; fresh <= 3 {
				more = append(more, fmt.Sprintf("%s:%d looks like a secret and is not committed (iikanji work allow %s)", s.Place, s.Line, s.Place))
			}
		}
	}
	if fresh > 3 {
		more = append(more, fmt.Sprintf("%d files are not committed because of what looks like a secret", all))
	}
	switch {
	case errors.Is(err, ledger.ErrNoGit):
		return "the ledger is in " + l.Dir() + "; git is not installed, so nothing is committed", more
	case err != nil:
		return "not committed: " + report.Clean(err.Error()), more
	}
	line = id + " committed"
	team := r.target.file.Team
	if team.Commit == target.CommitApp {
		line += b.commitSource(ctx, subject)
	}
	if team.Remote == "" {
		return line, more
	}
	b.pushing = make(chan error, 1)
	go func() { b.pushing <- l.Push(context.WithoutCancel(ctx), team.Remote) }()
	return line, more
}

// pushed waits until the push of the ledger, which runs while the notice of the run is sent, has
// ended, and prints its result. A push that fails does not fail the run.
func (b *benchWork) pushed(r *benchRun) error {
	if b == nil || b.pushing == nil {
		return nil
	}
	out := &output{w: r.e.Stdout}
	if r.JSON {
		out.w = r.e.Stderr
	}
	if err := <-b.pushing; err != nil {
		out.line("%s (again at the next run)", redact.Text(report.Clean(err.Error())))
		return out.err
	}
	out.line("pushed")
	if first, err := b.firstPush(); err == nil && first {
		out.line("keep the remote private until the contest is over")
	}
	return out.err
}

// firstPush reports whether nothing was pushed before, and notes that something was.
func (b *benchWork) firstPush() (bool, error) {
	for _, e := range b.day.History.Events() {
		if e.What == history.Noted && e.Text == pushedNote {
			return false, nil
		}
	}
	return true, b.day.History.Append(history.Event{What: history.Noted, Text: pushedNote})
}

// pushedNote is the note of the first push.
const pushedNote = "the ledger was pushed for the first time"

// commitSource commits in the user's repositories, which the file of the site asks for.
func (b *benchWork) commitSource(ctx context.Context, message string) (text string) {
	for _, h := range b.state.Hosts {
		if h.Name != "" {
			continue
		}
		for _, repo := range h.Repos {
			id, err := ledger.CommitSource(ctx, repo.Dir, message, b.day.Who)
			switch {
			case err != nil:
				text += ", " + report.Clean(err.Error())
			case id != "":
				text += ", " + id + " in " + filepath.Base(repo.Dir)
			}
		}
	}
	return text
}

// statementsOf is the profile of statements of a run; nil for none.
func statementsOf(run *iikanji.Run) *iikanji.Profile {
	for i := range run.Profiles {
		if run.Profiles[i].Source == iikanji.Slow {
			return &run.Profiles[i]
		}
	}
	return nil
}

// before reads the routes of the run before, and keeps those of this one.
func (b *benchWork) before(run *iikanji.Run) *iikanji.Profile {
	old := b.day.RoutesBefore(run.ID)
	if b.routes != nil {
		_ = b.day.SaveRoutes(run.ID, b.routes) // without them, the next message has no changes of routes
	}
	return old
}

// A comparedRun is a run with what it shows, as one document.
type comparedRun struct {
	*iikanji.Run
	Work *work.Comparison `json:"work"`
}

// with is the document of a run.
func (b *benchWork) with(run *iikanji.Run) any {
	if b == nil || b.compare == nil {
		return run
	}
	return comparedRun{run, b.compare}
}

// end prints what the run shows, and writes the ledger.
func (b *benchWork) end(ctx context.Context, r *benchRun, run *iikanji.Run) error {
	if b == nil || b.compare == nil {
		return nil
	}
	out := &output{w: r.e.Stdout, color: r.e.Color}
	if r.JSON {
		out.w = r.e.Stderr
	} else {
		b.print(r, out)
	}
	line, more := b.write(ctx, r, run)
	for _, text := range append([]string{line}, more...) {
		if text != "" {
			out.line("%s", report.Clean(text))
		}
	}
	return out.err
}
