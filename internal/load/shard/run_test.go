package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const testVersion = "test"

// TestMain lets the test's binary be a generator.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "generator" {
		if err := Generate(context.Background(), os.Stdin, os.Stdout, testVersion, makeOpen); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// An open scenario sends independent arrivals at a rate, and a schedule beside them. Its faults
// are those of the site.
type open struct {
	part scenario.Part
	rate float64 // arrivals per second, of all shards
}

// The steps and events of open.
const (
	stepArrival scenario.Step = iota
	stepTick
)

const (
	eventArrival scenario.Event = iota
	eventTick
)

// tick is the period of the schedule.
const tick = 20 * time.Millisecond

func (o *open) Info() scenario.Info {
	return scenario.Info{Name: "open", Steps: []string{"arrival", "tick"}, Load: time.Second, Timeout: time.Minute,
		Table: scenario.Table{Events: []scenario.EventRule{{Name: "arrivals", Points: 2, Per: 3}, {Name: "ticks", Points: 1}}, PerError: 1, MaxErrors: 5}}
}

func (o *open) Shard(p scenario.Part) error {
	if p.Of > 9 {
		return errors.New("too many")
	}
	o.part = p
	return nil
}

func (o *open) Prepare(ctx context.Context, s scenario.Session) error {
	return o.get(ctx, s, s.NewClient(scenario.ClientOptions{}), stepArrival, "/initialize")
}

func (o *open) Join(_ context.Context, s scenario.Session) error {
	if strings.HasSuffix(os.Getenv("JOIN"), "refused") {
		return scenario.Wrong(nil, "join", "refused")
	}
	return nil
}

// get sends one request; another answer than 200 is a fault.
func (o *open) get(ctx context.Context, s scenario.Session, c scenario.Client, step scenario.Step, path string) error {
	res, err := c.Do(ctx, &scenario.Request{Step: step, Path: path})
	if err != nil {
		return err
	}
	defer res.Release()
	switch {
	case res.Status == http.StatusTeapot:
		err := scenario.Wrong(res, "teapot", "status %d", res.Status)
		s.Fail(err)
		return err
	case res.Status != http.StatusOK:
		return scenario.Wrong(res, "status", "status %d", res.Status)
	}
	return nil
}

func (o *open) Load(ctx context.Context, s scenario.Session) error {
	r := s.Rand(fmt.Sprintf("arrivals %d", o.part.Number))
	s.Every("ticks", o.part.Thin(scenario.Arrivals{Period: tick, Queue: true}), func(ctx context.Context, _ time.Time) {
		o.count(ctx, s, s.NewClient(scenario.ClientOptions{}), stepTick, "/tick", eventTick)
	})
	began := time.Now()
	for at := range arrivals(r, o.part.Rate(o.rate)) {
		if !scenario.Sleep(ctx, time.Until(began.Add(at))) {
			return nil
		}
		s.Go("arrival", func(ctx context.Context) {
			o.count(ctx, s, s.NewClient(scenario.ClientOptions{}), stepArrival, "/arrival", eventArrival)
		})
	}
	return nil
}

// arrivals are the times of a Poisson process.
func arrivals(r *rand.Rand, rate float64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for at := 0.0; ; {
			if at += r.ExpFloat64() / rate; !yield(time.Duration(at * float64(time.Second))) {
				return
			}
		}
	}
}

func (o *open) count(ctx context.Context, s scenario.Session, c scenario.Client, step scenario.Step, path string, e scenario.Event) {
	defer c.Close()
	if err := o.get(ctx, s, c, step, path); err != nil {
		s.Report(err)
		return
	}
	s.Add(e, 1)
}

// A site counts the requests of a run.
type site struct {
	*httptest.Server
	initialized, answered atomic.Int64
	bad                   atomic.Int64 // answers of this status from now on; 0 for none
	takes                 atomic.Int64 // how long an answer takes, as a time.Duration
}

func newSite(t *testing.T) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/initialize" {
			s.initialized.Add(1)
			return
		}
		s.answered.Add(1)
		time.Sleep(time.Duration(s.takes.Load()))
		if bad := s.bad.Load(); bad != 0 {
			w.WriteHeader(int(bad))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

const testRate = 120

func makeOpen(_ context.Context, j *Job) (scenario.Scenario, bench.Options, error) {
	return &open{rate: testRate}, bench.Options{URL: j.URL, Seed: j.Seed, Load: j.Load}, nil
}

// A process is a generator that is this binary.
type process struct {
	cmd *exec.Cmd
	io.Reader
	in   io.WriteCloser
	once sync.Once
}

func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

func (p *process) Close() error {
	p.once.Do(func() {
		_ = p.in.Close()
		_ = p.cmd.Wait()
	})
	return nil
}

// starter starts generators, and keeps them for the test.
type starter struct {
	mu  sync.Mutex
	all []*process
	env []string
}

func (s *starter) start(context.Context, int) (Conn, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "generator")
	cmd.Stderr, cmd.Env = os.Stderr, append(os.Environ(), s.env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	p := &process{cmd: cmd, Reader: out, in: in}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, p)
	return p, err
}

// run makes a run with some generators.
func (s *site) run(t *testing.T, generators int, load time.Duration, st *starter, onLoad func()) *iikanji.Run {
	t.Helper()
	j := Job{Version: testVersion, Target: "open", URL: s.URL, Seed: 7, Load: load}
	first := bench.Options{URL: s.URL, Seed: 7, Load: load, OnPhase: func(p scenario.Phase, begins bool) {
		if p == scenario.Load && begins && onLoad != nil {
			onLoad()
		}
	}}
	run, err := Run(t.Context(), &open{rate: testRate}, Options{Job: j, Generators: generators, Start: st.start, First: first, Ahead: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// passed makes runs until one passes: a busy machine makes some void. One that does anything else
// fails the test.
func (s *site) passed(t *testing.T, generators int, load time.Duration) *iikanji.Run {
	t.Helper()
	for range 5 {
		s.initialized.Store(0)
		s.answered.Store(0)
		run := s.run(t, generators, load, &starter{}, nil)
		if whole(t, run) && run.Outcome == iikanji.Passed {
			return run
		}
	}
	t.Fatal("none of five runs passed")
	return nil
}

// whole requires a run that passed, or that a busy machine made void, which changes no count. It is
// false if the machine was so busy that a generator was given up.
func whole(t *testing.T, run *iikanji.Run) bool {
	t.Helper()
	if run.Outcome == iikanji.Passed {
		return true
	}
	lost := strings.Contains(run.Load.Why, "lost")
	if run.Outcome != iikanji.Void || lost && !strings.Contains(run.Load.Why, "no message") && !strings.Contains(run.Load.Why, "no answer") {
		t.Fatalf("the run is %s: %v", run.Outcome, run.Reasons)
	}
	t.Logf("the machine was busy: %v", run.Reasons)
	return !lost
}

// TestWhole: what three generators measure is one run: each request is counted once, and the score
// is computed once.
func TestWhole(t *testing.T) {
	s := newSite(t)
	s.takes.Store(int64(25 * time.Millisecond)) // next to it, a busy machine's delays do not make a run void
	run := s.passed(t, 3, time.Second)
	if s.initialized.Load() != 1 {
		t.Errorf("the site was initialized %d times", s.initialized.Load())
	}
	got, ticks := run.Points[eventArrival].Count, run.Points[eventTick].Count
	var answers, cut int64
	for _, step := range run.Steps {
		answers, cut = answers+step.Count, cut+step.Cut
	}
	if answered := s.answered.Load(); answers != got+ticks || answered < answers || answered > answers+cut {
		t.Errorf("the site answered %d, the run has %d answers and %d cut, %d arrivals and %d ticks", answered, answers, cut, got, ticks)
	}
	want := float64(got/3)*2 + float64(ticks)
	if run.Score != want || run.Raw != want {
		t.Errorf("score %g of %g, want %g: three sums that were rounded each would be less", run.Score, run.Raw, want)
	}
	// A busy machine sends fewer until the end of the load, never more.
	if most := due(7, 3, time.Second); got > int64(most) || ticks > int64(time.Second/tick)+1 {
		t.Errorf("%d arrivals of %d and %d ticks: some belong to several generators", got, most, ticks)
	}
	if run.Load.Requests != answers || run.Load.Dials < answers {
		t.Errorf("generator %+v", run.Load)
	}
}

// due is how many arrivals of some shards are due within a load.
func due(seed uint64, shards int, load time.Duration) (n int) {
	for i := range shards {
		h := fnv.New64a()
		fmt.Fprintf(h, "arrivals %d", i) // as Session.Rand has it
		for at := range arrivals(rand.New(rand.NewPCG(seed, h.Sum64())), (scenario.Part{Number: i, Of: shards}).Rate(testRate)) {
			if at >= load {
				break
			}
			n++
		}
	}
	return n
}

// TestPoisson: the open arrivals of three generators are those of one Poisson process: over 400
// seeds their mean and their variance are, and none is a sum that cannot be.
func TestPoisson(t *testing.T) {
	const seeds, load = 400, 2 * time.Second
	mean := testRate * load.Seconds()
	for _, shards := range []int{1, 3} {
		var sum, square float64
		for seed := range uint64(seeds) {
			n := float64(due(seed, shards, load))
			sum, square = sum+n, square+(n-mean)*(n-mean)
			if math.Abs(n-mean) > 5*math.Sqrt(mean) {
				t.Errorf("%d shards, seed %d: %g arrivals, want %g", shards, seed, n, mean)
			}
		}
		if got, sd := sum/seeds, math.Sqrt(mean/seeds); math.Abs(got-mean) > 4*sd {
			t.Errorf("%d shards: %g arrivals on average, want %g ± %.1f", shards, got, mean, 4*sd)
		}
		if got, sd := square/seeds, mean*math.Sqrt(2.0/seeds); math.Abs(got-mean) > 4*sd {
			t.Errorf("%d shards: a variance of %g, want %g ± %.0f", shards, got, mean, 4*sd)
		}
	}
}

// TestKilled: a generator that is killed in the load makes the run void, without a score, and ends
// it: the load would last an hour.
func TestKilled(t *testing.T) {
	s, st := newSite(t), &starter{}
	run := s.run(t, 3, time.Hour, st, func() {
		go func() {
			for s.answered.Load() < 20 {
				time.Sleep(5 * time.Millisecond)
			}
			_ = st.all[1].cmd.Process.Kill()
		}()
	})
	if run.Outcome != iikanji.Void || run.Score != 0 || run.Raw != 0 || !strings.Contains(strings.Join(run.Reasons, " "), "was lost") {
		t.Errorf("the run is %s with %g: %v", run.Outcome, run.Score, run.Reasons)
	}
}

// TestFatal: a fatal fault ends the load of all and fails the run; so do errors that are too many
// only together.
func TestFatal(t *testing.T) {
	for status, want := range map[int64]string{http.StatusTeapot: "teapot", http.StatusInternalServerError: "more than 5 errors"} {
		s := newSite(t)
		s.bad.Store(status)
		run := s.run(t, 3, time.Hour, &starter{}, nil)
		if run.Outcome != iikanji.Failed || run.Score != 0 || !strings.Contains(strings.Join(run.Reasons, " "), want) {
			t.Errorf("%d: the run is %s with %g: %v", status, run.Outcome, run.Score, run.Reasons)
		}
		seen := map[string]bool{}
		for _, f := range run.Faults {
			key := fmt.Sprint(f.Kind, f.Step, f.Check)
			if seen[key] {
				t.Errorf("the fault %s is there twice", key)
			}
			seen[key] = true
		}
	}
}

// TestNoBegin: a generator that cannot prepare, is of another version, or cannot be started, ends
// the run before its load.
func TestNoBegin(t *testing.T) {
	s := newSite(t)
	run := s.run(t, 2, time.Minute, &starter{env: []string{"JOIN=refused"}}, nil)
	if run.Outcome != iikanji.Failed || s.answered.Load() > 0 {
		t.Errorf("a generator that cannot prepare: %s %v, %d answered", run.Outcome, run.Reasons, s.answered.Load())
	}
	j := Job{Version: "another", URL: s.URL, Load: time.Minute}
	o := Options{Job: j, Generators: 2, Start: (&starter{}).start, First: bench.Options{URL: s.URL, Load: time.Minute}, Ahead: time.Millisecond}
	run, err := Run(t.Context(), &open{rate: testRate}, o)
	if err != nil || run.Outcome != iikanji.Void || !strings.Contains(run.Load.Why, "version") || s.answered.Load() > 0 {
		t.Errorf("another version: %+v, %v", run, err)
	}
	o.Start = func(context.Context, int) (Conn, error) { return nil, errors.New("no such machine") }
	if _, err = Run(t.Context(), &open{}, o); err == nil || !strings.Contains(err.Error(), "no such machine") {
		t.Errorf("no machine: %v", err)
	}
	o.Generators = 10
	if _, err = Run(t.Context(), &open{}, o); err == nil {
		t.Error("more parts than the scenario has were taken")
	}
	if _, err = Run(t.Context(), scenario.ChecksOnly(&open{}), o); !errors.Is(err, bench.ErrNotShardable) {
		t.Errorf("a scenario that cannot be divided: %v", err)
	}
}

// TestInterrupted: a run that its caller ends is interrupted, and has no generators left.
func TestInterrupted(t *testing.T) {
	s, st := newSite(t), &starter{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := bench.Options{URL: s.URL, Load: time.Minute, OnPhase: func(p scenario.Phase, begins bool) {
		if p == scenario.Load && begins {
			time.AfterFunc(200*time.Millisecond, cancel)
		}
	}}
	run, err := Run(ctx, &open{rate: testRate}, Options{Job: Job{Version: testVersion, URL: s.URL, Load: time.Minute}, Generators: 2, Start: st.start, First: first, Ahead: 100 * time.Millisecond})
	if err != nil || run.Outcome == iikanji.Passed || run.Score != 0 && run.Outcome != iikanji.Interrupted {
		t.Errorf("%+v, %v", run, err)
	}
	for _, p := range st.all {
		if p.cmd.ProcessState == nil {
			t.Error("a generator is left")
		}
	}
}

// A mute is a generator that never says a word, as behind an ssh that asks for a password.
type mute struct {
	closed chan struct{}
	once   sync.Once
}

func (m *mute) Read([]byte) (int, error)    { <-m.closed; return 0, io.EOF }
func (m *mute) Write(b []byte) (int, error) { return len(b), nil }
func (m *mute) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// TestMute: a run that is interrupted, or whose first generator fails, does not wait for a generator
// that never began.
func TestMute(t *testing.T) {
	for name, want := range map[string]iikanji.Outcome{"interrupted": iikanji.Void, "failed": iikanji.Failed} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := Options{Job: Job{Version: testVersion, URL: s.URL, Load: time.Minute}, Generators: 3, First: bench.Options{URL: s.URL, Load: time.Minute}, grace: 10 * time.Millisecond}
			o.Start = func(context.Context, int) (Conn, error) {
				if name == "interrupted" {
					time.AfterFunc(50*time.Millisecond, cancel)
				}
				return &mute{closed: make(chan struct{})}, nil
			}
			if name == "failed" {
				o.First.URL = "http://127.0.0.1:1" // nobody listens there
			}
			over := make(chan *iikanji.Run, 1)
			go func() {
				run, err := Run(ctx, &open{rate: testRate}, o)
				if err != nil {
					t.Error(err)
				}
				over <- run
			}()
			select {
			case run := <-over:
				if run != nil && (run.Outcome != want || run.Score != 0) {
					t.Errorf("the run is %s: %v", run.Outcome, run.Reasons)
				}
			case <-time.After(patience / 3):
				t.Fatal("the run waits for a generator that never began")
			}
		})
	}
}

// TestLines: a message that is too long, or no message, ends a stream.
func TestLines(t *testing.T) {
	for name, text := range map[string]string{"long": strings.Repeat("x", maxMessage+2), "junk": "{\n", "end": `{"ready":true}`} {
		var u up
		if err := newStream(strings.NewReader(text), io.Discard).receive(&u); err == nil {
			t.Errorf("%s was taken as %+v", name, u)
		}
	}
	var out bytes.Buffer
	if err := newStream(nil, &out).send(up{Ready: true}); err != nil {
		t.Fatal(err)
	}
	var u up
	if err := newStream(&out, nil).receive(&u); err != nil || !u.Ready {
		t.Errorf("%+v, %v", u, err)
	}
}

// FuzzReceive: no message of a generator panics the first one.
func FuzzReceive(f *testing.F) {
	f.Add([]byte(`{"ping":true}` + "\n" + `{"counts":{"events":[1,2],"errors":-1}}` + "\n" + `{"measured":{"steps":[{"Latency":"AQ=="}]}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		x := &running{o: &Options{Generators: 2}, group: newGroup(2, 0)}
		s := newStream(bytes.NewReader(text), io.Discard)
		x.serve(1, s, &process{in: nopCloser{}, cmd: &exec.Cmd{}})
		info := (&open{}).Info()
		_, _ = bench.Merge(info, 1, time.Second, x.parts(), x.lostWhy())
	})
}

type nopCloser struct{}

func (nopCloser) Write(p []byte) (int, error) { return len(p), nil }
func (nopCloser) Close() error                { return nil }
