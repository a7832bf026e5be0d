package arenatest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/propose"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// cheatKind is the kind of change that cheats: its one file names the fault with
// which the proxy serves the site.
const cheatKind = "cheat"

// cleanLoad is the load of the run without a cheat with which runs under load are
// compared. Only its faults count.
const cleanLoad = 5 * time.Second

// A cheater plans cheats.
type cheater struct{ path string }

type cheatArgs struct {
	Name string `arg:"name,required" help:"the cheat"`
}

var cheatActs = []change.DeclaredAct{change.Declare[cheatArgs](change.Act{Help: "serve the site wrongly, and faster"})}

func (*cheater) Name() string       { return cheatKind }
func (*cheater) Help() string       { return "Cheats." }
func (*cheater) Acts() []change.Act { return change.ActsOf(cheatActs) }

func (*cheater) Match(r iikanji.Remedy) (change.Act, error) {
	a, _, err := change.MatchAct[any](cheatActs, r)
	return a, err
}

// Plan implements change.Kind.
func (k *cheater) Plan(_ context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	old, err := s.ReadOld("", k.path)
	if err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: cheatKind, Target: r.Target, Says: r.Says}
	change.FromEdits(c, iikanji.Restart, change.Edit{Path: k.path, Old: old, New: []byte(r.Args["name"])})
	return c, nil
}

var (
	theCheater   = &cheater{}
	registerOnce sync.Once
)

// cheats offers each cheat as a proposal, plans and applies it, runs the site with
// it, and has the judge decide. Each must be undone because of the fault that it
// is meant to cause, and leave no trace.
func (s *suite) cheats(t *testing.T) {
	if len(s.opt.Cheats) == 0 {
		return
	}
	dir := t.TempDir()
	registerOnce.Do(func() { change.Register(theCheater) })
	theCheater.path = filepath.Join(dir, "cheat")
	h, err := history.Open(filepath.Join(t.TempDir(), "history"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	site := &change.Site{Roots: []string{dir}, Services: map[string]change.Service{"app": {Running: wearing{suite: s}}}}
	x := &change.Executor{Hands: site, Journal: h}
	clean := map[bool]*iikanji.Run{} // by UnderLoad, as far as a cheat needs it
	for i := range s.opt.Cheats {
		switch loaded := s.opt.Cheats[i].UnderLoad; {
		case clean[loaded] != nil:
		case loaded:
			clean[loaded] = s.untricked(t, cleanLoad)
		default:
			clean[loaded] = s.untricked(t, 0)
		}
	}
	for i, p := range s.proposed(t) {
		f := &s.opt.Cheats[i]
		t.Run("cheat: "+f.Name, func(t *testing.T) {
			v, caught := s.trial(t, x, h, site, p.Remedy, f, clean[f.UnderLoad])
			if v.Call != iikanji.Revert || v.Reason != iikanji.Gate {
				t.Errorf("judged %s (%s): %s", v.Call, v.Reason, v.Why)
			}
			if caught == "" {
				t.Errorf("undone, but not because of %v: %s", f.Want, v.Why)
			}
			t.Logf("%s: %s", caught, v.Why)
		})
	}
}

// wearing is the app behind the proxy, whose restart only changes the cheat.
type wearing struct {
	change.Running
	*suite
}

// Restart has the proxy serve with the cheat that the file names, or without one.
func (s wearing) Restart(context.Context) error {
	name, err := os.ReadFile(theCheater.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.proxy.Spoil(nil)
		return nil
	} else if err != nil {
		return err
	}
	for i := range s.opt.Cheats {
		if s.opt.Cheats[i].Name == string(name) {
			s.proxy.Spoil(s.opt.Cheats[i].Spoil())
			return nil
		}
	}
	return fmt.Errorf("no cheat %q", name)
}

// proposed are the cheats as a proposer's answer, read as any answer is.
func (s *suite) proposed(t *testing.T) []propose.Proposal {
	t.Helper()
	type one struct {
		Kind   string            `json:"kind"`
		Target string            `json:"target"`
		Says   string            `json:"says"`
		Args   map[string]string `json:"args"`
	}
	answer := struct {
		Version int   `json:"version"`
		Changes []one `json:"changes"`
	}{Version: propose.Version}
	for _, f := range s.opt.Cheats {
		answer.Changes = append(answer.Changes, one{cheatKind, "app", "make the app faster", map[string]string{"name": f.Name}})
	}
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := propose.Answer(text, []string{cheatKind})
	if err != nil || len(ps) != len(s.opt.Cheats) {
		t.Fatalf("%d proposals, %v", len(ps), err)
	}
	return ps
}

// untricked is a run without a cheat. On a busy machine a single answer may take
// longer than its limit, which fails the checks: then it is repeated.
func (s *suite) untricked(t *testing.T, load time.Duration) *iikanji.Run {
	t.Helper()
	var run *iikanji.Run
	for range voidTries {
		run = s.run(t, test{url: s.proxy.URL(), seed: 1, clock: s.opt.Clock, load: load})
		if run.Outcome != iikanji.Failed && run.Outcome != iikanji.Interrupted {
			return run
		}
	}
	t.Fatalf("without a cheat the run %s: %v", run.Outcome, run.Reasons)
	return nil
}

// cheatTest is a run with a cheat: the checks, or a load that ends when the cheat
// was caught.
func (s *suite) cheatTest(f *Fault) test {
	o := test{url: s.proxy.URL(), seed: 1, clock: s.opt.Clock, set: f.Set}
	if f.UnderLoad {
		o.load, o.until = faultDeadline, func(seen *iikanji.Fault) bool { return anyMatches(f.Want, seen) }
	}
	return o
}

// trial gives a cheat its trial. A run that the generator could not keep up with
// proves nothing and is repeated.
func (s *suite) trial(t *testing.T, x *change.Executor, h *history.History, site *change.Site, r iikanji.Remedy, f *Fault, clean *iikanji.Run) (v iikanji.Verdict, caught string) {
	t.Helper()
	c, err := change.Plan(t.Context(), site, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.AddChange(c, change.Diff(c)), x.Apply(t.Context(), c.ID)); err != nil {
		t.Fatal(err)
	}
	for range voidTries {
		app := wearing{suite: s}
		if err := app.Restart(t.Context()); err != nil { // without the state of the run before
			t.Fatal(err)
		}
		run := s.run(t, s.cheatTest(f))
		for i := range run.Faults {
			if anyMatches(f.Want, &run.Faults[i]) {
				caught = describe(&run.Faults[i])
			}
		}
		v = judge.NewJudge(stats.Prior{}).Decide(judge.Case{Change: *c, Pairs: []judge.Pair{{A: clean, B: run}}})
		if caught != "" && v.Call == iikanji.Revert {
			break
		}
		t.Logf("the run %s: %v; %s", run.Outcome, run.Reasons, strings.TrimSpace(v.Why))
	}
	if err := x.Revert(t.Context(), c.ID, v.Why); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(theCheater.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cheat is still on the site: %v", err)
	}
	return v, caught
}
