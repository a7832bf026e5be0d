package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// A plain is a meadow on three hosts: front, app and database on web, which is full by share,
// app2 and db idle. A move of the database is two files, of which "moved" has an effect.
type plain struct {
	*meadow
	share float64 // of the cores of web that are used
	also  []iikanji.Finding
	plans []string // in their order
	// found: the diagnosis has the move as a finding; otherwise the model proposes it.
	found bool
}

func newPlain(t *testing.T, seed uint64, share float64) (*plain, *Tuner) {
	m, tu := newMeadow(t, seed)
	p := &plain{meadow: m, share: share}
	m.finds = func(map[string]bool) []iikanji.Finding { return nil }
	return p, p.on3(tu)
}

// on3 has a tuner search the plain.
func (p *plain) on3(tu *Tuner) *Tuner {
	tu.Field, tu.Plan = p, p.plan
	tu.Site.Target = p.target()
	return tu
}

func (p *plain) target() iikanji.Target {
	return iikanji.Target{Hosts: []iikanji.HostRef{{Name: "web", Private: "10.0.0.1"}, {Name: "app2", Private: "10.0.0.2"}, {Name: "db", Private: "10.0.0.3"}},
		Services: []iikanji.Service{{Name: "nginx", Role: iikanji.RoleWeb, Host: "web"}, {Name: "app", Role: iikanji.RoleApp, Host: "web", Unit: "app.service"},
			{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Host: "web", Unit: "mariadb.service", Spare: []string{"db"}}}}
}

func (p *plain) use(run *iikanji.Run) {
	run.Place.Cores = 8
	for _, name := range []string{"web", "app2", "db"} {
		run.Hosts = append(run.Hosts, iikanji.RunHost{Name: name, Machine: &iikanji.Machine{Cores: 2}})
		run.Usage = append(run.Usage, iikanji.Usage{Who: "other", Host: name, Share: 0.02})
	}
	for who, part := range map[string]float64{"nginx": 0.2, "app": 0.4, "database": 0.4} {
		at := "web"
		if who == "database" && p.on()["moved=1"] {
			at = "db"
		}
		share := part * (p.share - 0.02)
		run.Usage = append(run.Usage, iikanji.Usage{Who: who, Host: at, Share: share, User: time.Duration(share * 2 * float64(run.Took))})
	}
}

func (p *plain) Bench(ctx context.Context, spec load.Spec) (*iikanji.Run, string, error) {
	run, void, err := p.meadow.Bench(ctx, spec)
	if err != nil {
		return run, void, err
	}
	p.use(run)
	return run, void, p.h.SaveRun(run)
}

func (p *plain) Observe(_ context.Context, spec load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	p.now = p.now.Add(spec.Load)
	run := &iikanji.Run{Took: spec.Load, Steps: []iikanji.StepStat{{Count: 1000}}}
	p.use(run)
	d := &diagnose.Diagnosis{Run: run, CPU: 10, Statements: 10, Binding: "cpu", Target: p.target(), Findings: slices.Clone(p.also)}
	if p.found && !p.on()["moved=1"] {
		d.Findings = append(d.Findings, iikanji.Finding{Code: "TOP101", Where: "database", Claim: "web is full and db is not", Gain: iikanji.Range{Lo: 4, Hi: 4}, Remedies: []iikanji.Remedy{moveRemedy()}})
	}
	return d, nil, nil
}

func moveRemedy() iikanji.Remedy {
	return iikanji.Remedy{Kind: "topology", Target: "database", Says: "move database to db", Args: map[string]string{"act": "move", "service": "database", "to": "db"}}
}

// plan plans a move as the files "copy" and "moved", and everything else as its kind does.
func (p *plain) plan(ctx context.Context, r iikanji.Remedy) (*iikanji.Change, error) {
	if r.Kind != "topology" {
		return change.Plan(ctx, &change.Site{Roots: []string{p.dir}, Target: p.target()}, r)
	}
	on := p.on()
	c := &iikanji.Change{Kind: "haul", Target: r.Target, Says: "lead app to database on db", Worth: change.WorthState, Remedy: &r}
	name := "moved"
	switch {
	case on["moved=1"]:
		return nil, change.ErrNothing
	case !on["copy=1"]:
		name, c.Prepares, c.Says = "copy", true, "prepare database on db"
	}
	p.plans = append(p.plans, name)
	change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Path: filepath.Join(p.dir, name), New: []byte("1")})
	return c, nil
}

// applied counts how often a file was made, by the journal.
func applied(t *testing.T, tu *Tuner, says string) (n int) {
	t.Helper()
	for _, e := range tu.History.Events() {
		c, err := tu.History.LoadChange(e.Change)
		if err == nil && e.Stage == iikanji.Applied && strings.HasPrefix(c.Says, says) {
			n++
		}
	}
	return n
}

// TestPlaced: a move that gains is kept, found by a rule or proposed by the model. It was
// prepared once, pairs and the last comparison toggle the switch only, and what was predicted
// stands beside what was measured.
func TestPlaced(t *testing.T) {
	for _, found := range []bool{true, false} {
		p, tu := newPlain(t, 4, 0.98)
		p.effects["moved=1"], p.found = 0.35, found
		var lines []string
		tu.Say = func(line string) { lines = append(lines, line); t.Log(line) }
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if on := p.on(); !on["moved=1"] || !on["copy=1"] {
			t.Fatalf("found %v: the site is %v", found, on)
		}
		if n, pairs := applied(t, tu, "prepare"), applied(t, tu, "lead"); n != 1 || pairs < 3 {
			t.Errorf("found %v: prepared %d times, switched %d times", found, n, pairs)
		}
		i := slices.IndexFunc(out.Attempts, func(a search.Attempt) bool { return a.Candidate.Traits.Prepared })
		if i < 0 {
			t.Fatal("no attempt")
		}
		a := out.Attempts[i]
		if text := a.PredictedText(); len(a.Changes) != 2 || a.Says != "lead app to database on db" || !strings.Contains(text, "predicted ×1.6") || !strings.Contains(text, "measured ×1.") {
			t.Errorf("%+v: %q", a.Changes, text)
		}
		if !slices.ContainsFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "KEEP: lead app to database on db") && strings.Contains(l, "; predicted ×1.6")
		}) {
			t.Errorf("no line has the prediction")
		}
		if math.Abs(math.Log(out.Ratio.Mid)-0.35) > 0.1 {
			t.Errorf("found %v: the last comparison says %+v", found, out.Ratio)
		}
		p.wantInForce(tu, "placed")
		p.stateWithoutPreparation(tu)
		if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(p.on()) != 0 {
			t.Errorf("reverting all: %v, the site is %v", err, p.on())
		}
	}
}

// stateWithoutPreparation: the state of a run is that of what is in force, not of what prepared
// it: the account of a database that has ended since cannot be read.
func (p *plain) stateWithoutPreparation(tu *Tuner) {
	p.t.Helper()
	with := func(name, text string) iikanji.Fingerprint {
		path := filepath.Join(p.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			p.t.Fatal(err)
		}
		now, err := tu.hands.fingerprint(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
			p.t.Fatal(err)
		}
		return now
	}
	is := with("copy", "1")
	if with("copy", "2") != is || with("moved", "2") == is {
		p.t.Error("the state is that of the preparation")
	}
}

// TestPlacedInVain: a move without a gain, and one that breaks the site, leave neither the
// copy nor the switch.
func TestPlacedInVain(t *testing.T) {
	for _, breaks := range []bool{false, true} {
		p, tu := newPlain(t, 5, 0.98)
		p.breaks["moved=1"] = breaks
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(p.on()) != 0 || applied(t, tu, "prepare") == 0 {
			t.Errorf("breaks %v: the site is %v, plans %q", breaks, p.on(), p.plans)
		}
		for _, a := range out.Attempts {
			if a.Verdict.Call == iikanji.Keep {
				t.Errorf("kept: %+v", a)
			}
		}
	}
}

// TestNotPlaced: in 20 searches on a site whose hosts are not the limit no move is tried, and
// none is kept, whatever a finding says; nor where all hosts are as full.
func TestNotPlaced(t *testing.T) {
	for seed := range uint64(20) {
		p, tu := newPlain(t, seed, 0.5)
		p.effects["some=1"], p.found = 0.1, true
		p.also = []iikanji.Finding{turn("DB101", "some", "1", 2), turn("DB102", "none", "1", 1)}
		tu.Say = nil
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if on := p.on(); len(p.plans) > 0 || on["moved=1"] || on["copy=1"] {
			t.Errorf("seed %d: planned %q, the site is %v", seed, p.plans, on)
		}
		if slices.ContainsFunc(out.Attempts, func(a search.Attempt) bool { return a.Candidate.Traits.Prepared }) {
			t.Errorf("seed %d: a placement was tried", seed)
		}
	}
}

// TestPlacedKilled: a search that is killed at any event of a move's trial leaves, after
// recovery, the site with all of the move or nothing of it.
func TestPlacedKilled(t *testing.T) {
	kills := 0
	for n := 1; ; n++ {
		p, tu := newPlain(t, 6, 0.98)
		p.effects["moved=1"] = 0.35
		tu.Say, tu.Options.Pairs = nil, 2
		killed := crash(t, tu, n, n%2 == 0)
		hist := p.h.Dir()
		if err := p.h.Close(); err != nil {
			t.Fatal(err)
		}
		if !killed {
			break
		}
		kills++
		tu = p.on3(p.tuner(hist))
		tu.Say = nil
		if _, err := tu.Acts.Recover(t.Context()); err != nil {
			t.Fatalf("recovering after event %d: %v", n, err)
		}
		if _, err := UndoCutOff(t.Context(), tu.History, tu.Acts); err != nil {
			t.Fatalf("undoing after event %d: %v", n, err)
		}
		if _, _, err := PutBack(t.Context(), tu.History, tu.Acts); err != nil {
			t.Fatalf("putting back after event %d: %v", n, err)
		}
		on := p.on()
		if len(on) != 0 && !(on["moved=1"] && on["copy=1"]) {
			t.Errorf("killed at event %d: the site is %v", n, on)
		}
		if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(p.on()) != 0 {
			t.Fatalf("killed at event %d, reverting all: %v, the site is %v", n, err, p.on())
		}
		if err := p.h.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if kills < 10 {
		t.Errorf("only %d kills", kills)
	}
}

// TestAboveAMove: what was changed in a database before it was moved is undone after the move
// is, and what was changed since before it.
func TestAboveAMove(t *testing.T) {
	p, tu := newPlain(t, 7, 0.98)
	if err := tu.openLedger(); err != nil {
		t.Fatal(err)
	}
	l := tu.book.ledger()
	add := func(r iikanji.Remedy) iikanji.ChangeID {
		t.Helper()
		c, err := p.plan(t.Context(), r)
		if err == nil {
			err = tu.History.AddChange(c, "")
		}
		if err == nil {
			err = tu.Acts.Apply(t.Context(), c.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.InForce = append(l.InForce, c.ID)
		return c.ID
	}
	knob := func(name, target string) iikanji.Remedy {
		return iikanji.Remedy{Kind: "knob", Target: target, Args: map[string]string{"name": name, "value": "1"}}
	}
	before, app, copied, moved, since := add(knob("before", "database")), add(knob("app", "app")), add(moveRemedy()), add(moveRemedy()), add(knob("since", "database"))
	for of, want := range map[iikanji.ChangeID][]iikanji.ChangeID{before: {copied, moved, since}, app: nil, copied: {moved, since}, moved: {since}, since: nil} {
		above, err := tu.hands.above([]iikanji.ChangeID{of})
		if err != nil || fmt.Sprint(above) != fmt.Sprint(want) && len(above)+len(want) > 0 {
			t.Errorf("above %d: %v, %v; want %v", of, above, err, want)
		}
	}
}

// TestNotPrepared: a preparation that fails is a reason, and one behind which nothing can be
// planned is undone.
func TestNotPrepared(t *testing.T) {
	p, tu := newPlain(t, 8, 0.98)
	plan := tu.Plan
	tu.Plan = func(ctx context.Context, r iikanji.Remedy) (*iikanji.Change, error) {
		if p.on()["copy=1"] {
			return nil, errors.New("10.0.0.3:3306 is silent")
		}
		return plan(ctx, r)
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.on()) != 0 {
		t.Errorf("the site is %v", p.on())
	}
	if len(out.Attempts) == 0 || !strings.Contains(out.Attempts[0].Skipped, "is silent") {
		t.Errorf("%+v", out.Attempts)
	}
}
