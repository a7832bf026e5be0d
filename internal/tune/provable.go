package tune

import (
	"fmt"
	"math"
	"time"

	"github.com/iikanji/iikanji/internal/stats"
)

// provableZ is the normal quantile of 80 %, the chance with which an effect must be
// proven to be called provable.
const provableZ = 0.8416

// provable says which effects trials can prove with the noise and the time that
// there are.
func (t *Tuner) provable() string {
	sizes := t.judge.Looks.Sizes[1:] // two pairs often vary more than the known noise explains, and then prove nothing
	least, most := sizes[0], sizes[0]
	for _, n := range sizes {
		if t.pairTime(n) <= t.timeFor() {
			most = n
		}
	}
	says := fmt.Sprintf("with this noise a trial can prove %s and more in %s", t.leastProven(least), t.trialTime(least))
	if most > least {
		says += fmt.Sprintf(", %s and more in %s", t.leastProven(most), t.trialTime(most))
	}
	if t.Options.Time > 0 {
		says += fmt.Sprintf("; there are %s for trials", max(0, t.timeFor()).Round(time.Second))
	}
	return says
}

// leastProven is the least effect that n pairs prove with a chance of 80 %.
func (t *Tuner) leastProven(n int) string {
	p := t.judge.Prior
	df := p.DF + 2*float64(n-1)
	effect := (stats.StudentQuantile(1-t.judge.Looks.Level(n), df) + provableZ) * p.SD() / math.Sqrt(float64(n))
	return fmt.Sprintf("%+.0f %%", math.Ceil(stats.Percent(effect)))
}

func (t *Tuner) pairTime(n int) time.Duration { return time.Duration(2*n) * t.cost }

func (t *Tuner) trialTime(n int) string {
	return fmt.Sprintf("%d pairs (%s)", n, t.pairTime(n).Round(time.Second))
}
