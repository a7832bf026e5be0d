package judge

import (
	"fmt"
	"math"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// percent prints an effect on ln(score), as in "+10.2 %".
func percent(d float64) string { return fmt.Sprintf("%+.1f %%", stats.Percent(d)) }

// say is the sentence of a verdict by the numbers.
func (j Judge) say(s sifted, m estimate, v *iikanji.Verdict) string {
	if s.n() == 0 || m.DF <= 0 {
		return fmt.Sprintf("%s so far; %s more before the first look", pairs(s.n()), pairs(v.Needed))
	}
	seen := fmt.Sprintf("%s (%s to %s) in %s", percent(m.Mean), percent(v.Effect.Lo), percent(v.Effect.Hi), pairs(s.n()))
	switch v.Reason {
	case iikanji.Proven:
		return fmt.Sprintf("%s: a gain is proven; expect %s of it to last", seen, percent(v.Shrunk))
	case iikanji.Neutral:
		return fmt.Sprintf("%s: no gain proven, no loss of %.0f %% either, and %s", seen, 100*v.Worth, sayWork(v.Work[lessWork(v.Work)]))
	case iikanji.Cheaper:
		return fmt.Sprintf("%s: kept for its cost, score undecided: %s", seen, sayWork(v.Work[lessWork(v.Work)]))
	case iikanji.NoGain:
		how := "is ruled out"
		if m.Upper(j.Looks.Futility) >= v.Worth {
			how = "is unlikely"
		}
		return fmt.Sprintf("%s: a gain of %.0f %% or more, the least worth keeping, %s", seen, 100*v.Worth, how)
	case iikanji.Undecided:
		return fmt.Sprintf("%s: neither a gain nor its absence is proven%s", seen, sayCost(j, s, m))
	}
	return fmt.Sprintf("%s: not decided; %s more may decide", seen, pairs(v.Needed))
}

func pairs(n int) string {
	if n == 1 {
		return "1 pair"
	}
	return fmt.Sprintf("%d pairs", n)
}

// sayCost is how many pairs would prove an effect of this size.
func sayCost(j Judge, s sifted, m estimate) string {
	need := stats.PairsNeeded(m.SE*math.Sqrt(float64(s.n())), m.Mean, 0.05, 0.80, j.Prior.DF)
	if m.Mean <= 0 || need > 500 {
		return ""
	}
	return fmt.Sprintf("; about %.0f pairs would prove one of this size", max(need, float64(j.Looks.Last()+1)))
}

func sayWork(w iikanji.Work) string {
	return fmt.Sprintf("%s per request changed by %s", w.Name, percent(w.Effect.Mid))
}

func sayUnstable(s sifted, p stats.Prior) string {
	return fmt.Sprintf("runs of the same state differ by %.0f %%, more than the known noise of %.0f %% explains: "+
		"the numbers are believed from %d pairs on, and an exact test must agree",
		stats.Percent(s.spread()), stats.Percent(p.SD()), stablePairs)
}

func sayFailed(s sifted, faults []iikanji.Fault) string {
	r := s.broke
	what := fmt.Sprintf("it scored %.0f", r.Score)
	switch {
	case len(faults) > 0:
		what = sayFault(faults[0])
	case len(r.Reasons) > 0:
		what = r.Reasons[0]
	case r.Outcome == iikanji.Failed:
		what = "its checks failed"
	}
	if s.failedA > 0 {
		return fmt.Sprintf("%d runs failed with it and %d without: %s", s.failedB, s.failedA, what)
	}
	if s.failedB > 1 {
		return fmt.Sprintf("%d runs failed with it, and none without: %s", s.failedB, what)
	}
	return fmt.Sprintf("run %d failed with it, and none without: %s", r.ID, what)
}

func sayFault(f iikanji.Fault) string {
	var parts []string
	for _, p := range []string{f.Check, f.Step, f.Message} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return f.Kind.String()
	}
	return strings.Join(parts, ": ")
}
