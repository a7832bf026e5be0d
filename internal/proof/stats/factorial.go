package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// generators are the first rows of the two-level designs of Plackett and Burman
// (1946, Biometrika 33) for 8, 12, 16 and 20 runs. The other rows are their cyclic
// shifts, and a row without any factor.
var generators = map[int]string{
	8:  "+++-+--",
	12: "++-+++---+-",
	16: "++++-+-++--+---",
	20: "++--++++-+-+----++-",
}

// FactorialRuns is the number of runs of a design for k factors, a level and a
// trend, with a degree of freedom left; 0 if there is none.
func FactorialRuns(k int) int {
	for n := 8; n <= 20; n += 4 {
		if k+3 <= n {
			return n
		}
	}
	return 0
}

// designDraws is how many random designs one is chosen from.
const designDraws = 40

// Factorial is a design for k factors: in each of its runs about half of them are
// on, and each pair of factors is on together as often as not. The assignment of
// factors and the order of runs are random; of several draws the one is taken whose
// factors are least confounded with a trend.
func Factorial(k int, rng *rand.Rand) [][]bool {
	var best [][]bool
	least := math.Inf(1)
	for range designDraws {
		if rows := randomDesign(k, rng); best == nil || confounded(rows) < least {
			best, least = rows, confounded(rows)
		}
	}
	return best
}

func randomDesign(k int, rng *rand.Rand) [][]bool {
	n := FactorialRuns(k)
	first := generators[n]
	columns := rng.Perm(n - 1)[:k]
	rows := make([][]bool, n)
	for i, at := range rng.Perm(n) {
		row := make([]bool, k)
		for j, c := range columns {
			row[j] = i < n-1 && first[(c+i)%(n-1)] == '+'
		}
		rows[at] = row
	}
	return rows
}

// confounded is the largest relative growth of the variance of a factor that a
// trend over the runs causes. The factors are orthogonal, so that the trend's
// correlations with them add up.
func confounded(rows [][]bool) float64 {
	n := len(rows)
	all, most := 0.0, 0.0
	for j := range rows[0] {
		sum, square := 0.0, 0.0
		for i, row := range rows {
			t := float64(i) - float64(n-1)/2
			sum += t * (2*bit(row[j]) - 1)
			square += t * t
		}
		r2 := sum * sum / square / float64(n)
		all, most = all+r2, max(most, r2)
	}
	if all >= 1 {
		return math.Inf(1)
	}
	return most / (1 - all)
}

// A Fit is the least-squares fit of a factorial design.
type Fit struct {
	Effects []float64 // of each factor being on
	Factor  []float64 // variance of each in units of the variance of a run
	SS      float64   // residual sum of squares
	DF      float64
}

// FitFactorial fits a level, a linear trend over the runs and the effect of each
// factor. ok is false if the runs do not separate them.
func FitFactorial(rows [][]bool, y []float64) (f Fit, ok bool) {
	if len(rows) == 0 {
		return f, false
	}
	k, n := len(rows[0]), len(rows)
	x := make([][]float64, n)
	for i, row := range rows {
		x[i] = append(x[i], 1, (float64(i)-float64(n-1)/2)/float64(n))
		for _, on := range row {
			x[i] = append(x[i], bit(on))
		}
	}
	p := k + 2
	a := make([][]float64, p) // the normal equations beside the unit matrix
	b := make([]float64, p)
	for r := range p {
		a[r] = make([]float64, 2*p)
		a[r][p+r] = 1
		for i := range x {
			b[r] += x[i][r] * y[i]
			for c := range p {
				a[r][c] += x[i][r] * x[i][c]
			}
		}
	}
	if !invert(a, p) {
		return f, false
	}
	beta := make([]float64, p)
	for r := range p {
		for c := range p {
			beta[r] += a[r][p+c] * b[c]
		}
	}
	for i := range x {
		e := y[i]
		for c := range p {
			e -= x[i][c] * beta[c]
		}
		f.SS += e * e
	}
	f.DF, f.Effects = float64(n-p), slices.Clone(beta[2:])
	for j := range k {
		f.Factor = append(f.Factor, a[2+j][p+2+j])
	}
	return f, true
}

// invert turns the left half of p rows into the unit matrix (Gauss and Jordan,
// with pivots); false if it is singular.
func invert(a [][]float64, p int) bool {
	for c := range p {
		best := c
		for r := c; r < p; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[best][c]) {
				best = r
			}
		}
		if math.Abs(a[best][c]) < 1e-9 {
			return false
		}
		a[c], a[best] = a[best], a[c]
		scale := a[c][c]
		for i := range a[c] {
			a[c][i] /= scale
		}
		for r := range p {
			if f := a[r][c]; r != c && f != 0 {
				for i := range a[r] {
					a[r][i] -= f * a[c][i]
				}
			}
		}
	}
	return true
}
