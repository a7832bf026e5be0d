package arenatest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// WorkGauge is the gauge in which every arena's benchmarker reports the work that
// its seed offers. The value is a digest: equal work gives an equal digest.
const WorkGauge = "offered work (digest)"

// FaultClock is the speed of the pauses in runs with planted faults, for arenas whose virtual
// users mostly wait.
const FaultClock = 10

// Opt holds the suite's options.
type Opt struct {
	Load  time.Duration // duration for the untouched app; 0 means 6 s
	Clock float64       // clock rate of the runs with planted faults; 0 means the arena's own
	// First is the clock rate of the run of the untouched app; 0 means the arena's own.
	First float64
	// Again is the clock rate of the runs that repeat initialize and compare the
	// offered work; 0 means the arena's own.
	Again float64
	// Ease lists edits that make the app fast enough for a short load to reach every
	// check a few times. The faults are planted into the eased app, and it gets the runs
	// that compare the offered work, which no answer changes.
	Ease   []Edit
	Faults []Fault
	// Model starts an app in memory that gives the answers of the arena's app, on the data of
	// the benchmarker in a folder. Faults with hooks are then planted into such apps, several
	// at once, and only those with edits into the app on its servers. It may be nil.
	Model func(data string) (url string, stop func(), err error)
	// Further tests use the untouched app at a URL, and the folder of the
	// benchmarker's data. It may be nil.
	Further func(t *testing.T, url, data string)
	// OnStack are further tests of the untouched app that need its servers, too. They share
	// the stack with the suite. It may be nil.
	OnStack func(t *testing.T, s *stack.Stack)
	// Cheats are faults that a search could take for speed. Each is offered as a
	// proposal, tried, judged and undone. They need hooks.
	Cheats []Fault
}

// A suite holds an arena that is up.
type suite struct {
	arena *arena.Arena
	opt   Opt
	stack *stack.Stack
	proxy *Proxy
	built map[string][]byte // of each file that was edited: the text that the services run
}

// Suite runs the conformance suite on an arena. The test's TestMain must call
// [stack.MaybeSupervise] first, because the stack's supervisor is the same binary.
func Suite(t *testing.T, name string, o Opt) {
	a, ok := arena.Find(name)
	if !ok {
		t.Fatalf("there is no arena %s", name)
	}
	if o.Load == 0 {
		o.Load = 6 * time.Second
	}
	s := &suite{arena: a, opt: o, built: map[string][]byte{}}
	s.up(t)
	var work float64
	t.Run("untouched", func(t *testing.T) { work = s.untouched(t) })
	t.Run("again", s.again)
	if o.Further != nil {
		t.Run("further", func(t *testing.T) { o.Further(t, s.direct(), s.stack.Data()) })
	}
	if o.OnStack != nil {
		t.Run("on the stack", func(t *testing.T) { o.OnStack(t, s.stack) })
	}
	if len(o.Ease) > 0 {
		defer s.edit(t, o.Ease)()
	}
	t.Run("same work", func(t *testing.T) { s.sameWork(t, work) })
	s.faults(t)
	s.cheats(t)
}

// up starts the arena in a folder of its own.
func (s *suite) up(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "iikanji-arena-")
	if err != nil {
		t.Fatal(err)
	}
	// If root runs the test, the services run as another user, who needs access to the
	// folder.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if s.stack, err = stack.Up(ctx, s.arena, stack.Options{Dir: filepath.Join(dir, "stack")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		if err := s.stack.Down(ctx); err != nil {
			t.Error(err)
		}
	})
	if s.proxy, err = NewProxy(s.stack.Places().URL()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.proxy.Close)
}

// A test is one run of the benchmarker.
type test struct {
	url   string
	seed  uint64
	load  time.Duration // 0 means the checks only
	clock float64
	set   arena.Values
	// until ends the load [afterFault] exchanges after the first fault for which it
	// returns true. It may be nil. The load must go through the proxy.
	until func(f *iikanji.Fault) bool
	// untilWork ends the load once the scenario has reported its work.
	untilWork bool
}

func (s *suite) run(t *testing.T, o test) *iikanji.Run {
	t.Helper()
	s.settle(t)
	return s.runBehind(t, s.proxy, o)
}

// runBehind runs the benchmarker against the app behind a proxy.
func (s *suite) runBehind(t *testing.T, proxy *Proxy, o test) *iikanji.Run {
	t.Helper()
	sc, err := s.arena.Scenario(arena.Options{Data: s.stack.Data(), Here: s.stack, NoLoad: o.load == 0, Clock: o.clock, Set: o.set,
		Addresses: []string{strings.TrimPrefix(strings.TrimPrefix(proxy.target, "http://"), "https://")}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.load+2*time.Minute)
	defer cancel()
	if err := proxy.Quiet(ctx); err != nil {
		t.Fatal(err)
	}
	proxy.SetPhase(scenario.Prepare)
	if o.load > 0 {
		end := sync.OnceFunc(func() { proxy.CountDown(afterFault, cancel) })
		w := &watched{Scenario: sc, proxy: proxy, until: o.until, end: end}
		if o.untilWork {
			w.worked = cancel
		}
		sc = w
	}
	run, err := bench.Run(ctx, sc, bench.Options{URL: o.url, Seed: o.seed, Load: o.load, InsecureTLS: true})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (s *suite) direct() string { return s.stack.Places().URL() }

// untouched checks that the unchanged app passes, and returns the digest of its
// work.
func (s *suite) untouched(t *testing.T) float64 {
	var run *iikanji.Run
	for range voidTries { // timeouts of a busy machine may fail a run, or cost all of its score
		run = s.run(t, test{url: s.direct(), seed: 1, load: s.opt.Load, clock: s.opt.First})
		if !new(Fault).late(run) || run.Outcome != iikanji.Failed && run.Raw > run.Deducted {
			break
		}
	}
	t.Logf("score %.0f in %v: %v", run.Score, s.opt.Load, run.Reasons)
	for _, f := range run.Faults {
		if f.Kind != iikanji.FaultTimeout { // timeouts happen with a slow app on a busy machine
			t.Errorf("fault %s: %s: %+v", describe(&f), f.Message, f.Example)
		}
	}
	if run.Outcome == iikanji.Failed || run.Outcome == iikanji.Interrupted {
		t.Errorf("the run %s: %v", run.Outcome, run.Reasons)
	}
	if run.Raw <= run.Deducted {
		t.Errorf("a score of %g − %g", run.Raw, run.Deducted)
	}
	return s.work(t, run)
}

// work returns the digest of the work that a run offered.
func (s *suite) work(t *testing.T, run *iikanji.Run) float64 {
	t.Helper()
	for _, g := range run.Gauges {
		if g.Name == WorkGauge {
			return g.Value
		}
	}
	t.Fatalf("no gauge %q in the run", WorkGauge)
	return 0
}

// again calls initialize twice more: after a load, and after no load. It reports
// the duration; the only limit is the arena's own.
func (s *suite) again(t *testing.T) {
	for range 2 {
		var run *iikanji.Run
		for range voidTries {
			if run = s.run(t, test{url: s.direct(), seed: 1, clock: s.opt.Again}); !new(Fault).late(run) {
				break
			}
		}
		if run.Outcome != iikanji.Passed {
			t.Errorf("the checks %s: %v %+v", run.Outcome, run.Reasons, run.Faults)
		}
		for _, p := range run.Phases {
			t.Logf("%s took %v", p.Phase, p.Took.Round(time.Millisecond))
			if p.Phase == string(scenario.Initialize) && p.Took > s.arena.InitializeTimeout {
				t.Errorf("initialize took %v, the rules allow %v", p.Took, s.arena.InitializeTimeout)
			}
		}
	}
}

// sameWork checks that the same seed offers the same work as before, and that
// another seed offers other work.
func (s *suite) sameWork(t *testing.T, work float64) {
	offered := func(seed uint64) float64 {
		return s.work(t, s.run(t, test{url: s.direct(), seed: seed, load: time.Second, clock: s.opt.Again, untilWork: true}))
	}
	same, other := offered(1), offered(2)
	if same != work || other == work {
		t.Errorf("work of seed 1: %.0f and %.0f, of seed 2: %.0f", work, same, other)
	}
}

// A run with a planted fault under load ends afterFault exchanges after the first
// wanted fault, so that consequences of the fault are seen too, on a machine of any
// speed. A fault that is not caught within faultDeadline counts as missed: every
// fault is met within seconds, so only a dead machine misses it.
const (
	afterFault    = 300
	faultDeadline = 5 * time.Minute
)

// memoryAtOnce is how many apps in memory have a planted fault at once: more than there are
// cores, because their runs mostly wait for times of the contest.
const memoryAtOnce = 5

// voidTries limits how often a run is repeated that is void or had a timeout. On a busy
// machine the generator is the limit, or the app is late, and requests that were not
// sent or not answered were not checked.
const voidTries = 4

// faults plants one fault after another, or several at once into models, and prints what
// caught each.
func (s *suite) faults(t *testing.T) {
	caught := make([]string, len(s.opt.Faults))
	t.Run("in memory", func(t *testing.T) {
		var all sync.WaitGroup
		free := make(chan struct{}, memoryAtOnce)
		for i := range s.opt.Faults {
			if p := &s.opt.Faults[i]; s.inMemory(p) {
				free <- struct{}{}
				all.Go(func() {
					defer func() { <-free }()
					t.Run("fault: "+p.Name, func(t *testing.T) { caught[i] = s.catch(t, p) })
				})
			}
		}
		all.Wait()
	})
	for i := range s.opt.Faults {
		if p := &s.opt.Faults[i]; !s.inMemory(p) {
			t.Run("fault: "+p.Name, func(t *testing.T) { caught[i] = s.catch(t, p) })
		}
	}
	var table strings.Builder
	for i, p := range s.opt.Faults {
		fmt.Fprintf(&table, "\n  %-44s %s", p.Name, cmp.Or(caught[i], "not caught"))
	}
	t.Logf("%d planted faults and what caught each:%s", len(s.opt.Faults), table.String())
}

// inMemory reports whether a fault is planted into an app in memory.
func (s *suite) inMemory(p *Fault) bool { return s.opt.Model != nil && p.Spoil != nil }

// catch plants a fault until a run proves something, and returns what caught it.
func (s *suite) catch(t *testing.T, p *Fault) (caught string) {
	t.Helper()
	var wrong []string
	for range voidTries {
		run := s.plant(t, p)
		if caught, wrong = p.verdict(run); len(wrong) == 0 || run.Outcome != iikanji.Void && !p.late(run) {
			break // a void run proves neither that a check fails nor that it cannot
		}
	}
	if len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
	return caught
}

// plant runs the benchmarker against a planted fault.
func (s *suite) plant(t *testing.T, p *Fault) *iikanji.Run {
	t.Helper()
	if (p.Spoil == nil) == (len(p.Edits) == 0) {
		t.Fatal("BUG: a fault needs either a hook or edits")
	}
	o := test{seed: 1, clock: s.opt.Clock, set: p.Set}
	if p.UnderLoad {
		o.load, o.until = faultDeadline, func(f *iikanji.Fault) bool { return anyMatches(p.Want, f) }
	}
	if s.inMemory(p) {
		return s.plantInMemory(t, p, o)
	}
	o.url = s.proxy.URL()
	if p.Spoil != nil {
		s.proxy.Spoil(p.Spoil())
		defer s.proxy.Spoil(nil)
	} else {
		defer s.edit(t, p.Edits)()
	}
	return s.run(t, o)
}

// plantInMemory runs the benchmarker against a model of its own with a fault.
func (s *suite) plantInMemory(t *testing.T, p *Fault, o test) *iikanji.Run {
	t.Helper()
	url, stop, err := s.opt.Model(s.stack.Data())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	proxy, err := NewProxy(url)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	proxy.Spoil(p.Spoil())
	o.url = proxy.URL()
	return s.runBehind(t, proxy, o)
}

// edit breaks the app's source and returns a function that restores it. The
// services get the source of the moment before the next run, see settle.
func (s *suite) edit(t *testing.T, edits []Edit) (mend func()) {
	t.Helper()
	was := map[string][]byte{}
	restore := func() {
		for path, text := range was {
			write(t, path, text)
		}
	}
	for _, e := range edits {
		path := s.source(e.File)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), e.Old); n != 1 {
			t.Fatalf("BUG: %q is %d times in %s", e.Old, n, e.File)
		}
		if _, seen := was[path]; !seen {
			was[path] = text
		}
		if _, seen := s.built[e.File]; !seen {
			s.built[e.File] = text
		}
		write(t, path, []byte(strings.Replace(string(text), e.Old, e.New, 1)))
	}
	return restore
}

func (s *suite) source(file string) string { return filepath.Join(s.stack.Places().Webapp, file) }

// settle builds and restarts the services if the source is not the one that they
// run. Between two edits the source is not built without them.
func (s *suite) settle(t *testing.T) {
	t.Helper()
	now, changed := map[string][]byte{}, []string(nil)
	for file, built := range s.built {
		text, err := os.ReadFile(s.source(file))
		if err != nil {
			t.Fatal(err)
		}
		if now[file] = text; !bytes.Equal(text, built) {
			changed = append(changed, file)
		}
	}
	if len(changed) == 0 {
		return
	}
	if err := s.restart(changed); err != nil {
		for _, file := range changed {
			s.built[file] = nil // unknown
		}
		t.Fatal(err)
	}
	s.built = now
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Error(err)
	}
}

// ofAnother reports whether a file is of the program of another service that is built from the
// same folder, as in "go build ./cmd/other".
func (s *suite) ofAnother(file string, svc arena.Service) bool {
	own := programFolder(svc)
	return slices.ContainsFunc(s.stack.Services(), func(o arena.Service) bool {
		folder := programFolder(o)
		return o.Source == svc.Source && folder != own && folder != o.Source && path.Dir(file) == folder
	})
}

// programFolder is the folder of the package that a service's build compiles.
func programFolder(svc arena.Service) string {
	if len(svc.Build) == 0 || !strings.HasPrefix(svc.Build[len(svc.Build)-1], "./") {
		return svc.Source
	}
	return path.Join(svc.Source, svc.Build[len(svc.Build)-1])
}

// restart builds the services whose programs may have one of the files, and starts them. A
// file outside of all sources restarts every service with a source.
func (s *suite) restart(files []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var built, all []arena.Service
	for _, svc := range s.stack.Services() {
		if svc.Source == "" {
			continue
		}
		all = append(all, svc)
		if slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, svc.Source+"/") && !s.ofAnother(f, svc) }) {
			built = append(built, svc)
		}
	}
	if len(built) == 0 {
		built = all
	}
	for _, svc := range built {
		if err := s.stack.Rebuild(ctx, svc.Name); err != nil {
			return err
		}
	}
	return nil
}
