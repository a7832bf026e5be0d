package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A Sparse is a linear model of runs in which several factors are on or off: the value of a
// run is a level, a slow trend, the sum of the effects of the factors that are on, and noise.
// There may be more factors than runs, because most factors have no effect or a small one
// (a spike and slabs; George and McCulloch 1993, JASA 88).
type Sparse struct {
	Rows  [][]bool // of each run, whether each factor was on
	Y     []float64
	Slabs []Slabs // of each factor, what was known before
	// Columns are further values of each run on which its value depends, one list for each, with
	// what was known of their slopes.
	Columns [][]float64
	Slopes  []Slabs
	// Noise is the noise of a difference of two runs.
	Noise Prior
	// Usual is the noise of a run on other sites; 0 is that of a score.
	Usual float64
}

// Slabs is what is known of the effect of a factor before the runs: it has none with
// probability 1 − Small − Large, and else one of a normal distribution around hopeful times its
// standard deviation: a remedy helps more often than it harms.
type Slabs struct {
	Small, Large float64 // probabilities
	Tau          float64 // standard deviation of a large effect
	Even         bool    // as likely below 0 as above
}

// Slope is what is known of how a value follows another one: as much as that, less, or not at all.
func Slope() Slabs { return Slabs{Large: 0.7, Tau: 0.7} }

// Moves is what is known of the effect of a factor on the work of a request.
func Moves() Slabs { return Slabs{Small: 0.2, Large: 0.15, Tau: 0.25, Even: true} }

const (
	// smallTau is the standard deviation of a small effect.
	smallTau = 0.08
	// hopeful is the mean of an effect in standard deviations.
	hopeful = 0.5
	// levelTau is that of the level around the mean of all runs: hardly any bound.
	levelTau = 3
	// trendTau is that of the trend from one run to the next.
	trendTau = 0.004
	// usualRun and usualDF are the noise of a run, and how many degrees of freedom it counts
	// as beside what is known of this site.
	usualRun = 0.035
	usualDF  = 2
)

// FewDraws are enough for what is nearly certain, as the effects on the work of a request.
const FewDraws = 60

// Draws are samples of the effects of all factors, and then of all slopes, from their distribution
// after the runs (collapsed Gibbs sampling). The first of them are not independent of the start and are
// left out.
func (m Sparse) Draws(rng *rand.Rand, n int) [][]float64 {
	g := newGibbs(m)
	for range n / 4 {
		g.sweep(rng)
	}
	draws := make([][]float64, n)
	for i := range draws {
		g.sweep(rng)
		draws[i] = slices.Clone(g.effects)
	}
	return draws
}

// A gibbs is the state of the sampler. inv is the inverse of the covariance of the runs when
// the effects of the slabs that are chosen, the level and the trend are integrated out.
type gibbs struct {
	Sparse
	n       int
	y       []float64 // around their mean
	columns [][]float64
	trend   []float64
	slab    []int // of each factor: 0 none, 1 small, 2 large
	inv     []float64
	effects []float64
	s2      float64 // variance of a run
	u, v    []float64
	on      []int
}

func newGibbs(m Sparse) *gibbs {
	factors := len(m.Slabs)
	m.Slabs = slices.Concat(m.Slabs, m.Slopes)
	n, p := len(m.Y), len(m.Slabs)
	g := &gibbs{Sparse: m, n: n, y: make([]float64, n), slab: make([]int, p), inv: make([]float64, n*n), effects: make([]float64, p),
		u: make([]float64, n), v: make([]float64, n), on: make([]int, 0, n)}
	mean := Mean(m.Y)
	for i := range g.y {
		g.y[i] = m.Y[i] - mean
		g.trend = append(g.trend, float64(i)-float64(n-1)/2)
	}
	for j := range factors {
		c := make([]float64, n)
		for i := range c {
			c[i] = bit(m.Rows[i][j])
		}
		g.columns = append(g.columns, c)
	}
	g.columns = append(g.columns, m.Columns...)
	g.Usual = cmp.Or(m.Usual, usualRun)
	g.s2 = (usualDF*g.Usual*g.Usual + m.Noise.DF*m.Noise.Var/2) / (usualDF + m.Noise.DF)
	return g
}

// sweep draws the slab of each factor, the effects and the noise once.
func (g *gibbs) sweep(rng *rand.Rand) {
	g.invert()
	copy(g.v, g.y) // without the means of the slabs that are chosen
	for j, k := range g.slab {
		g.shift(j, -g.hope(j)*g.tau(j, k))
	}
	for j := range g.slab {
		if t := g.tau(j, g.slab[j]); t > 0 {
			g.add(g.columns[j], -t*t)
			g.shift(j, g.hope(j)*t)
		}
		square := g.times(g.columns[j])
		g.slab[j] = g.drawSlab(rng, j, square)
		if t := g.tau(j, g.slab[j]); t > 0 {
			g.addTimes(square, t*t)
			g.shift(j, -g.hope(j)*t)
		}
	}
	g.drawEffects(rng)
}

func (g *gibbs) tau(factor, slab int) float64 {
	return [3]float64{0, smallTau, g.Slabs[factor].Tau}[slab]
}

// hope is the mean of an effect of a factor, in standard deviations.
func (g *gibbs) hope(factor int) float64 {
	if g.Slabs[factor].Even {
		return 0
	}
	return hopeful
}

// invert computes inv anew for the present noise and slabs.
func (g *gibbs) invert() {
	clear(g.inv)
	for i := range g.n {
		g.inv[i*g.n+i] = 1 / g.s2
	}
	ones := g.v
	for i := range ones {
		ones[i] = 1
	}
	g.add(ones, levelTau*levelTau)
	g.add(g.trend, trendTau*trendTau)
	for j, k := range g.slab {
		if t := g.tau(j, k); t > 0 {
			g.add(g.columns[j], t*t)
		}
	}
}

// shift adds an effect of a factor to v.
func (g *gibbs) shift(factor int, effect float64) {
	if effect == 0 {
		return
	}
	for i, x := range g.columns[factor] {
		g.v[i] += effect * x
	}
}

// times is inv·c in g.u, and c'·inv·c.
func (g *gibbs) times(c []float64) (square float64) {
	on := g.on[:0] // half of a column is 0
	for k, x := range c {
		if x != 0 {
			on = append(on, k)
		}
	}
	for i := range g.n {
		row, sum := g.inv[i*g.n:(i+1)*g.n], 0.0
		for _, k := range on {
			sum += row[k] * c[k]
		}
		g.u[i] = sum
		square += sum * c[i]
	}
	return square
}

// add adds variance·c·c' to the covariance (Sherman and Morrison).
func (g *gibbs) add(c []float64, variance float64) { g.addTimes(g.times(c), variance) }

// addTimes is add with what times found of c.
func (g *gibbs) addTimes(square, variance float64) {
	f, u := variance/(1+variance*square), g.u
	for i, x := range u {
		row, fx := g.inv[i*g.n:(i+1)*g.n], f*x
		for k := range row {
			row[k] -= fx * u[k]
		}
	}
}

// drawSlab draws the slab of a factor whose variance is not in inv, from what times found of it.
func (g *gibbs) drawSlab(rng *rand.Rand, factor int, square float64) int {
	dot := 0.0
	for i, u := range g.u {
		dot += u * g.v[i]
	}
	prior := g.Slabs[factor]
	weights := [3]float64{1 - prior.Small - prior.Large, prior.Small, prior.Large}
	logs, most := [3]float64{}, math.Inf(-1)
	for k, w := range weights {
		t := g.tau(factor, k)
		d, mean := 1+t*t*square, g.hope(factor)*t
		rest := dot - mean*square
		logs[k] = math.Log(w) - math.Log(d)/2 + mean*dot - mean*mean*square/2 + t*t*rest*rest/(2*d)
		most = max(most, logs[k])
	}
	sum := 0.0
	for k := range weights {
		weights[k] = math.Exp(logs[k] - most)
		sum += weights[k]
	}
	r := rng.Float64() * sum
	for k, w := range weights {
		if r -= w; r < 0 {
			return k
		}
	}
	return 0
}

// drawEffects draws the effects and then the noise: a draw from before the runs is moved by
// what the runs say against it (Matheron's rule).
func (g *gibbs) drawEffects(rng *rand.Rand) {
	sd, level, slope := math.Sqrt(g.s2), levelTau*rng.NormFloat64(), trendTau*rng.NormFloat64()
	for j, k := range g.slab {
		g.effects[j] = 0
		if t := g.tau(j, k); t > 0 {
			g.effects[j] = t * (g.hope(j) + rng.NormFloat64())
		}
	}
	for i := range g.n {
		g.v[i] = g.y[i] - level - slope*g.trend[i] - g.sum(i) - sd*rng.NormFloat64()
	}
	g.times(g.v)
	for i, u := range g.u {
		level += levelTau * levelTau * u
		slope += trendTau * trendTau * u * g.trend[i]
	}
	for j, k := range g.slab {
		t := g.tau(j, k)
		for i, u := range g.u {
			g.effects[j] += t * t * u * g.columns[j][i]
		}
	}
	ss := usualDF*g.Usual*g.Usual + g.Noise.DF*g.Noise.Var/2
	for i := range g.n {
		e := g.y[i] - level - slope*g.trend[i] - g.sum(i)
		ss += e * e
	}
	chi2 := 0.0
	for range int(math.Round(usualDF+g.Noise.DF)) + g.n {
		z := rng.NormFloat64()
		chi2 += z * z
	}
	g.s2 = max(ss/chi2, leastVariance)
}

// leastVariance keeps the arithmetic sound where scores have no noise.
const leastVariance = 1e-6

// sum is the sum of the effects of the factors of a run.
func (g *gibbs) sum(run int) float64 {
	sum := 0.0
	for j, c := range g.columns {
		if c[run] != 0 {
			sum += g.effects[j] * c[run]
		}
	}
	return sum
}
