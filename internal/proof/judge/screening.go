package judge

import (
	"math"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Screening is what the runs of a factorial design show about one of its factors.
type Screening struct {
	Effect, SE, DF float64
	P              float64 // one-sided, that it has no gain
	Off, On        []iikanji.RunID
}

// screenLevel is the one-sided level at which a factorial design proves the gain
// of a factor, as that of a look of a trial.
const screenLevel = 0.0165

// Screen fits the runs of a factorial design; rows[i][k] is whether factor k was
// on in run i. The noise of a run is moderated by the prior. nil if the runs do
// not separate the factors.
func (j Judge) Screen(rows [][]bool, runs []*iikanji.Run) []Screening {
	y := make([]float64, len(runs))
	for i, r := range runs {
		y[i] = math.Log(r.Score)
	}
	fit, ok := stats.FitFactorial(rows, y)
	if !ok {
		return nil
	}
	df := j.Prior.DF + fit.DF
	v := (j.Prior.DF*j.Prior.Var/2 + fit.SS) / df
	out := make([]Screening, len(fit.Effects))
	for k := range out {
		s := Screening{Effect: fit.Effects[k], SE: math.Sqrt(v * fit.Factor[k]), DF: df}
		s.P = stats.Moderated{Mean: s.Effect, SE: s.SE, DF: df}.P()
		for i, r := range runs {
			if rows[i][k] {
				s.On = append(s.On, r.ID)
			} else {
				s.Off = append(s.Off, r.ID)
			}
		}
		out[k] = s
	}
	return out
}

// Proven reports whether the design proves a gain worth keeping.
func (s Screening) Proven(worth float64) bool { return s.P <= screenLevel && s.Effect >= worth }

// Belief is the chance that a factor has an effect, and its size if so. prior is
// that chance before the runs.
func (s Screening) Belief(prior float64) (chance, gain float64) {
	p, mean, _ := Effects{Share: prior, Tau: 0.10}.posterior(s.Effect, s.SE)
	return p, mean
}

// Verdict is the verdict on a factor that was proven by a design.
func (s Screening) Verdict(j Judge, worth float64) iikanji.Verdict {
	m := stats.Moderated{Mean: s.Effect, SE: s.SE, DF: s.DF}
	v := iikanji.Verdict{Call: iikanji.Keep, Reason: iikanji.Proven, Worth: worth, P: s.P, Base: s.Off, Tried: s.On,
		Effect: iikanji.Interval{Mid: s.Effect, Lo: m.Lower(screenLevel), Hi: m.Upper(screenLevel), Level: level}}
	j.Effects.fill(&v, s.Effect, s.SE, s.DF)
	return v
}
