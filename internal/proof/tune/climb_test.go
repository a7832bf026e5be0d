package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// rungOf is a rung that turns knobs, as in "big=1".
func rungOf(hurts bool, knobs ...string) Rung {
	r := Rung{Name: strings.Join(knobs, "-"), Says: "rung " + strings.Join(knobs, " and "), Hurts: hurts}
	for _, k := range knobs {
		name, value, _ := strings.Cut(k, "=")
		r.Parts = append(r.Parts, search.Candidate{Remedy: turn("", name, value, 0).Remedies[0]})
	}
	return r
}

// climbed climbs a ladder and returns what came of each rung by its name.
func climbed(t *testing.T, tu *Tuner, rungs []Rung) (map[string]Climbed, *Outcome, error) {
	t.Helper()
	results := map[string]Climbed{}
	out, err := tu.Climb(t.Context(), rungs, func(i int, c Climbed) { results[rungs[i].Name] = c })
	return results, out, err
}

// TestClimb checks which rungs stay: those with a gain and those that prove nothing,
// but none that hurts, fails the checks, or was taken back without a gain here.
func TestClimb(t *testing.T) {
	m, tu := newMeadow(t, 3)
	m.effects = map[string]float64{"a=1": math.Log(3), "loss=1": -0.4, "two=1": 0.3, "three=1": 0.3, "told=1": 0.5, "late=1": 0.2}
	m.breaks["wrong=1"] = true
	before := m.on()
	rungs := []Rung{rungOf(false, "a=1"), rungOf(false, "loss=1"), rungOf(false, "none=1"), rungOf(true, "vain=1"), rungOf(false, "wrong=1"),
		rungOf(false, "two=1", "three=1"), rungOf(true, "told=1"), rungOf(false, "a=1", "late=1"), rungOf(false, "a=1")}
	rungs[8].Name = "nothing"
	got, out, err := climbed(t, tu, rungs)
	if err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"a=1": true, "loss=1": false, "none=1": true, "vain=1": false, "wrong=1": false, "two=1-three=1": true, "told=1": true, "a=1-late=1": true, "nothing": false} {
		if got[name].Stays != stays {
			t.Errorf("%s: stays is %v: %+v", name, got[name].Stays, got[name].Attempt.Verdict)
		}
	}
	want := map[string]bool{"a=1": true, "none=1": true, "two=1": true, "three=1": true, "told=1": true, "late=1": true}
	if on := m.on(); !maps.Equal(on, want) {
		t.Errorf("in the end the site is %v, want %v", on, want)
	}
	if c := got["loss=1"]; !search.Hurts(c.Attempt.Verdict) || c.Scores[0] <= c.Scores[1] {
		t.Errorf("the loss is not shown: %+v %v", c.Attempt.Verdict.Effect, c.Scores)
	}
	if c := got["none=1"]; c.Attempt.Verdict.Call == iikanji.Keep && c.Attempt.Verdict.Reason == iikanji.Proven {
		t.Errorf("a gain of nothing: %+v", c.Attempt.Verdict)
	}
	if c := got["wrong=1"]; c.Attempt.Verdict.Reason != iikanji.Gate || !strings.Contains(c.Attempt.Verdict.Why, "wrong=1") {
		t.Errorf("the failed rung: %+v", c.Attempt.Verdict)
	}
	if c := got["a=1-late=1"]; len(c.Missing) != 1 || len(c.Attempt.Changes) != 1 {
		t.Errorf("the rung of which a part is in force already: missing %q, changes %v", c.Missing, c.Attempt.Changes)
	}
	if c := got["nothing"]; c.Attempt.Skipped == "" || len(c.Attempt.Changes) != 0 {
		t.Errorf("the rung that is in force already: %+v", c)
	}
	gain := math.Exp(math.Log(3) + 0.3 + 0.3 + 0.5 + 0.2)
	if len(out.Final) != 4 || math.Abs(math.Log(out.Ratio.Mid/gain)) > 0.1 || !out.Rehearsal.OK {
		t.Errorf("ratio %+v of runs %v, want about %.1f; rehearsal %+v", out.Ratio, out.Final, gain, out.Rehearsal)
	}
	if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || fmt.Sprint(m.on()) != fmt.Sprint(before) {
		t.Errorf("reverting all: %v, the site is %v", err, m.on())
	}
}

// TestClimbTimeLeft: where time is left at the end of a ladder, nothing is tried that is no rung, and
// a rung that has proven nothing stays.
func TestClimbTimeLeft(t *testing.T) {
	m, tu := newMeadow(t, 3)
	m.effects = map[string]float64{"a=1": 0.3, "other=1": math.Log(3)}
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("DB101", "other", "1", 8)} }
	tu.Options.Time, tu.Options.Full = time.Hour, 20*time.Second
	_, out, err := climbed(t, tu, []Rung{rungOf(false, "a=1"), rungOf(false, "none=1")})
	if err != nil {
		t.Fatal(err)
	}
	if on := m.on(); !maps.Equal(on, map[string]bool{"a=1": true, "none=1": true}) || len(out.Attempts) != 2 {
		t.Errorf("in the end the site is %v, after %d trials", on, len(out.Attempts))
	}
	if len(out.Final) == 0 || !out.Rehearsal.OK {
		t.Errorf("the last comparison has %d pairs, the rehearsal is %+v", len(out.Final), out.Rehearsal)
	}
}

// TestClimbTime checks that a climb ends within its time, with every rung applied or
// judged.
func TestClimbTime(t *testing.T) {
	tier.Slow(t)
	for _, limit := range []time.Duration{6 * time.Minute, 12 * time.Minute} {
		m, tu := newMeadow(t, 5)
		tu.Options.Time, tu.Options.Full = limit, 20*time.Second
		var rungs []Rung
		for i := range 15 {
			name := fmt.Sprintf("k%02d=1", i)
			m.effects[name] = 0.05
			rungs = append(rungs, rungOf(false, name))
		}
		began := m.now
		got, out, err := climbed(t, tu, rungs)
		if err != nil {
			t.Fatal(err)
		}
		if took := m.now.Sub(began); took > limit+tu.Options.Short {
			t.Errorf("%s of %s", took, limit)
		}
		judged := 0
		for _, c := range got {
			if c.Attempt.Runs > 0 {
				judged++
			}
			if !c.Stays && !search.Hurts(c.Attempt.Verdict) {
				t.Errorf("%s does not stay: %+v", c.Attempt.Says, c.Attempt.Verdict)
			}
		}
		if len(got) != len(rungs) || judged < len(rungs)/2 || len(out.Final) < 2 {
			t.Errorf("%s: %d rungs, %d judged, last comparison %v", limit, len(got), judged, out.Final)
		}
	}
}

// TestClimbGiven checks that rungs below the first one to judge are applied without a
// run, except for those that were taken back.
func TestClimbGiven(t *testing.T) {
	m, tu := newMeadow(t, 7)
	m.effects = map[string]float64{"a=1": 0.5, "b=1": 0.5}
	rungs := []Rung{rungOf(false, "a=1"), rungOf(true, "taken=1"), rungOf(false, "b=1")}
	rungs[0].Given, rungs[1].Given = true, true
	got, _, err := climbed(t, tu, rungs)
	if err != nil {
		t.Fatal(err)
	}
	if c := got["a=1"]; !c.Unjudged || !c.Stays || c.Attempt.Runs != 0 {
		t.Errorf("the given rung: %+v", c)
	}
	if c := got["taken=1"]; c.Stays || c.Attempt.Skipped == "" {
		t.Errorf("the given rung that was taken back: %+v", c)
	}
	if c := got["b=1"]; !c.Stays || c.Attempt.Runs == 0 {
		t.Errorf("the judged rung: %+v", c)
	}
}

// TestClimbInterrupted checks that after Ctrl-C at any run the rung on trial is
// undone and those before it are in force, and that the next climb goes on.
func TestClimbInterrupted(t *testing.T) {
	tier.Slow(t)
	rungs := []Rung{rungOf(false, "a=1"), rungOf(true, "loss=1"), rungOf(false, "b=1", "c=1")}
	effects := map[string]float64{"a=1": 0.6, "loss=1": -0.5, "b=1": 0.3, "c=1": 0.3}
	want := map[string]bool{"a=1": true, "b=1": true, "c=1": true}
	for stop := 1; ; stop += 6 {
		m, tu := newMeadow(t, 2)
		m.effects = effects
		ctx, cancel := context.WithCancel(t.Context())
		m.at = func(run int) {
			if run == stop {
				cancel()
			}
		}
		had := map[string]bool{}
		_, err := tu.Climb(ctx, rungs, func(i int, c Climbed) {
			for knob := range strings.SplitSeq(rungs[i].Name, "-") {
				had[knob] = c.Stays
			}
		})
		cancel()
		if err == nil {
			if stop < 20 {
				t.Errorf("the climb took fewer than %d runs", stop)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at run %d: %v", stop, err)
		}
		maps.DeleteFunc(had, func(_ string, stays bool) bool { return !stays })
		if on := m.on(); !maps.Equal(on, had) && !maps.Equal(on, want) { // all of them: stopped in the last comparison
			t.Errorf("stopped at run %d: the site is %v, the rungs that stay are %v", stop, on, had)
		}
		m.at = nil
		again := m.runs
		got, out, err := climbed(t, tu, rungs)
		if err != nil || !maps.Equal(m.on(), want) || len(out.Final) == 0 {
			t.Fatalf("going on after run %d: %v, the site is %v", stop, err, m.on())
		}
		for name, c := range got {
			if len(had) > 0 && name == "a=1" && !c.Before {
				t.Errorf("stopped at run %d: rung %s is judged again", stop, name)
			}
		}
		if m.runs == again {
			t.Errorf("the second climb made no run")
		}
	}
}

// TestClimbAlone checks that a rung that is judged alone is measured on the site as it
// was and undone, with a gain, a loss and none, and that a later climb judges it again.
func TestClimbAlone(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 5)
	m.effects = map[string]float64{"a=1": 0.4, "b=1": 0.3, "loss=1": -0.4}
	rungs := []Rung{rungOf(false, "a=1"), rungOf(false, "b=1"), rungOf(false, "loss=1"), rungOf(false, "none=1")}
	for i := range rungs {
		rungs[i].Alone = true
	}
	got, out, err := climbed(t, tu, rungs)
	if err != nil {
		t.Fatal(err)
	}
	for name, effect := range map[string]float64{"a=1": 0.4, "b=1": 0.3, "loss=1": -0.4, "none=1": 0} {
		c := got[name]
		if c.Stays || !c.Alone || math.Abs(c.Attempt.Verdict.Effect.Mid-effect) > 0.1 {
			t.Errorf("%s: stays %v, alone %v, %+v, want %v", name, c.Stays, c.Alone, c.Attempt.Verdict.Effect, effect)
		}
		if proven := c.Attempt.Verdict.Call == iikanji.Keep; proven != (effect > 0) {
			t.Errorf("%s: %s", name, c.Attempt.Verdict.Call)
		}
	}
	if on := m.on(); len(on) != 0 || len(out.Final) != 0 {
		t.Errorf("in the end the site is %v, with the last comparison %v", on, out.Final)
	}
	again, _, err := climbed(t, tu, []Rung{rungOf(false, "a=1")})
	if c := again["a=1"]; err != nil || c.Before || !c.Stays {
		t.Errorf("on the ladder: %v, %+v", err, c)
	}
}
