package portalbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A stage is a site with an access log, a history, and a person.
type stage struct {
	t      *testing.T
	log    string
	h      *history.History
	portal *Portal
	typed  *io.PipeWriter
	mu     sync.Mutex
	said   strings.Builder
	phases []string
	extra  []Load
}

func (s *stage) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(b)
}

func (s *stage) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// await waits until the loader has said something.
func (s *stage) await(what string) {
	for end := time.Now().Add(60 * time.Second); !strings.Contains(s.text(), what); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Errorf("it has not said %q:\n%s", what, s.text())
			return
		}
	}
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir := t.TempDir()
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	s := &stage{t: t, log: filepath.Join(dir, "access.log"), h: h}
	if err := os.WriteFile(s.log, []byte("an old line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, typed := io.Pipe()
	s.typed = typed
	s.portal = &Portal{Site: "toy", Bench: target.Bench{How: target.BenchPortal}, Host: host.Local{}, AccessLog: func() string { return s.log },
		Now: time.Now, In: in, Ask: s, Who: "aoi", Quiet: quiet, Keep: h.SaveRun,
		Another: func(l Load) error {
			s.extra = append(s.extra, l)
			_, err := Record(h, "toy", l, "nobody announced this load")
			return err
		},
		Given: func(id iikanji.RunID) ([]Given, error) { return ReadGiven(h.Dir(), id) },
		Add:   func(id iikanji.RunID, g Given) error { return Give(h.Dir(), id, g) }}
	return s
}

// press loads the site for some time, with health checks beside, and returns when that was.
func (s *stage) press(length time.Duration) (from, to time.Time) {
	f, err := os.OpenFile(s.log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer f.Close()
	fmt.Fprintln(f, `10.0.0.9 "POST /initialize HTTP/1.1" 200`)
	from = time.Now()
	for time.Since(from) < length {
		for n := range 20 {
			fmt.Fprintf(f, "10.0.0.9 \"GET /api/isu/%d HTTP/1.1\" 200\n", n)
		}
		to = time.Now()
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Fprintln(f, `127.0.0.1 "GET /healthz HTTP/1.1" 200`)
	return from, to
}

// start begins a run in the history.
func (s *stage) start(ctx context.Context) (iikanji.RunID, <-chan error, func() *iikanji.Run) {
	id, _, err := s.h.NewRun()
	if err != nil {
		s.t.Fatal(err)
	}
	done := make(chan error, 1)
	var run *iikanji.Run
	go func() {
		var err error
		run, err = s.portal.Load(ctx, field.Load{Run: id, OnPhase: func(p scenario.Phase, begins bool) {
			s.phases = append(s.phases, fmt.Sprint(p, begins))
		}})
		if err == nil {
			err = s.h.SaveRun(run)
		}
		done <- err
	}()
	return id, done, func() *iikanji.Run { return run }
}

func (s *stage) type_(text string) {
	if _, err := io.WriteString(s.typed, text+"\n"); err != nil {
		s.t.Error(err)
	}
}

// quiet is how long a log must not grow for the load to be over. A test that a busy machine holds
// up for a shorter time writes its log late, and the load is still one.
const quiet = 5 * time.Second

// nearly is how far a window may be off on a busy machine, and clearly how far it would be off if
// it were not that of the load.
const (
	nearly  = 4 * time.Second
	clearly = 2 * nearly
)

// near fails unless a run's window is that of a load.
func near(t *testing.T, run *iikanji.Run, from, to time.Time) {
	t.Helper()
	if off := max(run.Began.Sub(from).Abs(), run.Began.Add(run.Took).Sub(to).Abs()); off > nearly {
		t.Errorf("the window is %v off: %v for %v, want %v to %v", off, run.Began, run.Took, from, to)
	}
}

func ended(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		t.Error("it does not end")
	}
}

// TestScriptedPerson: a person presses late, twice, and never, and gives scores on the
// terminal, elsewhere, and hours later.
func TestScriptedPerson(t *testing.T) {
	tier.Slow(t)
	const load = 2 * time.Second
	t.Run("late, typed", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		_, done, run := s.start(t.Context())
		s.await("press now")
		s.type_("12") // of another run: nothing was pressed
		s.await("no load was seen yet")
		time.Sleep(clearly)
		from, to := s.press(load)
		s.await("Its score?")
		s.type_("forty")
		s.await("want a number")
		s.type_("44,034")
		ended(t, done)
		if r := run(); r.Outcome != iikanji.Passed || r.Score != 44034 || len(r.Reasons) != 0 {
			t.Errorf("%+v", r)
		}
		near(t, run(), from, to)
		if got := strings.Join(s.phases, " "); got != "loadtrue loadfalse" {
			t.Errorf("phases %s", got)
		}
	})
	t.Run("typed early, failed", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		_, done, run := s.start(t.Context())
		s.await("press now")
		go func() { s.await("the load began"); s.type_("fail  GET /api/trend\x1b[31m timed out ") }()
		from, to := s.press(load)
		ended(t, done)
		if r := run(); r.Outcome != iikanji.Failed || r.Score != 0 || len(r.Reasons) != 1 || strings.Contains(r.Reasons[0], "\x1b") {
			t.Errorf("%+v", r)
		}
		near(t, run(), from, to)
	})
	t.Run("twice, given elsewhere", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		id, done, run := s.start(t.Context())
		s.await("press now")
		from, to := s.press(load)
		s.await("Its score?")
		from2, to2 := s.press(load)
		s.await("another load was seen")
		if err := Give(s.h.Dir(), id, Given{At: time.Now(), Who: "bo", Score: 100, By: "page"}); err != nil {
			t.Fatal(err)
		}
		ended(t, done)
		if r := run(); r.Score != 100 || !strings.Contains(strings.Join(r.Notes, "\n"), "given by bo") {
			t.Errorf("%+v", r)
		}
		near(t, run(), from, to)
		waiting, err := Waiting(s.h)
		if err != nil || len(waiting) != 1 {
			t.Fatalf("%v, %v", waiting, err)
		}
		second, err := s.h.LoadRun(waiting[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		near(t, second, from2, to2)
	})
	t.Run("hours later, corrected", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		id, done, run := s.start(t.Context())
		s.await("press now")
		from, to := s.press(load)
		s.await("Its score?")
		s.type_("")
		ended(t, done)
		if r := run(); r.Outcome != iikanji.Pending || r.Clean() {
			t.Errorf("%+v", r)
		}
		later := time.Now().Add(3 * time.Hour)
		for i, score := range []float64{404034, 44034} {
			if err := Give(s.h.Dir(), id, Given{At: later.Add(time.Duration(i) * time.Minute), Who: "aoi", Score: score, Messages: []string{"password=hunter2xyz is wrong"}}); err != nil {
				t.Fatal(err)
			}
			if done, err := Settle(s.h); err != nil || len(done) != 1 || done[0].Score != score {
				t.Fatalf("%v, %v", done, err)
			}
			if done, err := Settle(s.h); err != nil || len(done) != 0 {
				t.Fatalf("settled twice: %v, %v", done, err)
			}
		}
		r, err := s.h.LoadRun(id)
		if err != nil || r.Outcome != iikanji.Passed || r.Score != 44034 {
			t.Fatalf("%+v, %v", r, err)
		}
		notes := strings.Join(r.Notes, "\n")
		if !strings.Contains(notes, "score 404034 given by aoi") || !strings.Contains(notes, "score 44034 given by aoi") || !strings.Contains(notes, "it corrects 404034") {
			t.Errorf("notes: %s", notes)
		}
		if len(r.Faults) != 1 || strings.Contains(r.Faults[0].Message, "hunter2xyz") {
			t.Errorf("faults %+v", r.Faults)
		}
		near(t, r, from, to)
	})
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		ctx, stop := context.WithCancel(t.Context())
		_, done, _ := s.start(ctx)
		s.await("press now")
		time.Sleep(300 * time.Millisecond)
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if list, err := s.h.Runs(); err != nil || len(list) != 0 {
			t.Errorf("runs %v, %v", list, err)
		}
	})
	t.Run("stopped in the load", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		ctx, stop := context.WithCancel(t.Context())
		id, done, run := s.start(ctx)
		s.await("press now")
		go func() { s.await("the load began"); time.Sleep(500 * time.Millisecond); stop() }()
		from, _ := s.press(load)
		ended(t, done)
		if r := run(); r.Outcome != iikanji.Pending || !r.Partial || r.Began.Sub(from).Abs() > nearly {
			t.Errorf("%+v", r)
		}
		if waiting, err := Waiting(s.h); err != nil || len(waiting) != 1 || waiting[0].ID != id {
			t.Errorf("%v, %v", waiting, err)
		}
	})
	t.Run("no terminal, rotated log", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.typed.Close()
		_, done, run := s.start(t.Context())
		s.await("press now")
		if err := os.Rename(s.log, s.log+".1"); err != nil {
			t.Fatal(err)
		}
		from, to := s.press(load)
		ended(t, done)
		if r := run(); r.Outcome != iikanji.Pending {
			t.Errorf("%+v", r)
		}
		near(t, run(), from, to)
		s.await("iikanji score 44034 --run 1 gives it")
	})
	t.Run("killed", func(t *testing.T) { // what Keep has saved is enough
		t.Parallel()
		s := newStage(t)
		id, done, _ := s.start(t.Context())
		s.await("press now")
		go s.press(load)
		s.await("the load began")
		r, err := s.h.LoadRun(id)
		if err != nil || r.Outcome != iikanji.Pending || r.Began.IsZero() {
			t.Errorf("%+v, %v", r, err)
		}
		s.await("Its score?")
		s.type_("1")
		ended(t, done)
	})
	t.Run("watched", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		ctx, stop := context.WithCancel(t.Context())
		kept := make(chan Load, 4)
		busy := false
		w := &Watch{Host: host.Local{}, Log: s.log, Quiet: quiet, Now: time.Now, Busy: func() (bool, error) { return busy, nil },
			Keep: func(l Load) error { kept <- l; return nil }, Say: func(line string) { fmt.Fprintln(s, line) }}
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(100 * time.Millisecond)
		from, to := s.press(load)
		l := <-kept
		near(t, &iikanji.Run{Began: l.From, Took: l.To.Sub(l.From)}, from, to)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestBudget: runs_left counts from the moment when its number is first read.
func TestBudget(t *testing.T) {
	s := newStage(t)
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	b := &target.Bench{RunsLeft: 2, LeastGap: target.Duration(time.Minute)}
	one := func() {
		if _, err := Record(s.h, "toy", Load{at, at.Add(time.Minute)}, "x"); err != nil {
			t.Fatal(err)
		}
	}
	left := func(want int) {
		t.Helper()
		got, err := BudgetOf(s.h, b, true)
		if err != nil || !got.Limited || got.Left != want {
			t.Errorf("%+v, %v; want %d", got, err, want)
		}
	}
	one()
	left(2)
	one()
	left(1)
	one()
	left(0)
	s.portal.Budget = func() (Budget, error) { return BudgetOf(s.h, b, true) }
	s.portal.Bench = *b
	var spent *SpentError
	if _, err := s.portal.Load(t.Context(), field.Load{}); !errors.As(err, &spent) {
		t.Errorf("%v", err)
	}
	b.RunsLeft = 5
	left(5)
	if got, _ := BudgetOf(s.h, b, true); !got.Next.Equal(at.Add(2 * time.Minute)) {
		t.Errorf("next at %v", got.Next)
	}
}

func TestParseScore(t *testing.T) {
	for text, want := range map[string]float64{"44034": 44034, " 44,034 ": 44034, "44 034": 44034, "1_000": 1000, "0": 0, "12.5": 12.5, "-3": -3} {
		if got, ok := ParseScore(text); !ok || got != want {
			t.Errorf("%q: %g, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "x", "NaN", "Inf", "1e999", "44034 points"} {
		if _, ok := ParseScore(text); ok {
			t.Errorf("%q is taken", text)
		}
	}
	score, ok, messages := Paste(&target.Bench{}, "Score: 44034\nGET /api/trend: timeout\n\n")
	if !ok || score != 44034 || len(messages) != 2 {
		t.Errorf("%g, %v, %q", score, ok, messages)
	}
}

// TestSaid: what a person pasted is read for what it means, without secrets.
func TestSaid(t *testing.T) {
	s := newStage(t)
	id, err := Record(s.h, "toy", Load{time.Now(), time.Now()}, "x")
	if err != nil {
		t.Fatal(err)
	}
	said := []iikanji.Message{{Text: "users did not increase, password=hunter2", Means: iikanji.MeansNoGrowth, Count: 3}}
	if err := Give(s.h.Dir(), id, Given{Who: "bo", Score: 7, Said: said}); err != nil {
		t.Fatal(err)
	}
	if _, err := Settle(s.h); err != nil {
		t.Fatal(err)
	}
	run, err := s.h.LoadRun(id)
	if err != nil || len(run.Messages) != 1 || run.Messages[0].Count != 3 || strings.Contains(run.Messages[0].Text, "hunter2") {
		t.Errorf("%+v, %v", run.Messages, err)
	}
}

// TestGive: lines survive a torn one, and a run that is not there has no score.
func TestGive(t *testing.T) {
	s := newStage(t)
	id, err := Record(s.h, "toy", Load{time.Now(), time.Now()}, "x")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.h.Dir(), "runs", "0001", scoreFile)
	if err := os.WriteFile(path, []byte(`{"v":1,"who":"aoi","sc`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Give(s.h.Dir(), id, Given{Who: "bo", Score: 7}); err != nil {
		t.Fatal(err)
	}
	if all, err := ReadGiven(s.h.Dir(), id); err != nil || len(all) != 1 || all[0].Score != 7 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := Give(s.h.Dir(), 9, Given{}); !errors.Is(err, ErrNoRun) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, []byte("{\"v\":2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Settle(s.h); err == nil || !strings.Contains(err.Error(), "reads up to 1") {
		t.Errorf("%v", err)
	}
}
