package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func get(ctx context.Context, s scenario.Session, c scenario.Client, path string) {
	res, err := c.Do(ctx, &scenario.Request{Path: path})
	defer res.Release()
	if err == nil {
		err = scenario.WantStatus(res, 200)
	}
	if err != nil {
		s.Report(err)
		return
	}
	s.Add(got, 1)
}

// fair answers quickly, but not so quickly that the generator is the limit.
func fair(w http.ResponseWriter, r *http.Request) {
	time.Sleep(3 * time.Millisecond)
	if r.URL.Path == "/bad" {
		w.WriteHeader(500)
	}
	_, _ = w.Write([]byte("body"))
}

func runIt(t *testing.T, sc *script, o Options) *iikanji.Run {
	t.Helper()
	if o.URL == "" {
		o.URL = web(t, fair)
	}
	run, err := Run(t.Context(), sc, o)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// wantOutcome accepts void for passed, because a busy machine voids a run.
func wantOutcome(t *testing.T, run *iikanji.Run, want iikanji.Outcome, reason string) {
	t.Helper()
	if want == iikanji.Passed && run.Outcome == iikanji.Void {
		reason = ""
		want = iikanji.Void
	}
	if run.Outcome != want || !strings.Contains(strings.Join(run.Reasons, "; "), reason) {
		t.Errorf("%v %q, want %v with %q", run.Outcome, run.Reasons, want, reason)
	}
	if run.Version != iikanji.RunVersion || run.Scenario != "test" || run.Began.IsZero() {
		t.Errorf("incomplete run %+v", run)
	}
}

func TestRunPasses(t *testing.T) {
	var order []string
	sc := &script{
		prepare: func(ctx context.Context, s scenario.Session) error {
			order = append(order, "initialize")
			get(ctx, s, s.NewClient(scenario.ClientOptions{}), "/")
			s.Phase(scenario.Prepare)
			order = append(order, "prepare")
			s.Add(got, 1e6) // counts in the load phase only
			s.Say("hello %d", 1)
			return nil
		},
		load: users(4, func(ctx context.Context, s scenario.Session, c scenario.Client) { get(ctx, s, c, "/") }),
		validate: func(ctx context.Context, s scenario.Session) error {
			order = append(order, "validate")
			s.Gauge("g", "x", 7)
			return nil
		},
	}
	var progress []Progress
	var told []string
	run := runIt(t, sc, Options{Seed: 5, Load: 2 * time.Second, Progress: func(p Progress) { progress = append(progress, p) },
		OnPhase: func(p scenario.Phase, begins bool) { told = append(told, string(p)+" "+fmt.Sprint(begins)) }})
	wantOutcome(t, run, iikanji.Passed, "all checks passed")
	if s := strings.Join(told, " "); s != "prepare true prepare false load true load false validate true validate false" {
		t.Errorf("OnPhase: %s", s)
	}
	if !slices.Equal(order, []string{"initialize", "prepare", "validate"}) {
		t.Errorf("order %v", order)
	}
	st := run.Steps[0]
	if st.Count < 1 || st.Errors != 0 || st.Cut == 0 || st.P50 < 3*time.Millisecond || st.Max < st.P99 || st.Mean == 0 || st.Sent == 0 || st.Received == 0 {
		t.Errorf("step %+v", st)
	}
	// The load may end between an answer and its point, once for each of the 4 users.
	if p := run.Points[0]; p.Count > st.Count || p.Count < st.Count-4 || run.Score != float64(p.Count/10*2) || run.Raw != run.Score || p.Points != run.Score {
		t.Errorf("score %v for %+v of %d", run.Score, p, st.Count)
	}
	var names []string
	for _, p := range run.Phases {
		names = append(names, p.Phase)
	}
	if strings.Join(names, " ") != "initialize prepare load validate" {
		t.Errorf("phases %v", run.Phases)
	}
	if run.Took < 1990*time.Millisecond || run.Seed != 5 || run.Notes[0] != "hello 1" || run.Clean() != (run.Outcome == iikanji.Passed) {
		t.Errorf("run %+v", run)
	}
	g := run.Load
	if g.Requests != st.Count || g.CPUShare <= 0 || g.Cores < 1 || g.Dials != 4 || g.PeakConns < 4 || g.PeakPorts <= 0 || g.LagP99 <= 0 || g.Goroutines < 4 {
		t.Errorf("generator %+v", g)
	}
	if run.Usage[0].Who != "generator" || run.Usage[0].User <= 0 {
		t.Errorf("usage %+v", run.Usage)
	}
	if !slices.Contains(run.Gauges, iikanji.Gauge{Name: "actors at the end: user", Value: 4}) || !slices.Contains(run.Gauges, iikanji.Gauge{Name: "g", Unit: "x", Value: 7}) {
		t.Errorf("gauges %+v", run.Gauges)
	}
	if len(progress) == 0 || progress[0].Note != "hello 1" {
		t.Fatalf("progress %+v", progress)
	}
	if p := progress[0]; p.Phase != "load" || p.Left <= 0 || p.Requests < 0 || p.Score < 0 {
		t.Errorf("progress %+v", p)
	}
}

func TestRunCountsErrors(t *testing.T) {
	info := testInfo
	info.Table.PerTimeouts = 2
	info.Timeout = 20 * time.Millisecond
	url := web(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-r.Context().Done() // until the browser gives up
			return
		}
		fair(w, r)
	})
	sc := &script{info: info, load: func(_ context.Context, s scenario.Session) error {
		s.Go("user", func(ctx context.Context) {
			c := s.NewClient(scenario.ClientOptions{})
			for range 100 {
				s.Add(got, 1)
			}
			patient := s.NewClient(scenario.ClientOptions{Timeout: patience})
			get(ctx, s, patient, "/bad")
			get(ctx, s, patient, "/bad")
			for range 5 {
				get(ctx, s, c, "/slow")
			}
			s.Report(errors.New("no fault of a kind"))
			s.Report(nil)
			s.Report(ctx.Err())
			res, err := c.Do(ctx, &scenario.Request{Step: 1, Path: "/slow", Quiet: true})
			res.Release()
			if err == nil {
				t.Error("quiet requests fail too")
			}
			if s.Errors() != 3 || s.Timeouts() != 5 || s.Count(got) != 100 {
				t.Errorf("%d errors, %d timeouts, %d got", s.Errors(), s.Timeouts(), s.Count(got))
			}
		})
		return nil
	}}
	run := runIt(t, sc, Options{URL: url, Load: 5 * time.Second}) // all of it happens within it
	wantOutcome(t, run, iikanji.Passed, "3 errors and 5 timeouts")
	if run.Raw != 20 || run.Deducted != 3+2 || run.Score != 15 {
		t.Errorf("score %v − %v = %v", run.Raw, run.Deducted, run.Score)
	}
	if st := run.Steps[0]; st.Count != 7 || st.Errors != 7 || st.Timeouts != 5 || st.QuietTimeouts != 0 {
		t.Errorf("step %+v", st)
	}
	if st := run.Steps[1]; st.Count != 1 || st.Errors != 0 || st.Timeouts != 0 || st.QuietTimeouts != 1 {
		t.Errorf("quiet step %+v", st)
	}
	if len(run.Faults) != 3 || run.Faults[0].Check != "internal" || run.Faults[1].Kind != iikanji.FaultStatus || run.Faults[1].Count != 2 ||
		run.Faults[1].Example.Status != 500 || run.Faults[1].Example.Body != "body" || run.Faults[2].Count != 5 || run.Faults[2].Step != "get" {
		t.Errorf("faults %+v", run.Faults)
	}
}

// TestRunCountsInPercent: each error costs a share of the raw score, by its weight,
// and timeouts are errors.
func TestRunCountsInPercent(t *testing.T) {
	info := testInfo
	info.Table.PerError, info.Table.PercentPerError, info.Table.TimeoutErrors = 0, 1, true
	sc := &script{info: info, load: func(_ context.Context, s scenario.Session) error {
		s.Add(got, 10_000)
		s.Report(&scenario.Fault{Kind: iikanji.FaultTimeout, Step: -1})
		s.Report(scenario.Wrong(nil, "read", "wrong"))
		write := scenario.Wrong(nil, "write", "wrong")
		write.Weight = 10
		s.Report(write)
		if s.Errors() != 12 || s.Timeouts() != 0 {
			t.Errorf("%d errors, %d timeouts", s.Errors(), s.Timeouts())
		}
		return nil
	}}
	run := runIt(t, sc, Options{URL: web(t, fair)})
	if run.Raw != 2000 || run.Deducted != 240 {
		t.Errorf("score %v − %v, want 2000 − 240", run.Raw, run.Deducted)
	}
}

func TestRunFails(t *testing.T) {
	bad := users(2, func(ctx context.Context, s scenario.Session, c scenario.Client) { get(ctx, s, c, "/bad") })
	limited, atZero := testInfo, testInfo
	limited.Table.MaxErrors = 5
	atZero.Table.FailAtZero = true
	long := Options{Load: time.Minute}
	wrong := scenario.Wrong(nil, "order", "wrong order")
	for _, c := range []struct {
		name   string
		sc     *script
		o      Options
		reason string
		check  string // of a fatal fault
	}{
		{"too many errors", &script{info: limited, load: bad}, long, "more than 5 errors", ""},
		{"fail in load", &script{load: func(_ context.Context, s scenario.Session) error {
			s.Go("user", func(context.Context) { s.Fail(wrong) })
			return nil
		}}, long, "wrong order", "order"},
		{"load returns an error", &script{load: func(context.Context, scenario.Session) error { return wrong }}, long, "wrong order", "order"},
		{"panic in an actor", &script{load: func(_ context.Context, s scenario.Session) error {
			s.Go("user", func(context.Context) { panic("ouch") })
			return nil
		}}, long, "ouch", "panic"},
		{"panic in prepare", &script{prepare: func(context.Context, scenario.Session) error { panic("ouch") }}, long, "ouch", "panic"},
		{"prepare returns an error", &script{prepare: func(context.Context, scenario.Session) error { return wrong }}, long, "wrong order", "order"},
		{"prepare reports an error", &script{prepare: func(_ context.Context, s scenario.Session) error { s.Report(wrong); return nil }}, long, "1 errors in prepare", ""},
		{"prepare hangs", &script{prepare: func(ctx context.Context, _ scenario.Session) error { <-ctx.Done(); return ctx.Err() }},
			Options{PrepareTimeout: 50 * time.Millisecond}, "did not end within 50ms", "internal"},
		{"validate returns an error", &script{validate: func(context.Context, scenario.Session) error { return wrong }}, Options{}, "wrong order", "order"},
		{"a score of zero", &script{info: atZero}, Options{}, "not above 0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			run := runIt(t, c.sc, c.o)
			if took := time.Since(began); took > patience/2 { // the load of some is a minute
				t.Errorf("it took %v", took)
			}
			wantOutcome(t, run, iikanji.Failed, c.reason)
			if run.Score != 0 || run.Clean() {
				t.Errorf("score %v", run.Score)
			}
			if c.check != "" && (len(run.Faults) == 0 || !run.Faults[0].Fatal || run.Faults[0].Check != c.check) {
				t.Errorf("faults %+v", run.Faults)
			}
			if c.check == "panic" && (len(run.Warnings) == 0 || !strings.Contains(run.Warnings[0], "run_test.go")) {
				t.Errorf("no stack in %q", run.Warnings)
			}
		})
	}
}

// TestRunInterrupted: what was measured before Ctrl-C is kept.
func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := web(t, fair)
	var asked atomic.Int64
	sc := &script{load: users(2, func(ctx context.Context, s scenario.Session, c scenario.Client) {
		if asked.Add(1) == 20 {
			cancel()
		}
		get(ctx, s, c, "/")
	})}
	run, err := Run(ctx, sc, Options{URL: url, Load: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, run, iikanji.Interrupted, "of 1m0s of load")
	if !run.Partial || run.Steps[0].Count == 0 || run.Clean() {
		t.Errorf("%+v", run)
	}
	run, err = Run(ctx, sc, Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, run, iikanji.Interrupted, "before the load")
}

func TestRunWithoutLoad(t *testing.T) {
	sc := &script{prepare: func(ctx context.Context, s scenario.Session) error {
		get(ctx, s, s.NewClient(scenario.ClientOptions{}), "/")
		return nil
	}, load: func(context.Context, scenario.Session) error { return errors.New("called") }}
	run := runIt(t, sc, Options{NoLoad: true})
	wantOutcome(t, run, iikanji.Passed, "no load")
	if run.Steps[0].Count != 1 || run.Took != 0 {
		t.Errorf("%+v", run)
	}
}

// TestRunStuckActor: a warning names an actor that does not return, and the run ends.
func TestRunStuckActor(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	sc := &script{load: func(_ context.Context, s scenario.Session) error {
		s.Go("mule", func(context.Context) { <-stop })
		return nil
	}}
	run := runIt(t, sc, Options{})
	wantOutcome(t, run, iikanji.Passed, "")
	if len(run.Warnings) == 0 || !strings.Contains(run.Warnings[0], "1 mule") {
		t.Errorf("warnings %q", run.Warnings)
	}
}

// TestCutIsNoFault: a request cut by the end of the load is not a fault, in any
// state of the request.
func TestCutIsNoFault(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	url := web(t, func(w http.ResponseWriter, r *http.Request) {
		if f, ok := w.(http.Flusher); ok && r.URL.Path == "/half" {
			_, _ = w.Write([]byte("half"))
			f.Flush()
		}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	var faults atomic.Int64
	sc := &script{load: func(_ context.Context, s scenario.Session) error {
		one := s.NewClient(scenario.ClientOptions{MaxConns: 1, Timeout: time.Minute})
		for _, path := range []string{"/", "/half", "/"} { // one on the wire, others waiting for the connection
			s.Go("one", func(ctx context.Context) { get(ctx, s, one, path) })
		}
		own := s.NewClient(scenario.ClientOptions{Timeout: time.Minute})
		s.Go("own", func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, err := own.Do(ctx, &scenario.Request{Path: "/half"})
			if scenario.KindOf(err) != iikanji.FaultCut {
				faults.Add(1)
			}
			s.Report(fmt.Errorf("wrapped: %w", err))
		})
		return nil
	}}
	began := time.Now()
	run := runIt(t, sc, Options{URL: url, Load: 3 * time.Second}) // all requests begin within it
	wantOutcome(t, run, iikanji.Passed, "all checks passed")
	late := slices.ContainsFunc(run.Warnings, func(w string) bool { return strings.Contains(w, "did not return") })
	if took := time.Since(began); took > patience/2 || late || faults.Load() != 0 || len(run.Faults) != 0 {
		t.Errorf("took %v; %d other faults; %+v %q", took, faults.Load(), run.Faults, run.Warnings)
	}
	if st := run.Steps[0]; st.Count != 0 || st.Cut != 4 || st.Errors != 0 {
		t.Errorf("step %+v", st)
	}
}

// TestWritesEndAfterLoad: a write in flight at the end of the load is answered
// before the run goes on, so that no row appears after the next initialize. A read
// is cut at once. Both count as cut.
func TestWritesEndAfterLoad(t *testing.T) {
	readCut := make(chan struct{})
	var finished atomic.Int64
	url := web(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			<-r.Context().Done()
			close(readCut)
			return
		}
		<-readCut
		time.Sleep(50 * time.Millisecond)
		if r.Context().Err() == nil {
			finished.Add(1)
		}
	})
	var whenDone, kept atomic.Int64
	write := func(ctx context.Context, s scenario.Session) {
		c := s.NewClient(scenario.ClientOptions{})
		_, err := c.Do(ctx, &scenario.Request{Method: http.MethodPost, Path: "/", Step: 1})
		if scenario.KindOf(err) != iikanji.FaultCut {
			kept.Add(1)
		}
		s.Report(err)
	}
	sc := &script{load: func(_ context.Context, s scenario.Session) error {
		s.Go("read", func(ctx context.Context) { get(ctx, s, s.NewClient(scenario.ClientOptions{}), "/") })
		s.Go("write", func(ctx context.Context) { write(ctx, s) })
		s.Go("write with a deadline", func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			write(ctx, s)
		})
		return nil
	}, validate: func(context.Context, scenario.Session) error {
		whenDone.Store(finished.Load())
		return nil
	}}
	run := runIt(t, sc, Options{URL: url, Load: 3 * time.Second}) // both writes begin within it
	wantOutcome(t, run, iikanji.Passed, "all checks passed")
	if whenDone.Load() != 2 || kept.Load() != 0 || len(run.Faults) != 0 {
		t.Errorf("%d of 2 writes had ended, %d were no cut; %+v", whenDone.Load(), kept.Load(), run.Faults)
	}
	if r, w := run.Steps[0], run.Steps[1]; r.Cut != 1 || w.Cut != 2 || w.Count != 0 {
		t.Errorf("reads %+v, writes %+v", r, w)
	}
}

// TestEvery: due times are kept; passed ones are dropped and counted, or queued with Queue.
func TestEvery(t *testing.T) {
	var plain, queued, slow atomic.Int64
	sc := &script{load: func(_ context.Context, s scenario.Session) error {
		var last time.Time
		s.Every("plain", scenario.Arrivals{Period: 10 * time.Millisecond}, func(_ context.Context, due time.Time) {
			if !last.IsZero() && due.Sub(last)%(10*time.Millisecond) != 0 {
				t.Errorf("due times %v apart", due.Sub(last))
			}
			last = due
			plain.Add(1)
		})
		s.Every("slow", scenario.Arrivals{Period: 10 * time.Millisecond}, func(context.Context, time.Time) {
			time.Sleep(35 * time.Millisecond)
			slow.Add(1)
		})
		s.Every("queued", scenario.Arrivals{First: 5 * time.Millisecond, Period: 10 * time.Millisecond, Queue: true}, func(context.Context, time.Time) {
			if queued.Add(1) == 1 {
				time.Sleep(200 * time.Millisecond)
			}
		})
		return nil
	}}
	const load = 1500 * time.Millisecond
	run := runIt(t, sc, Options{Load: load})
	wantOutcome(t, run, iikanji.Passed, "")
	dropped := make(map[string]float64)
	for _, g := range run.Gauges {
		dropped[g.Name] = g.Value
	}
	n := float64(plain.Load()) + dropped["due times dropped: plain"]
	most := float64(run.Took/(10*time.Millisecond)) + 2 // the load phase itself may end late
	least := float64((load-run.Load.LagMax)/(10*time.Millisecond)) - 5
	if n < least || n > most || n < 2 {
		t.Errorf("plain: %v due times in %v of one per 10 ms, at most %v late", n, run.Took, run.Load.LagMax)
	}
	if d := dropped["due times dropped: slow"]; d < float64(slow.Load()-1)*2 || slow.Load() < 1 {
		t.Errorf("slow: %d served, %v dropped", slow.Load(), d)
	}
	if queued.Load() < 2 || dropped["due times dropped: queued"] != 0 {
		t.Errorf("queued: %d", queued.Load())
	}
}

// TestNoOmission: when a target stalls, all requests due meanwhile are late, not
// only the one in flight (no coordinated omission).
func TestNoOmission(t *testing.T) {
	const stall = 300 * time.Millisecond
	const want = 15
	var n, late atomic.Int64
	ctx, enough := context.WithTimeout(t.Context(), patience)
	defer enough()
	url := web(t, func(http.ResponseWriter, *http.Request) {
		if n.Add(1) == 1 {
			time.Sleep(stall)
		}
	})
	sc := &script{load: func(_ context.Context, s scenario.Session) error {
		c := s.NewClient(scenario.ClientOptions{})
		s.Every("arrival", scenario.Arrivals{Period: 10 * time.Millisecond, Queue: true}, func(ctx context.Context, due time.Time) {
			res, err := c.Do(ctx, &scenario.Request{Path: "/", Due: due})
			if err == nil && res.Took > stall/2 && late.Add(1) == want {
				enough()
			}
			if n.Load() > 10*stall.Milliseconds() { // many more requests than were due in the stall
				enough()
			}
			res.Release()
		})
		return nil
	}}
	run, err := Run(ctx, sc, Options{URL: url, Load: patience})
	if err != nil {
		t.Fatal(err)
	}
	if late.Load() < want || run.Steps[0].P50 == 0 {
		t.Errorf("%d requests were late by half of the stall, want the %d that were due then", late.Load(), want)
	}
}

// TestSameSeed: random numbers depend on the name and the seed only.
func TestSameSeed(t *testing.T) {
	draw := func(seed uint64, name string) uint64 {
		s, err := newSession(&script{}, Options{URL: "http://x", Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		s.Rand("other").Uint64()
		return s.Rand(name).Uint64()
	}
	first, again := draw(1, "a"), draw(1, "a")
	if first != again || first == draw(2, "a") || first == draw(1, "b") {
		t.Error("random numbers do not follow seed and name")
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{{URL: ""}, {URL: "example.com"}, {URL: "ftp://x"}, {URL: "http://"}, {URL: "http://x/path"}, {URL: "http://u:p@x"},
		{URL: "http://x", CPUs: []int{9999}}, {URL: "http://x", CPUs: []int{-1}}} {
		if _, err := Run(t.Context(), &script{}, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestPin: the generator runs on its cores only, and Run restores the old mask.
func TestPin(t *testing.T) {
	before, err := allowed()
	if err != nil {
		t.Fatal(err)
	}
	core := strings.SplitN(strings.SplitN(cpuList(before), ",", 2)[0], "-", 2)[0]
	var n int
	if _, err := fmt.Sscan(core, &n); err != nil {
		t.Fatal(err)
	}
	procs := runtime.GOMAXPROCS(0)
	sc := &script{load: func(context.Context, scenario.Session) error {
		if now, err := allowed(); err != nil || cpuList(now) != core || runtime.GOMAXPROCS(0) != 1 {
			t.Errorf("cores %s, GOMAXPROCS %d, %v", cpuList(now), runtime.GOMAXPROCS(0), err)
		}
		return nil
	}}
	run := runIt(t, sc, Options{CPUs: []int{n}})
	if run.Place.Generator != core || run.Load.Cores != 1 {
		t.Errorf("placement %+v, cores %d", run.Place, run.Load.Cores)
	}
	if now, err := allowed(); err != nil || cpuList(now) != cpuList(before) || runtime.GOMAXPROCS(0) != procs {
		t.Errorf("cores %s, GOMAXPROCS %d afterwards", cpuList(now), runtime.GOMAXPROCS(0))
	}
}

// TestLeavesNothing: a run leaves no goroutine, connection or timer behind.
func TestLeavesNothing(t *testing.T) {
	fds := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	url := serveElsewhere(t)
	sc := &script{load: func(_ context.Context, s scenario.Session) error {
		for range 20 {
			s.Go("careless", func(ctx context.Context) {
				c := s.NewClient(scenario.ClientOptions{}) // never closed
				for ctx.Err() == nil {
					get(ctx, s, c, "/")
				}
			})
		}
		return nil
	}}
	runIt(t, sc, Options{URL: url}) // creates what is created once per process
	goroutines, files := runtime.NumGoroutine(), fds()
	runIt(t, sc, Options{URL: url, SamplesDir: t.TempDir(), Progress: func(Progress) {}})
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if runtime.NumGoroutine() <= goroutines && fds() <= files {
			return
		}
	}
	t.Errorf("%d goroutines and %d descriptors, before %d and %d", runtime.NumGoroutine(), fds(), goroutines, files)
}

// TestOutOfDescriptors: a generator without free descriptors is the limit.
func TestOutOfDescriptors(t *testing.T) {
	url := serveElsewhere(t)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	sc := &script{load: func(ctx context.Context, s scenario.Session) error {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return err
		}
		few := unix.Rlimit{Cur: uint64(len(list) + 10), Max: old.Max}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
			return err
		}
		return users(40, func(ctx context.Context, s scenario.Session, c scenario.Client) {
			get(ctx, s, c, "/")
			scenario.Sleep(ctx, 20*time.Millisecond)
		})(ctx, s)
	}}
	run := runIt(t, sc, Options{URL: url})
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, run, iikanji.Void, "descriptor")
	if run.Load.DialFaults == 0 || run.Faults[0].Kind != iikanji.FaultDial {
		t.Errorf("%+v %+v", run.Load, run.Faults)
	}
}

// TestThrottledUnderLoad: the run is void when the generator lacks CPU time, because of its
// own work or another process.
func TestThrottledUnderLoad(t *testing.T) {
	tier.Slow(t)
	set, err := allowed()
	if err != nil {
		t.Fatal(err)
	}
	core := 0
	for !set.IsSet(core) {
		core++
	}
	load := users(16, func(ctx context.Context, s scenario.Session, c scenario.Client) { get(ctx, s, c, "/") })
	t.Run("by itself", func(t *testing.T) {
		sc := &script{load: func(ctx context.Context, s scenario.Session) error {
			s.Go("busy", func(ctx context.Context) {
				for n := 0; ctx.Err() == nil; n++ {
				}
			})
			return load(ctx, s)
		}}
		run := runIt(t, sc, Options{CPUs: []int{core}, Load: 1500 * time.Millisecond})
		wantOutcome(t, run, iikanji.Void, "the load generator was the limit")
		if !run.Load.Void || run.Load.Why == "" || run.Clean() {
			t.Errorf("%+v", run.Load)
		}
	})
	t.Run("by strangers", func(t *testing.T) {
		url := serveElsewhere(t)
		for range 4 {
			busy := exec.Command("taskset", "-c", itoa(core), "sh", "-c", "while :; do :; done")
			if err := busy.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = busy.Process.Kill(); _ = busy.Wait() })
		}
		run := runIt(t, &script{load: load}, Options{URL: url, CPUs: []int{core}, Load: 1500 * time.Millisecond})
		wantOutcome(t, run, iikanji.Void, "woke up")
	})
}

// serveElsewhere starts the target in another process, this test binary with an
// environment variable, so that throttling the generator does not affect it.
func serveElsewhere(t *testing.T) (url string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "IIKANJI_TEST_SERVE=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := fmt.Fscan(out, &url); err != nil {
		t.Fatal(err)
	}
	return url
}
