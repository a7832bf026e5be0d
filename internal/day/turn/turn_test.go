package turn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// Variables of a child that works as a member: the folder of the turn, and the file in
// which it writes when it works.
const (
	memberVariable = "IIKANJI_TEST_TURN_MEMBER"
	traceVariable  = "IIKANJI_TEST_TURN_TRACE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(memberVariable); dir != "" {
		os.Exit(member(dir, os.Getenv(traceVariable), os.Args[1], os.Args[2]))
	}
	os.Exit(m.Run())
}

// member works for a moment, as one command of a member; with die it is killed then. Its
// status is 3 if it was refused.
func member(dir, trace, who, how string) int {
	b := &turn.Book{Dir: dir, Now: time.Now}
	h, err := b.Work(context.Background(), turn.Work{Who: who, What: "bench"})
	var busy *turn.BusyError
	if errors.As(err, &busy) {
		return 3
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	f, err := os.OpenFile(trace, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 1
	}
	say := func(what string) { fmt.Fprintf(f, "%s %d %s %d\n", what, os.Getpid(), who, time.Now().UnixNano()) }
	say("begin")
	time.Sleep(time.Duration(1+rand.IntN(8)) * time.Millisecond)
	if how == "die" {
		say("dies")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	say("end")
	if h.Release() != nil {
		return 1
	}
	return 0
}

// TestThreeMembers has three members run 500 commands at once, each a process of its own;
// every 25th is killed while it works. No two may work at the same time, and the next
// command must be let in within 30 s after a kill.
func TestThreeMembers(t *testing.T) {
	tier.Slow(t)
	dir, trace := filepath.Join(t.TempDir(), "turn"), filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(trace, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const commands = 500
	began := time.Now()
	next := make(chan int)
	go func() {
		defer close(next)
		for i := range commands {
			next <- i
		}
	}()
	var mu sync.Mutex
	counts := map[int]int{}
	var members sync.WaitGroup
	for _, who := range []string{"aoi", "bo", "chika"} {
		members.Go(func() {
			for i := range next {
				how := "work"
				if i%25 == 0 {
					how = "die"
				}
				cmd := exec.Command(os.Args[0], who, how)
				cmd.Env = append(os.Environ(), memberVariable+"="+dir, traceVariable+"="+trace)
				out, err := cmd.CombinedOutput()
				status := cmd.ProcessState.ExitCode()
				if err != nil && status != 3 && status != -1 {
					t.Errorf("%s: %v: %s", who, err, out)
				}
				mu.Lock()
				counts[status]++
				mu.Unlock()
			}
		})
	}
	members.Wait()
	took := time.Since(began)
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	atWork, begins, dead, worst := "", 0, int64(0), time.Duration(0)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		at, _ := strconv.ParseInt(f[3], 10, 64)
		switch f[0] {
		case "begin":
			if atWork != "" {
				t.Fatalf("process %s began while %s worked", f[1], atWork)
			}
			if begins++; dead > 0 {
				worst, dead = max(worst, time.Duration(at-dead)), 0
			}
			atWork = f[1]
		case "dies":
			dead, atWork = at, ""
		case "end":
			if atWork != f[1] {
				t.Fatalf("process %s ended, and %q worked", f[1], atWork)
			}
			atWork = ""
		}
	}
	t.Logf("%d commands in %v: %d worked, %d refused, %d killed; longest wait after a kill %v", commands, took, counts[0], counts[3], counts[-1], worst)
	if counts[0]+counts[3]+counts[-1] != commands || begins != counts[0]+counts[-1] || counts[-1] == 0 || counts[0] < 50 {
		t.Errorf("statuses %v, %d begins", counts, begins)
	}
	if worst > 30*time.Second {
		t.Errorf("a killed command kept the turn for %v", worst)
	}
}

// A clock is the time of a test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

func book(t *testing.T) (*turn.Book, *clock) {
	c := &clock{at: time.Date(2026, 11, 28, 13, 2, 0, 0, time.UTC)}
	return &turn.Book{Dir: filepath.Join(t.TempDir(), "turn"), Now: c.now}, c
}

// TestHad: the log tells who had the turn at a time: until it was given back or was over, and from
// then on when another took it.
func TestHad(t *testing.T) {
	b, c := book(t)
	start := c.now()
	take := func(who, from string) {
		t.Helper()
		if _, err := b.Take(t.Context(), turn.Request{Who: who, From: from, For: 20 * time.Minute}); err != nil {
			t.Fatal(err)
		}
	}
	take("aoi", "")
	c.add(10 * time.Minute)
	take("bo", "aoi")
	c.add(5 * time.Minute)
	if _, err := b.Give(t.Context(), "bo"); err != nil {
		t.Fatal(err)
	}
	c.add(5 * time.Minute)
	take("chika", "")
	log, err := b.Log()
	if err != nil {
		t.Fatal(err)
	}
	for minute, want := range map[int]string{-1: "", 0: "aoi", 9: "aoi", 10: "bo", 14: "bo", 15: "", 19: "", 20: "chika", 39: "chika", 40: ""} {
		if got := turn.Had(log, start.Add(time.Duration(minute)*time.Minute)); got != want {
			t.Errorf("after %d minutes it is %q's, want %q", minute, got, want)
		}
	}
}

// TestLongBoth: who asks for a long lease does not take the word of a long command from the team,
// nor the other way.
func TestLongBoth(t *testing.T) {
	for _, first := range []string{"lease", "work"} {
		b, c := book(t)
		if _, err := b.Take(t.Context(), turn.Request{Who: "aoi", For: 45 * time.Minute}); err != nil {
			t.Fatal(err)
		}
		h, err := b.Work(t.Context(), turn.Work{Who: "aoi", What: "work prove"})
		if err != nil {
			t.Fatal(err)
		}
		c.add(31 * time.Minute)
		told := ""
		for _, ask := range []string{first, "lease", "work"} {
			if ask == "lease" {
				l, err := b.LongLease(t.Context(), 30*time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				if l != nil {
					told += " lease"
				}
				continue
			}
			w, err := b.LongWork(t.Context(), 30*time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if w != nil {
				told += " work"
			}
		}
		if want := map[string]string{"lease": " lease work", "work": " work lease"}[first]; told != want {
			t.Errorf("first %s: told are%s, want%s", first, told, want)
		}
		if err := h.Release(); err != nil {
			t.Error(err)
		}
	}
}

// TestLong: a lease that its holder makes longer is one turn, and is told once when it gets long; so
// is a command that works for long.
func TestLong(t *testing.T) {
	b, c := book(t)
	long := func() (who string) {
		t.Helper()
		l, err := b.LongLease(t.Context(), 30*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		w, err := b.LongWork(t.Context(), 30*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if l != nil {
			who += "lease of " + l.Who
		}
		if w != nil {
			who += " work of " + w.Who
		}
		return who
	}
	begin := c.now()
	for _, want := range []string{"", "lease of aoi", ""} { // 16, 31 and 46 minutes in all
		l, err := b.Take(t.Context(), turn.Request{Who: "aoi", For: 16 * time.Minute})
		if err != nil || !l.Since.Equal(begin) {
			t.Fatalf("%+v, %v", l, err)
		}
		c.add(15 * time.Minute)
		if got := long(); got != want {
			t.Errorf("after %v: %q, want %q", c.now().Sub(begin), got, want)
		}
	}
	if _, err := b.Give(t.Context(), "aoi"); err != nil {
		t.Fatal(err)
	}
	h, err := b.Work(t.Context(), turn.Work{Who: "bo", What: "work prove"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"", " work of bo", ""} {
		if got := long(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		c.add(30 * time.Minute)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Take(t.Context(), turn.Request{Who: "bo", For: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if got := long(); got != "lease of bo" {
		t.Errorf("an hour at once: %q", got)
	}
}

func TestLease(t *testing.T) {
	b, c := book(t)
	ctx := t.Context()
	if s, err := b.State(); err != nil || s.Lease != nil || s.Work != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := b.Take(ctx, turn.Request{Who: "aoi", Why: "index test", For: 20 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	again := &turn.Book{Dir: b.Dir, Now: c.now} // as after a reboot
	_, err := again.Work(ctx, turn.Work{Who: "bo", What: "bench"})
	var busy *turn.BusyError
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), "aoi (index test) until ") || !strings.Contains(err.Error(), "(20m0s)") {
		t.Fatalf("bo's command: %v", err)
	}
	if _, err := again.Take(ctx, turn.Request{Who: "bo"}); !errors.As(err, &busy) || len(busy.Hints()) == 0 {
		t.Errorf("bo takes: %v", err)
	}
	if _, err := again.Give(ctx, "bo"); !errors.Is(err, turn.ErrNotYours) {
		t.Errorf("bo gives: %v", err)
	}
	h, err := again.Work(ctx, turn.Work{Who: "aoi", What: "bench"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := b.State(); err != nil || s.Work == nil || s.Work.Who != "aoi" || s.Work.PID != os.Getpid() {
		t.Errorf("%+v, %v", s.Work, err)
	}
	if _, err := b.Work(ctx, turn.Work{Who: "aoi", What: "apply"}); !errors.As(err, &busy) || !strings.Contains(err.Error(), "who runs bench") {
		t.Errorf("a second command of aoi: %v", err)
	}
	if err := errors.Join(h.Release(), h.Release()); err != nil {
		t.Error(err)
	}
	if _, err := b.Take(ctx, turn.Request{Who: "bo", Why: "urgent", From: "aoi"}); err != nil {
		t.Errorf("bo takes from aoi: %v", err)
	}
	c.add(14 * time.Minute)
	if s, _ := b.State(); s.Lease == nil || s.Lease.Who != "bo" {
		t.Errorf("%+v", s.Lease)
	}
	c.add(time.Minute) // the lease is over
	if s, _ := b.State(); s.Lease != nil {
		t.Errorf("a lease that is over: %+v", s.Lease)
	}
	if _, err := b.Give(ctx, "bo"); !errors.Is(err, turn.ErrNotYours) {
		t.Errorf("giving a lease that is over: %v", err)
	}
	log, err := b.Log()
	if err != nil || len(log) != 2 || log[1].What != "from" || log[1].From != "aoi" || log[1].Why != "urgent" {
		t.Errorf("%+v, %v", log, err)
	}
}

// TestGiveWay: a search is told before its next run, the person who waits gets the turn
// when it has ended, and nobody gets in between.
func TestGiveWay(t *testing.T) {
	b, _ := book(t)
	b.Now = time.Now // a want is renewed by the clock
	ctx := t.Context()
	tune, err := b.Work(ctx, turn.Work{Who: "bo", What: "tune", Yields: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := tune.GiveWay(); err != nil {
		t.Fatalf("nobody waits: %v", err)
	}
	waits, got := make(chan turn.Work, 1), make(chan error, 1)
	go func() {
		_, err := b.Take(ctx, turn.Request{Who: "aoi", Why: "index test", Waits: func(w turn.Work) { waits <- w }})
		got <- err
	}()
	if w := <-waits; w.What != "tune" || w.Who != "bo" {
		t.Errorf("waits for %+v", w)
	}
	err = tune.GiveWay()
	var way *turn.GaveWayError
	if !errors.As(err, &way) || way.Want.Who != "aoi" || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if err := tune.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Work(ctx, turn.Work{Who: "chika", What: "bench"}); err == nil {
		t.Error("chika got in between")
	}
	if err := <-got; err != nil {
		t.Errorf("aoi: %v", err)
	}
	if s, err := b.State(); err != nil || s.Lease == nil || s.Lease.Who != "aoi" || s.Want != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestStopsWaiting: a person who waits no longer is forgotten.
func TestStopsWaiting(t *testing.T) {
	b, _ := book(t)
	b.Now = time.Now
	bench, err := b.Work(t.Context(), turn.Work{Who: "bo", What: "bench"})
	if err != nil {
		t.Fatal(err)
	}
	defer bench.Release()
	var busy *turn.BusyError
	if _, err := b.Take(t.Context(), turn.Request{Who: "aoi"}); !errors.As(err, &busy) {
		t.Errorf("a command that does not give way: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	waits := make(chan struct{})
	go func() { <-waits; stop() }()
	if _, err := b.Take(ctx, turn.Request{Who: "aoi", From: "bo", Waits: func(turn.Work) { close(waits) }}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := bench.GiveWay(); err != nil {
		t.Errorf("aoi waits no longer: %v", err)
	}
}

func TestNewer(t *testing.T) {
	b, _ := book(t)
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.Dir, "turn.json"), []byte(`{"version":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.State(); err == nil || !strings.Contains(err.Error(), "reads up to 1") {
		t.Errorf("%v", err)
	}
	if _, err := b.Work(t.Context(), turn.Work{Who: "a"}); err == nil {
		t.Error("worked by a file of a newer version")
	}
}
