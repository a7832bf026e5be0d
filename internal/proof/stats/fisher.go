package stats

import "math"

// Fisher is the one-sided p-value of Fisher's exact test that events are more
// frequent in the first of two samples: k1 of n1 against k2 of n2.
func Fisher(k1, n1, k2, n2 int) float64 {
	k, n := k1+k2, n1+n2
	sum := 0.0
	for i := k1; i <= min(k, n1); i++ {
		if k-i > n2 {
			continue
		}
		sum += math.Exp(choose(n1, i) + choose(n2, k-i) - choose(n, k))
	}
	return min(1, sum)
}

// choose is the logarithm of the binomial coefficient.
func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}
