package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/turn"
)

// daySite writes the file of a site, with more lines at its end, and returns the site and
// its history.
func daySite(t *testing.T, more string) (site *namedTarget, dir, hist string) {
	t.Helper()
	dir = t.TempDir()
	text := "version = 1\nurl = \"http://127.0.0.1:1\"\n[[service]]\nname = \"app\"\nrole = \"app\"\nlisten = \"127.0.0.1:1\"\n" + more
	if err := os.WriteFile(filepath.Join(dir, "iikanji.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	site, err := findTarget(dir)
	if err != nil {
		t.Fatal(err)
	}
	return site, filepath.Join(dir, "work"), filepath.Join(dir, "work", "history")
}

// TestTurnOfCommands: a command is refused while another person has the turn, and a
// command holds the turn until it closes the history.
func TestTurnOfCommands(t *testing.T) {
	site, dir, hist := daySite(t, "")
	e := &env{Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Now: time.Now}
	t.Setenv(turn.WhoVariable, "aoi")
	open := func() (*history.History, error) {
		return openHistory(t.Context(), e, site, dir, hist, acting{what: "bench"})
	}
	h, err := open()
	if err != nil {
		t.Fatal(err)
	}
	var busy *turn.BusyError
	if _, err := open(); !errors.As(err, &busy) || !strings.Contains(err.Error(), "aoi runs bench since") || !strings.Contains(err.Error(), "is being written by process") {
		t.Errorf("a second command: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.turnOf(hist).Take(t.Context(), turn.Request{Who: "bo", Why: "index test"}); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); !errors.As(err, &busy) || !strings.Contains(err.Error(), "it is the turn of bo (index test) until") {
		t.Errorf("while bo has the turn: %v", err)
	}
	note, err := openHistory(t.Context(), e, site, dir, hist, acting{})
	if err != nil {
		t.Fatalf("a note: %v", err)
	}
	if err := note.Close(); err != nil {
		t.Error(err)
	}
	t.Setenv(turn.WhoVariable, "bo")
	if h, err = open(); err != nil {
		t.Fatalf("bo's own command: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestContestClock: after the end a change of a host needs a reason, which the history
// keeps, and a measurement does not; in the last fifth one line says so.
func TestContestClock(t *testing.T) {
	begin := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	site, dir, hist := daySite(t, "[contest]\nbegin = \"2026-11-28T10:00:00Z\"\nend = \"2026-11-28T18:00:00Z\"\n")
	errs := &strings.Builder{}
	e := &env{Stdout: &strings.Builder{}, Stderr: errs}
	try := func(after time.Duration, act acting) error {
		errs.Reset()
		e.Now = func() time.Time { return begin.Add(after) }
		h, err := openHistory(t.Context(), e, site, dir, hist, act)
		if err != nil {
			return err
		}
		return h.Close()
	}
	change := acting{what: "apply", changes: true}
	for after, want := range map[time.Duration]string{time.Hour: "", 6*time.Hour + 23*time.Minute: "", 6*time.Hour + 24*time.Minute: "1h36m left: freeze"} {
		if err := try(after, change); err != nil || (want == "") != (errs.Len() == 0) || !strings.Contains(errs.String(), want) {
			t.Errorf("after %v: %v, %q", after, err, errs)
		}
	}
	late := 8*time.Hour + time.Minute
	if err := try(late, change); err == nil || !strings.Contains(err.Error(), "the contest ended") {
		t.Errorf("a change after the end: %v", err)
	}
	if err := errors.Join(try(late, acting{what: "bench"}), try(late, acting{})); err != nil {
		t.Errorf("a measurement and a note after the end: %v", err)
	}
	change.AfterEnd = "the organisers asked for it"
	if err := try(late, change); err != nil {
		t.Fatal(err)
	}
	h, err := history.View(hist)
	if err != nil {
		t.Fatal(err)
	}
	events := h.Events()
	if last := events[len(events)-1]; last.What != history.Noted || !strings.Contains(last.Text, "the organisers asked for it") {
		t.Errorf("%+v", last)
	}
}

// TestGiveWay: a search that was asked to give way ends as an interrupted one.
func TestGiveWay(t *testing.T) {
	c := &tuneCmd{Target: "x"}
	way := &turn.GaveWayError{Want: turn.Want{Who: "aoi", Why: "index test"}}
	err := c.ended(t.Context(), fmt.Errorf("searching: %w", way), nil)
	var ee *exitError
	if !errors.As(err, &ee) || ee.Status != exitFailed || !strings.Contains(err.Error(), "gave way to aoi (index test)") || len(ee.Hints) == 0 {
		t.Errorf("%v", err)
	}
	ctx, end := context.WithCancelCause(t.Context())
	end(way)
	if !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Error("it is no interruption")
	}
}
