package selftest

import (
	"fmt"
	"math"
	"os"
	"testing"
)

func TestTrials(t *testing.T) {
	if os.Getenv("T") == "" {
		t.Skip()
	}
	const n = 20000
	ws := []World{{Name: "normal", Sigma: .05}, {Name: "s2", Sigma: .02}, {Name: "t3", Sigma: .05, Shape: StudentT3}, {Name: "skew", Sigma: .05, Shape: Skewed}, {Name: "drift", Sigma: .05, Drift: .01}, {Name: "AR.5", Sigma: .05, Together: .5},
		{Name: "out", Sigma: .05, Outliers: .05}, {Name: "lucky", Sigma: .05, Lucky: true}, {Name: "c1.5", Sigma: .05, Candidate: 1.5}, {Name: "c2", Sigma: .05, Candidate: 2},
		{Name: "aa/2", Sigma: .05, PriorSigma: .025}, {Name: "aa/3", Sigma: .05, PriorSigma: .05 / 3}, {Name: "4th5", Sigma: .05, EveryFourth: true}, {Name: "4th2", Sigma: .02, EveryFourth: true}, {Name: "modes", Sigma: .02, Modes: .1}, {Name: "modesAA", Sigma: .02, Modes: .1, PriorSigma: .02}}
	for _, w := range ws {
		r := SimulateTrials(w, 0, JudgeRule, 1, 0, n)
		p := SimulateTrials(w, .10, JudgeRule, 2, 0, n/4)
		fmt.Printf("%-8s null %.1f (%.2f)  +10 %.1f %.2f\n", w.Name, 100*r.KeptShare(), r.MeanPairs(), 100*p.KeptShare(), p.MeanPairs())
	}
	for _, e := range []float64{-.05, 0, .02, .05, .10, .15, .20} {
		r := SimulateTrials(ws[0], e, JudgeRule, 3, 0, n)
		fmt.Printf("%+.2f kept %.1f pairs %.2f covered %.1f shown %+.1f truth %+.1f\n", e, 100*r.KeptShare(), r.MeanPairs(), 100*float64(r.Covered)/float64(max(1, r.Kept)), 100*(math.Exp(r.Shown/float64(max(1, r.Kept)))-1), 100*e)
	}
}
