package judging

import (
	"fmt"
	"math"

	"github.com/iikanji/iikanji/internal/portal/contest"
)

// Latest is how many of a team's latest runs the chance is made of.
const Latest = 10

// Chance is the chance that a team passes the final, from how many of its latest runs passed:
// the beta-binomial distribution with the prior Beta(½, ½) of Jeffreys. It is a hint: runs
// after a reboot may fail for other reasons.
func Chance(f contest.Final, latest []bool) float64 {
	latest = latest[max(0, len(latest)-Latest):]
	a, b := 0.5, 0.5
	for _, passed := range latest {
		if passed {
			a++
		} else {
			b++
		}
	}
	sum := 0.0
	for k := f.Pass; k <= f.Runs; k++ {
		sum += math.Exp(lnChoose(f.Runs, k) + lnBeta(float64(k)+a, float64(f.Runs-k)+b) - lnBeta(a, b))
	}
	return min(sum, 1)
}

func lnBeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}

func lnChoose(n, k int) float64 {
	return -math.Log(float64(n+1)) - lnBeta(float64(k+1), float64(n-k+1))
}

// Sentence is the rule of the final in one English sentence; "" without a final.
func Sentence(f contest.Final) string {
	if f.Runs == 0 {
		return ""
	}
	after := ""
	if f.Reboot {
		after = " after a reboot"
	}
	if f.Runs == 1 {
		return fmt.Sprintf("one run%s, which must pass", after)
	}
	return fmt.Sprintf("%d runs%s; %d must pass; the %s counts", f.Runs, after, f.Pass, f.Counts)
}
