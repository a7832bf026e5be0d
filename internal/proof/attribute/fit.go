package attribute

import (
	"math"
	"slices"
)

// A fitting is the least-squares fit of one digest by some columns.
type fitting struct {
	d     *design
	y     []float64 // weighted
	yy    float64
	xy    []float64 // inner products with all columns
	in    []int     // the selected columns
	each  []float64 // their coefficients
	rest  float64   // squared error
	ticks float64   // number of independent ticks
}

func (d *design) fitting(counts []float64) *fitting {
	f := &fitting{d: d, y: make([]float64, len(counts)), xy: make([]float64, len(d.columns)), ticks: float64(len(counts))}
	for t, c := range counts {
		f.y[t] = c * d.w[t]
	}
	f.yy = dot(f.y, f.y)
	f.rest = f.yy
	for i := range d.columns {
		f.xy[i] = dot(d.columns[i].x, f.y)
	}
	return f
}

// whole looks for a single route that sends the digest a small whole number of
// times per request. Such a route is more plausible than several routes with
// arbitrary numbers, even if those fit a little better, provided that it fits
// significantly better than every other single route.
func (f *fitting) whole(executions float64) bool {
	best := f.bestMore(nil, func(int) bool { return true })
	if best.column < 0 || f.d.columns[best.column].route == f.d.none() {
		return false
	}
	route := f.d.columns[best.column].route
	ratio := executions / f.d.requests[route]
	if m := math.Round(ratio); m < 1 || m > mostWhole || math.Abs(ratio-m) > wholeWithin*m {
		return false
	}
	in := []int{best.column}
	ticks := f.independent(in, best.each)
	if next := f.bestMore(nil, func(r int) bool { return r != route }); f.test(min(next.rest, f.yy), best.rest, ticks, 1) < wholeF {
		return false
	}
	f.in, f.each, f.rest, f.ticks = in, best.each, best.rest, ticks
	return true
}

// grow selects columns, one at a time.
func (f *fitting) grow() {
	for range 3 * maxColumns {
		best := f.bestMore(f.in, func(r int) bool { return !f.has(f.in, r) })
		if best.column < 0 {
			break
		}
		in := append(slices.Clone(f.in), best.column)
		was, ticks := *f, f.independent(in, best.each)
		if f.test(f.rest, best.rest, ticks, len(in)) < enterF {
			break
		}
		f.in, f.each, f.rest, f.ticks = in, best.each, best.rest, ticks
		f.shrink()
		if slices.Equal(f.in, was.in) || len(f.in) == maxColumns {
			break
		}
	}
	f.tune()
}

// shrink removes columns without which the fit is not significantly worse.
func (f *fitting) shrink() {
	for len(f.in) > 1 {
		worst, least := -1, math.Inf(1)
		for i := range f.in {
			_, rest, ok := f.solve(without(f.in, i))
			if v := f.test(rest, f.rest, f.ticks, len(f.in)); ok && v < least {
				worst, least = i, v
			}
		}
		if worst < 0 || least >= stayF {
			return
		}
		f.in = without(f.in, worst)
		f.each, f.rest, _ = f.solve(f.in)
	}
}

// tune replaces each column by the best one of its route: the assumed time was
// chosen before the other routes were known.
func (f *fitting) tune() {
	for range 2 {
		for i, c := range f.in {
			for o := range f.d.columns {
				if f.d.columns[o].route != f.d.columns[c].route || slices.Contains(f.in, o) {
					continue
				}
				in := slices.Clone(f.in)
				in[i] = o
				if each, rest, ok := f.solve(in); ok && rest < f.rest {
					f.in, f.each, f.rest = in, each, rest
				}
			}
		}
	}
	if len(f.in) > 0 {
		f.ticks = f.independent(f.in, f.each)
	}
}

// A more is a fit with one more column.
type more struct {
	column int // -1 for none
	each   []float64
	rest   float64
}

// bestMore finds the column that improves the fit most and keeps all coefficients
// positive, among those of no route and of the routes that may have another one.
func (f *fitting) bestMore(in []int, may func(route int) bool) more {
	best := more{column: -1, rest: math.Inf(1)}
	for c, col := range f.d.columns {
		if col.route != f.d.none() && !may(col.route) || slices.Contains(in, c) {
			continue
		}
		each, rest, ok := f.solve(append(slices.Clone(in), c))
		if ok && rest < best.rest {
			best = more{c, each, rest}
		}
	}
	return best
}

// has reports whether a route has a column in the list.
func (f *fitting) has(in []int, route int) bool {
	return slices.ContainsFunc(in, func(c int) bool { return f.d.columns[c].route == route })
}

// rival finds the route that can best replace the one of the i-th column, and how
// much worse the fit is then.
func (f *fitting) rival(i int) (route int, margin float64) {
	in := without(f.in, i)
	_, rest, ok := f.solve(in)
	if !ok {
		rest = f.yy
	}
	route = -1
	own := f.d.columns[f.in[i]].route
	if best := f.bestMore(in, func(r int) bool { return r != own }); best.column >= 0 && best.rest < rest {
		route, rest = f.d.columns[best.column].route, best.rest
	}
	return route, f.test(rest, f.rest, f.ticks, len(f.in))
}

// test is the F value of the difference of two squared errors.
func (f *fitting) test(large, small, ticks float64, columns int) float64 {
	if small <= 1e-12*f.yy {
		small = 1e-12 * f.yy
	}
	return (large/small - 1) * max(0, ticks-float64(columns))
}

// solve is the least-squares fit by some columns. ok is false if a coefficient is
// not positive or the columns are nearly dependent.
func (f *fitting) solve(in []int) (each []float64, rest float64, ok bool) {
	n := len(in)
	if n == 0 {
		return nil, f.yy, true
	}
	l := f.factor(in)
	if l == nil {
		return nil, 0, false
	}
	each = make([]float64, n)
	for i := range n {
		sum := f.xy[in[i]]
		for k := range i {
			sum -= l[i][k] * each[k]
		}
		each[i] = sum / l[i][i]
	}
	rest = f.yy - dot(each, each)
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			each[i] -= l[k][i] * each[k]
		}
		if each[i] /= l[i][i]; each[i] <= 0 {
			return nil, 0, false
		}
	}
	return each, max(rest, 0), true
}

// factor is the Cholesky factor of the inner products of some columns; nil if
// they are nearly dependent.
func (f *fitting) factor(in []int) [][]float64 {
	l := make([][]float64, len(in))
	for i, a := range in {
		l[i] = make([]float64, i+1)
		for j := range i + 1 {
			sum := f.d.columns[a].norm
			if j < i {
				sum = f.d.inner(in[j])[a]
			}
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i > j {
				l[i][j] = sum / l[j][j]
			} else if sum <= 1e-9*f.d.columns[a].norm {
				return nil
			} else {
				l[i][i] = math.Sqrt(sum)
			}
		}
	}
	return l
}

// independent is the number of independent ticks of a fit: the ticks divided by
// the time over which residuals are alike.
func (f *fitting) independent(in []int, each []float64) float64 {
	rest := slices.Clone(f.y)
	for i, c := range in {
		for t, x := range f.d.columns[c].x {
			rest[t] -= each[i] * x
		}
	}
	n := len(rest)
	all := dot(rest, rest)
	if all <= 1e-12*f.yy {
		return float64(n)
	}
	alike := 1.0
	for lag := 1; lag <= n/4; lag++ {
		r := dot(rest[lag:], rest[:n-lag]) / all
		if r < whitened {
			break
		}
		alike += 2 * r
	}
	return float64(n) / alike
}

// stdErr is the standard error of the i-th coefficient.
func (f *fitting) stdErr(i int) float64 {
	in := append(without(f.in, i), f.in[i]) // as the last one, its variance is that of its pivot
	l := f.factor(in)
	n := len(in)
	if l == nil || f.ticks <= float64(n) {
		return math.Inf(1)
	}
	// Ticks that are alike contain the same information.
	variance := f.rest / float64(len(f.y)-n) * float64(len(f.y)) / f.ticks
	return math.Sqrt(variance) / l[n-1][n-1]
}

// explained is the share of the variance that the fit explains, as weighted.
func (f *fitting) explained(counts []float64) float64 {
	ww, wy := 0.0, 0.0
	for t := range counts {
		ww, wy = ww+f.d.w[t]*f.d.w[t], wy+f.d.w[t]*f.y[t]
	}
	total := f.yy - wy*wy/ww // around the weighted mean
	if total <= 0 {
		return 0
	}
	return max(0, 1-f.rest/total)
}

// without is a list without its i-th element.
func without(in []int, i int) []int { return slices.Delete(slices.Clone(in), i, i+1) }
