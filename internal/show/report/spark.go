package report

import (
	"math"
	"strings"
)

// sparks are the bars of a sparkline, the lowest first.
var sparks = []rune("▁▂▃▄▅▆▇█")

// Spark draws values as bars from 0 to the largest one, in at most cols columns:
// longer series are averaged. A value that is not a number is drawn as 0.
func Spark(values []float64, cols int) string {
	if len(values) == 0 || cols < 1 {
		return ""
	}
	means := shrink(values, cols)
	most := 0.0
	for _, v := range means {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range means {
		i := 0
		if most > 0 {
			i = int(v/most*float64(len(sparks)-1) + 0.5)
		}
		b.WriteRune(sparks[min(max(i, 0), len(sparks)-1)])
	}
	return b.String()
}

// shrink averages values into at most n.
func shrink(values []float64, n int) []float64 {
	n = min(n, len(values))
	out := make([]float64, n)
	for i := range n {
		from, to := i*len(values)/n, (i+1)*len(values)/n
		for _, v := range values[from:to] {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				out[i] += v / float64(to-from)
			}
		}
	}
	return out
}
