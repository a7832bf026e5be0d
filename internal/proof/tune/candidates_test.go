package tune

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// rewrite is a candidate of kind gocode.
func rewrite(code, function string) search.Candidate {
	r := iikanji.Remedy{Kind: "gocode", Target: "app", Says: code + " in " + function, Args: map[string]string{"levers": code, "file": "main.go", "func": function}}
	return search.Candidate{Code: iikanji.Code(code), Where: function, Chance: 0.5, Gain: 0.1, Remedy: r, Traits: traitsOf(r)}.Keyed()
}

// TestLeftOutWork: a knob that leaves work out is expected to gain by what is left out,
// and its values wait until the rewrites had their trial.
func TestLeftOutWork(t *testing.T) {
	knob := func(variant string) iikanji.Remedy {
		return iikanji.Remedy{Kind: "gocode", Target: "app", Says: variant,
			Args: map[string]string{"levers": "APP214", "file": "main.go", "func": "post", "place": "drops (0.9)", "variant": variant}}
	}
	d := &diagnose.Diagnosis{Run: &iikanji.Run{}, CPU: 1, Findings: []iikanji.Finding{
		{Code: "APP214", Where: "post", More: math.Log(10), Remedies: []iikanji.Remedy{knob("end"), knob("half")}}}}
	cs, refused := Candidates(d)
	if len(cs) != 2 || len(refused) > 0 || cs[0].Gain != math.Log(10)/2 {
		t.Fatalf("candidates %+v, refused %v", cs, refused)
	}
	first, second := rewrite("APP201", "a"), rewrite("APP204", "b")
	s := search.NewState(search.Options{Time: time.Hour, Pairs: 1, Short: time.Second, Full: time.Second})
	s.Judge, s.Observed, s.Stale, s.Cost = judge.NewJudge(stats.Prior{}), true, false, time.Second
	s.Ledger.InForce, s.Candidates = []iikanji.ChangeID{1}, append(slices.Clone(cs), first, second)
	if step := search.Next(*s); step.Do != search.TryTogether || step.Parts[0].Key() != first.Key() {
		t.Errorf("before the rewrites comes %+v", step)
	}
	lost := iikanji.Verdict{Call: iikanji.Revert, Reason: iikanji.NoGain}
	tried := func(c search.Candidate, v iikanji.Verdict, ids ...iikanji.ChangeID) search.Attempt {
		return search.Attempt{Candidate: c, Key: c.Key(), Verdict: v, Changes: ids}
	}
	s.Ledger.Attempts = []search.Attempt{tried(first, lost)}
	if step := search.Next(*s); step.Do != search.TryOne || step.Parts[0].Key() != cs[0].Key() {
		t.Errorf("after the first rewrite comes %+v", step)
	}
}
