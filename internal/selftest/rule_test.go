package selftest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/iikanji/iikanji/internal/stats"
)

type rule struct {
	name   string
	looks  []int
	alpha  []float64
	fut    float64
	cap    float64
	succ   bool    // successive differences for the prior
	ftest  float64 // level below which plain t is asked too
	plain  float64 // multiple of alpha of the plain t
	smooth bool
	robust float64
	runs   int // 1: run-level variance; 2: succ over the trial too
	mode   int
	fb     float64
	reg    int
}

var qcache = map[[2]int]float64{}

func q(alpha, df float64) float64 {
	k := [2]int{int(alpha*1e5 + .5), int(df*10 + .5)}
	v, ok := qcache[k]
	if !ok {
		v = stats.StudentQuantile(1-alpha, float64(k[1])/10)
		qcache[k] = v
	}
	return v
}

func fUpper(x, d1, d2 float64) float64 { // P(F > x)
	return 1 - fcdf(x, d1, d2)
}
func fcdf(x, d1, d2 float64) float64 {
	return stats.FCDF(x, d1, d2)
}

type wt struct {
	w      World
	effect float64
}

func (r *rule) run(w World, effect float64, rng *rand.Rand) (keep bool, n int) {
	m := &machine{World: w, rng: rng}
	aa := make([]float64, 8)
	for i := range aa {
		aa[i] = m.noise(false, true)
	}
	var pv, pdf float64
	if r.succ {
		for i := 1; i < 8; i++ {
			pv += (aa[i] - aa[i-1]) * (aa[i] - aa[i-1]) / 7
		}
		pdf = 4.9
	} else {
		d := []float64{aa[1] - aa[0], aa[3] - aa[2], aa[5] - aa[4], aa[7] - aa[6]}
		pv, pdf = stats.SumSquares(d)/3, 3
	}
	if r.runs == 1 {
		pv, pdf = 2*stats.SumSquares(aa)/7, 7
	}
	if r.runs == 3 { // detrended
		x := []float64{-3.5, -2.5, -1.5, -.5, .5, 1.5, 2.5, 3.5}
		sxy, sxx := 0.0, 0.0
		for i := range x {
			sxy += x[i] * aa[i]
			sxx += x[i] * x[i]
		}
		pv, pdf = 2*(stats.SumSquares(aa)-sxy*sxy/sxx)/6, 6
	}
	pdf = min(pdf, r.cap)
	var ya, yb, seq []float64
	var isB []bool
	luckyAt := -1
	if w.Lucky {
		luckyAt = rng.IntN(4)
	}
	var d []float64
	order := 0
	k := 0
	for {
		if len(d)%2 == 0 {
			order = rng.IntN(2)
		} else {
			order = 1 - order
		}
		var y [2]float64
		for i := range 2 {
			b := (i + order) % 2
			y[b] = m.noise(b == 1, false)
			if w.EveryFourth && k%4 == 0 {
				y[b] += math.Log(0.9)
			}
			if k == luckyAt {
				y[b] += math.Log(1.3)
			}
			k++
		}
		d = append(d, y[1]-y[0]+math.Log1p(effect))
		ya, yb = append(ya, y[0]), append(yb, y[1])
		seq = append(seq, y[order], y[1-order])
		isB = append(isB, order == 1, order == 0)
		n = len(d)
		for li, l := range r.looks {
			if l != n {
				continue
			}
			df := pdf + float64(n-1)
			ss := stats.SumSquares(d)
			s2 := ss / float64(n-1)
			tdf := float64(n - 1)
			if r.runs == 1 || r.runs == 3 {
				ss = 2 * (stats.SumSquares(ya) + stats.SumSquares(yb))
				tdf = float64(2*n - 2)
				s2 = ss / tdf
			}
			if r.runs == 2 {
				bar := (stats.Mean(yb) - stats.Mean(ya))
				_ = bar
			}
			df = pdf + tdf
			v := (pdf*pv + ss) / df
			mean := stats.Mean(d)
			nn := float64(n)
			if r.reg > 0 {
				cal := aa[8-r.reg:]
				var X [][3]float64
				var Y []float64
				for i, c := range cal {
					X = append(X, [3]float64{1, float64(i), 0})
					Y = append(Y, c)
				}
				for i, c := range seq {
					xx := 0.0
					if isB[i] {
						xx = 1
						c += math.Log1p(effect)
					}
					X = append(X, [3]float64{1, float64(r.reg + i), xx})
					Y = append(Y, c)
				}
				b, vf := ols(X, Y)
				mean = b
				nn = 2 / vf
			}
			se := math.Sqrt(v / nn)
			ok := mean-q(r.alpha[li], df)*se > 0 && mean >= 0.01
			if ok && r.ftest > 0 && s2 > pv && fUpper(s2/pv, tdf, pdf) < r.ftest {
				ok = plain(r, li, mean, s2, tdf, stats.SumSquares(d)/float64(n-1), nn)
			}
			sb := 2 * stats.SumSquares(yb) / float64(n-1)
			if ok && r.fb > 0 && sb > pv && fUpper(sb/pv, float64(n-1), pdf) < r.fb {
				ok = plain(r, li, mean, s2, tdf, stats.SumSquares(d)/float64(n-1), nn)
			}
			sd := stats.SumSquares(d) / float64(n-1)
			if ok && r.mode >= 3 && sd > pv && fUpper(sd/pv, float64(n-1), pdf) < r.ftest {
				ok = plain(r, li, mean, s2, tdf, sd, nn)
			}
			if ok && r.robust > 0 {
				ok = mean-q(r.robust, tdf)*math.Sqrt(s2/nn) > 0
			}
			if ok {
				return true, n
			}
			if mean+q(r.fut, df)*se < 0.01 {
				return false, n
			}
			if li == len(r.looks)-1 {
				return false, n
			}
		}
	}
}

func ols(X [][3]float64, Y []float64) (float64, float64) {
	var A [3][4]float64
	for i, x := range X {
		for a := range 3 {
			for b := range 3 {
				A[a][b] += x[a] * x[b]
			}
			A[a][3] += x[a] * Y[i]
		}
	}
	// eliminate 0 and 1
	for k := range 2 {
		for r := k + 1; r < 3; r++ {
			f := A[r][k] / A[k][k]
			for c := k; c < 4; c++ {
				A[r][c] -= f * A[k][c]
			}
		}
	}
	return A[2][3] / A[2][2], 1 / A[2][2]
}

func plain(r *rule, li int, mean, s2, tdf, sd, nn float64) bool {
	a := r.alpha[li] * r.plain
	ok := mean-q(a, tdf)*math.Sqrt(s2/nn) > 0
	if r.mode == 1 || r.mode == 3 {
		ok = ok && mean-q(min(.1, 2*a), tdf/2)*math.Sqrt(sd/nn) > 0
	}
	if r.mode == 2 || r.mode == 4 {
		ok = ok && mean-q(a, tdf)*math.Sqrt(max(sd, s2)/nn) > 0
	}
	return ok
}

func TestRules(t *testing.T) {
	if os.Getenv("R") == "" {
		t.Skip()
	}
	f := World{Sigma: .05}
	worlds := []wt{{f, 0}, {World{Sigma: .05, Shape: StudentT3}, 0}, {World{Sigma: .05, Shape: Skewed}, 0}, {World{Sigma: .05, Drift: .01}, 0}, {World{Sigma: .05, Together: .5}, 0},
		{World{Sigma: .05, Together: .8}, .10}, {World{Sigma: .05, Outliers: .05}, 0}, {World{Sigma: .05, Lucky: true}, 0}, {World{Sigma: .05, Candidate: 1.5}, 0}, {World{Sigma: .05, Candidate: 2}, 0},
		{World{Sigma: .05, PriorSigma: .025}, 0}, {World{Sigma: .05, PriorSigma: .05 / 3}, 0}, {World{Sigma: .05, EveryFourth: true}, 0}, {World{Sigma: .02, EveryFourth: true}, 0},
		{f, .05}, {f, .10}, {f, .15}}
	names := "normal t3 skew drift AR A.8 out lucky c1.5 c2 aa/2 aa/3 4th5 4th2 +5 +10 +15"
	fmt.Println("                        ", names)
	pk := .0169
	_ = pk
	base := []int{2, 3, 4, 6, 8}
	_ = base
	all := []int{2, 3, 4, 5, 6, 7, 8}
	_ = all
	var rules []rule
	for _, al := range [][]float64{{.010, .018, .020, .020, .020}, {.012, .018, .018, .018, .018}, {.010, .016, .018, .018, .022}} {
		for _, fp := range [][3]float64{{.3, .5, .2}, {.3, .6, .2}} {
			rules = append(rules, rule{name: fmt.Sprint(al[0], al[2], al[4], fp), looks: base, alpha: al, fut: .1, cap: 8, runs: 1, ftest: fp[0], plain: fp[1], fb: fp[2], mode: 0, reg: 4})
		}
	}
	for _, al := range [][]float64{{.006, .014, .016, .016, .018, .020}, {.008, .014, .016, .016, .016, .016}} {
		for _, fp := range [][3]float64{{.3, .5, .2}, {.35, .5, .2}} {
			rules = append(rules, rule{name: fmt.Sprint("5:", al[0], al[2], al[4], fp), looks: []int{2, 3, 4, 5, 6, 8}, alpha: al, fut: .1, cap: 8, runs: 1, ftest: fp[0], plain: fp[1], fb: fp[2], mode: 0, reg: 4})
		}
	}
	const n = 20000
	for _, r := range rules {
		fmt.Printf("%-24s", r.name)
		for i, w := range worlds {
			kept, pairs := 0, 0
			for j := range n {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				k, p := r.run(w.w, w.effect, rng)
				if k {
					kept++
				}
				pairs += p
			}
			fmt.Printf(" %4.1f", 100*float64(kept)/n)
			if w.effect == .10 {
				fmt.Printf("(%.2f)", float64(pairs)/n)
			}
		}
		fmt.Println()
	}
}
