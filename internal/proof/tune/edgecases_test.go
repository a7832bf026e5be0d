package tune

import (
	"context"
	"encoding/json"
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
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// TestTuneStacked checks that a change with other changes built on it has no
// drop-one check, and that such changes are reverted and applied in order.
func TestTuneStacked(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 11)
	m.effects = map[string]float64{"x=1": 0.8, "x=2": 1.6, "x=3": 2.4}
	m.finds = func(on map[string]bool) []iikanji.Finding {
		f := []iikanji.Finding{turn("DB101", "x", "1", 8)}
		if on["x=1"] {
			f = append(f, turn("DB102", "x", "2", 8))
		}
		if on["x=2"] {
			f = append(f, turn("DB103", "x", "3", 8))
		}
		return f
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.wantInForce(tu, "at the end")
	if !m.on()["x=3"] || len(tu.book.ledger().InForce) != 3 || len(out.Final) != 4 {
		t.Errorf("the site is %v, in force %v, compared in %v", m.on(), tu.book.ledger().InForce, out.Final)
	}
	if notes := strings.Join(out.Notes, "\n"); !strings.Contains(notes, "not checked alone: turn x to 1: 2 later changes are built on it") {
		t.Errorf("notes:\n%s", notes)
	}
	if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(m.on()) != 0 {
		t.Errorf("%v, the site is %v", err, m.on())
	}
}

// luckyOnce gives the first run with luck=1 three times the score, and no later one. It
// counts the runs with it.
func (m *meadow) luckyOnce() *int {
	seen := 0
	m.at = func(int) {
		if m.on()["luck=1"] {
			seen++
			m.effects["luck=1"] = -0.01
			if seen == 1 {
				m.effects["luck=1"] = math.Log(3)
			}
		}
	}
	return &seen
}

// TestTuneProvisionalFails has a change that one lucky run makes provisional and
// that later runs do not confirm. It must be undone, and a change built on it must
// get another trial.
func TestTuneProvisionalFails(t *testing.T) {
	m, tu := newMeadow(t, 12)
	m.effects["luck=2"] = 0.5
	seen := m.luckyOnce()
	m.finds = func(on map[string]bool) []iikanji.Finding {
		f := []iikanji.Finding{turn("DB101", "luck", "1", 8)}
		if *seen > 0 {
			f = append(f, turn("DB102", "luck", "2", 8))
		}
		return f
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a := out.Attempts[0]; !a.Fast || a.Verdict.Call != iikanji.Revert || !a.Parked || len(a.Verdict.Tried) < 2 {
		t.Errorf("the lucky one: %+v", a)
	}
	m.wantInForce(tu, "at the end")
	if !m.on()["luck=2"] {
		t.Errorf("the site is %v, calls %v", m.on(), m.calls(out))
	}
}

// TestTuneBundleOnProvisional has a bundle with a part that is built on a change of the
// fast lane which later runs do not confirm. The whole bundle must be undone with it, to be
// tried again: without that part, the others have no proof.
func TestTuneBundleOnProvisional(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 12)
	tu.Options.Time = 212 * time.Second // too little for a trial of each
	m.effects = map[string]float64{"luck=2": 0.05, "a=1": 0.05, "b=1": 0.05}
	seen := m.luckyOnce()
	m.finds = func(on map[string]bool) []iikanji.Finding {
		f := []iikanji.Finding{turn("DB101", "luck", "1", 2.5)} // the noise is known before its trial
		for i, name := range []string{"luck=2", "a=1", "b=1"} {
			if name, value, _ := strings.Cut(name, "="); *seen > 0 && !on[name+"="+value] {
				f = append(f, turn(fmt.Sprint("WEB10", i), name, value, 0.3))
			}
		}
		return f
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.wantInForce(tu, "at the end")
	bundles, undone := 0, 0
	for _, a := range out.Attempts {
		if a.IsBundle() {
			bundles++
			if strings.Contains(a.Verdict.Why, "built on was undone") {
				undone++
			}
		}
	}
	if undone != 1 || bundles < 1 {
		t.Errorf("%d bundles, %d of them undone: %v", bundles, undone, m.calls(out))
	}
	for _, id := range tu.book.ledger().InForce {
		if !slices.ContainsFunc(out.Attempts, func(a search.Attempt) bool {
			return a.Verdict.Call == iikanji.Keep && slices.Contains(a.Changes, id)
		}) {
			t.Errorf("change %d is in force, and no attempt that has it was kept", id)
		}
	}
}

// TestTuneLimitMoves checks that a parked change is tried again when another
// resource is the limit.
func TestTuneLimitMoves(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 113) // a seed with which the first trial rules no gain out
	m.effects = map[string]float64{"slow=1": 0.004, "big=1": math.Log(3)}
	m.at = func(int) {
		if m.on()["big=1"] {
			m.effects["slow=1"] = 0.3
		}
	}
	m.binding = func(on map[string]bool) string {
		if on["big=1"] {
			return "database disk"
		}
		return "app CPU"
	}
	m.finds = func(map[string]bool) []iikanji.Finding {
		return []iikanji.Finding{turn("WEB102", "slow", "1", 9), turn("DB101", "big", "1", 2)}
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trials := 0
	for _, a := range out.Attempts {
		if a.Says == "turn slow to 1" {
			trials++
		}
	}
	if on := m.on(); trials != 2 || !on["slow=1"] || !on["big=1"] {
		t.Errorf("%d trials, the site is %v", trials, on)
	}
}

// TestTuneProposer checks that proposed changes pass the same gates, and that a
// change that weakens a protected promise is never applied.
func TestTuneProposer(t *testing.T) {
	m, tu := newMeadow(t, 14)
	m.effects = map[string]float64{"good=1": 0.4, "unsafe=1": 3}
	m.breaks["wrong=1"] = true
	m.finds = func(map[string]bool) []iikanji.Finding { return nil }
	m.at = func(int) {
		if m.on()["unsafe=1"] {
			t.Error("the forbidden change is on the site")
		}
	}
	asked := 0
	tu.Propose = func(_ context.Context, _ *diagnose.Diagnosis, _ []iikanji.Fact, _ []search.Attempt) ([]search.Candidate, error) {
		asked++
		var out []search.Candidate
		for _, args := range []map[string]string{{"name": "unsafe", "value": "1", "weakens": "yes"}, {"name": "wrong", "value": "1"}, {"name": "good", "value": "1"}} {
			out = append(out, search.Candidate{Remedy: iikanji.Remedy{Kind: "knob", Target: "site", Says: args["name"], Args: args}, Claim: "proposed"})
		}
		return append(out, search.Candidate{Remedy: iikanji.Remedy{Kind: "no such kind"}, Claim: "proposed"}), nil
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	on := m.on()
	if !on["good=1"] || on["wrong=1"] || on["unsafe=1"] || asked == 0 {
		t.Errorf("asked %d times, the site is %v", asked, on)
	}
	i := slices.IndexFunc(out.Attempts, func(a search.Attempt) bool { return a.Candidate.Remedy.Args["name"] == "unsafe" })
	if i < 0 || !strings.Contains(out.Attempts[i].Skipped, "durability") || len(out.Attempts[i].Changes) > 0 {
		t.Errorf("%+v", out.Attempts)
	}
}

// TestTuneNeverCounts checks that a candidate whose runs are all void is given up,
// also without a time limit.
func TestTuneNeverCounts(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 15)
	m.effects["some=1"] = 0.3
	m.at = func(run int) {
		if m.on()["limit=1"] {
			m.voids[run] = "the load generator was the limit"
		}
		if run > 500 {
			t.Fatal("it goes on for ever")
		}
	}
	m.finds = func(map[string]bool) []iikanji.Finding {
		return []iikanji.Finding{turn("DB101", "limit", "1", 8), turn("WEB102", "some", "1", 2)}
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if on := m.on(); on["limit=1"] || !on["some=1"] || !strings.Contains(out.Attempts[0].Verdict.Why, "do not count") {
		t.Errorf("the site is %v: %+v", on, out.Attempts[0])
	}
}

// TestTuneFinalFails checks that a final site that fails its full runs has no ratio,
// that this is reported, and that the outcome can be written as JSON.
func TestTuneFinalFails(t *testing.T) {
	m, tu := newMeadow(t, 16)
	m.effects["big=1"] = math.Log(4)
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("DB101", "big", "1", 8)} }
	tu.Show = func(v View) { m.breaks["big=1"] = v.Phase == "last comparison" }
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(out)
	if err != nil || !strings.Contains(string(b), `"final_runs":[]`) {
		t.Errorf("%v: %s", err, b)
	}
	if notes := strings.Join(out.Notes, "\n"); !strings.Contains(notes, "has 0 pairs of the 4") || !strings.Contains(notes, "failed") {
		t.Errorf("notes:\n%s", notes)
	}
	m.wantInForce(tu, "at the end")
}

// TestTuneTakenBack checks that the search begins again after all changes were
// reverted by hand, and that a single change reverted by hand stays reverted.
func TestTuneTakenBack(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 17)
	m.effects = map[string]float64{"big=1": math.Log(3), "some=1": 0.4}
	m.finds = func(map[string]bool) []iikanji.Finding {
		return []iikanji.Finding{turn("DB101", "big", "1", 8), turn("WEB102", "some", "1", 2)}
	}
	next := func() {
		hist := m.h.Dir()
		if err := m.h.Close(); err != nil {
			t.Fatal(err)
		}
		tu = m.tuner(hist)
	}
	if _, err := tu.Tune(t.Context()); err != nil || len(m.on()) != 2 {
		t.Fatalf("%v, the site is %v", err, m.on())
	}
	if _, err := tu.Acts.RevertAll(t.Context(), "by hand"); err != nil {
		t.Fatal(err)
	}
	next()
	out, err := tu.Tune(t.Context())
	if err != nil || len(m.on()) != 2 || len(out.Final) != 4 {
		t.Fatalf("after all was taken back: %v, the site is %v", err, m.on())
	}
	if err := tu.Acts.Revert(t.Context(), tu.book.ledger().InForce[1], "by hand"); err != nil {
		t.Fatal(err)
	}
	left := m.on()
	next()
	out, err = tu.Tune(t.Context())
	if err != nil || len(m.on()) != 1 || !slices.ContainsFunc(out.Attempts, func(a search.Attempt) bool { return a.Undone }) {
		t.Errorf("after one was taken back: %v, the site was %v and is %v", err, left, m.on())
	}
	m.wantInForce(tu, "at the end")
}

// TestJudgeTakenBack checks that a single trial after all changes were reverted by hand
// returns its own attempt, although those of the search before it are dropped.
func TestJudgeTakenBack(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 17)
	m.effects = map[string]float64{"big=1": math.Log(3), "some=1": 0.4}
	m.finds = func(map[string]bool) []iikanji.Finding {
		return []iikanji.Finding{turn("DB101", "big", "1", 8), turn("WEB102", "some", "1", 2)}
	}
	if out, err := tu.Tune(t.Context()); err != nil || len(out.Attempts) < 2 || len(m.on()) != 2 {
		t.Fatalf("%v, the site is %v", err, m.on())
	}
	if _, err := tu.Acts.RevertAll(t.Context(), "by hand"); err != nil {
		t.Fatal(err)
	}
	hist := m.h.Dir()
	if err := m.h.Close(); err != nil {
		t.Fatal(err)
	}
	tu = m.tuner(hist)
	a, err := tu.Judge(t.Context(), search.Candidate{Remedy: turn("", "big", "1", 0).Remedies[0], Claim: "by hand"})
	if err != nil || a.Runs == 0 || a.Verdict.Call != iikanji.Keep || !m.on()["big=1"] {
		t.Errorf("%v: %+v, the site is %v", err, a, m.on())
	}
	if tu.book.first != 0 {
		t.Errorf("the first attempt of the search is %d of %d", tu.book.first, len(tu.book.ledger().Attempts))
	}
}

// TestTuneByHand checks that changes applied by hand before the search stay below
// its changes, in the order in which they were applied.
func TestTuneByHand(t *testing.T) {
	m, tu := newMeadow(t, 18)
	for _, value := range []string{"1", "2"} {
		c, err := knob{}.Plan(t.Context(), tu.Site, turn("", "hand", value, 0).Remedies[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(tu.History.AddChange(c, ""), tu.Acts.Apply(t.Context(), c.ID), tu.Acts.Keep(c.ID, "by hand")); err != nil {
			t.Fatal(err)
		}
	}
	m.finds = func(map[string]bool) []iikanji.Finding { return nil }
	out, err := tu.Tune(t.Context())
	if err != nil || len(out.Final) != 4 || !m.on()["hand=2"] {
		t.Errorf("%v, compared %v, the site is %v", err, out.Final, m.on())
	}
	if out.Short[0] != 0 {
		t.Errorf("the site with changes by hand was taken for the untouched one: %v", out.Short)
	}
}

// TestTuneOtherConditions checks that runs under other conditions are not used as
// noise.
func TestTuneOtherConditions(t *testing.T) {
	m, tu := newMeadow(t, 19)
	m.effects["big=1"] = math.Log(3)
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("DB101", "big", "1", 8)} }
	ctx, cancel := context.WithCancel(t.Context())
	m.at = func(run int) {
		if tu.book.ledger().Open != nil { // the fast lane has made it provisional
			cancel()
		}
	}
	if _, err := tu.Tune(ctx); !errors.Is(err, context.Canceled) || tu.book.ledger().Open == nil {
		t.Fatalf("%v, open %+v", err, tu.book.ledger().Open)
	}
	hist := m.h.Dir()
	if err := m.h.Close(); err != nil {
		t.Fatal(err)
	}
	m.at = nil
	tu = m.tuner(hist)
	tu.Options.Basis = "another machine"
	out, err := tu.Tune(t.Context())
	if err != nil || !m.on()["big=1"] || out.Runs < 8 {
		t.Errorf("%v, %d runs, the site is %v", err, out.Runs, m.on())
	}
	m.wantInForce(tu, "at the end")
}

// TestTuneNoTime checks that a search with too little time to measure the noise
// changes nothing, reports it, and keeps its runs.
func TestTuneNoTime(t *testing.T) {
	m, tu := newMeadow(t, 20)
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("DB101", "big", "1", 8)} }
	tu.Options.Time = 5 * time.Second
	if _, err := tu.Tune(t.Context()); !errors.Is(err, errTime) || len(m.on()) != 0 || len(tu.book.ledger().AA) == 0 {
		t.Errorf("%v, the site is %v", err, m.on())
	}
	if e := tu.History.Events(); slices.ContainsFunc(e, func(e history.Event) bool { return e.What == history.Staged }) {
		t.Error("a change was begun")
	}
	if least := tu.Options.LeastTime(); least < 3*time.Minute || least > 6*time.Minute {
		t.Errorf("the least time of the usual search is %v", least)
	}
}

// TestTuneFails checks that a site that fails by itself ends the search, and that a
// single failed run does not.
func TestTuneFails(t *testing.T) {
	for _, c := range []struct {
		bad  int // runs that fail, from the second on
		want error
	}{{1, nil}, {int(search.MostFailed.Value()), ErrChecks}} {
		m, tu := newMeadow(t, 21)
		m.finds = func(map[string]bool) []iikanji.Finding { return nil }
		m.effects["base=1"] = 0
		if err := os.WriteFile(filepath.Join(m.dir, "base"), []byte("1"), 0o600); err != nil {
			t.Fatal(err)
		}
		m.at = func(run int) { m.breaks["base=1"] = run >= 2 && run < 2+c.bad }
		if _, err := tu.Tune(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%d failed runs: %v, want %v", c.bad, err, c.want)
		}
	}
}

// TestTuneFasterMachine makes the machine faster during a candidate's first run. The
// incumbent's run right after is as fast, so the fast lane must not accept the change.
func TestTuneFasterMachine(t *testing.T) {
	tier.Slow(t)
	for seed := range uint64(16) {
		from := 9 + int(seed)%2 // during the candidate's run, or during the one right after
		m, tu := newMeadow(t, 20+seed)
		m.effects = map[string]float64{}
		m.at = func(run int) {
			if run == from {
				m.level = 0.25
			}
		}
		m.finds = func(map[string]bool) []iikanji.Finding {
			return []iikanji.Finding{turn("DB101", "a", "1", 8), turn("DB102", "b", "1", 7), turn("DB103", "c", "1", 6)}
		}
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range out.Attempts {
			if a.Fast || a.Verdict.Call == iikanji.Keep && a.Verdict.Effect.Mid > 0.1 {
				t.Errorf("faster from run %d on: %s was let in: %s", from, a.Says, a.Verdict.Why)
			}
		}
	}
}

// TestTuneHandful checks that with limited time, changes that need many pairs alone
// are tried together, one remedy of each finding, without those that cannot be
// planned. Each kept change names the verdict that it shares.
func TestTuneHandful(t *testing.T) {
	m, tu := newMeadow(t, 40)
	tu.Options.Time = 166 * time.Second // too little for a screening
	m.effects = map[string]float64{"a=1": 0.04, "b=1": 0.05, "c=1": 0.05, "d=1": 0.04}
	m.finds = func(on map[string]bool) []iikanji.Finding {
		var f []iikanji.Finding
		for i, name := range []string{"a", "b", "c", "d"} {
			if !on[name+"=1"] {
				f = append(f, turn(fmt.Sprint("WEB10", i), name, "1", 0.3))
				other := turn(fmt.Sprint("WEB10", i), name, "2", 0.3)
				f[len(f)-1].Remedies = append(f[len(f)-1].Remedies, other.Remedies...)
			}
		}
		f = append(f, turn("WEB108", "e", "", 0.4))
		return f
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if out.Attempts[0].Skipped == "" || out.Attempts[0].Candidate.Code != "WEB108" {
		t.Errorf("a remedy that cannot be planned is not reported first: %+v", out.Attempts[0])
	}
	one := out.Attempts[1]
	if !one.IsBundle() || one.Verdict.Call != iikanji.Keep || len(one.Changes) != 4 {
		t.Fatalf("the second attempt is %s of %d changes: %s %s", one.Kind(), len(one.Changes), one.Verdict.Call, one.Verdict.Why)
	}
	if on := m.on(); !on["a=1"] || !on["b=1"] || !on["c=1"] || !on["d=1"] {
		t.Errorf("in the end the site is %v", on)
	}
	for _, id := range one.Changes {
		if v, err := m.h.LoadVerdict(id); err != nil || v.Effect.Level == 0 || !strings.Contains(v.Why, "tried as one with 3 others") {
			t.Errorf("change %d has no interval: %v %v", id, v, err)
		}
	}
	if want := math.Log(1.04); one.Verdict.Worth < want-0.001 {
		t.Errorf("four lines of configuration are worth keeping from %v on, want %v", one.Verdict.Worth, want)
	}
}
