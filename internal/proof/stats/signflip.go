package stats

import "math"

// maxSignFlip is the largest sample of [SignFlip], which computes 2ⁿ sums.
const maxSignFlip = 20

// SignFlip is the p-value of the exact one-sided sign-flip test for "the mean is
// above 0": the share of the 2ⁿ assignments of signs to the differences whose
// sum is at least the observed one (Fisher 1935, The Design of Experiments,
// section 21). It assumes a distribution that is symmetric around 0 and nothing
// else; its smallest value is 2⁻ⁿ. Only the first maxSignFlip differences are
// used. It is 1 for no differences.
func SignFlip(d []float64) float64 {
	d = d[:min(len(d), maxSignFlip)]
	seen, scale := 0.0, 0.0
	for _, v := range d {
		seen += v
		scale += math.Abs(v)
	}
	slack := 1e-12 * scale // rounding depends on the order of the sum
	count := 0
	for signs := range 1 << len(d) {
		sum := 0.0
		for i, v := range d {
			if signs>>i&1 == 1 {
				v = -v
			}
			sum += v
		}
		if sum >= seen-slack {
			count++
		}
	}
	return float64(count) / float64(int(1)<<len(d))
}
