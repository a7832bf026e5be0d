package stats

import "math"

// MaxSignFlip is the largest sample of [SignFlip]; 2ⁿ sums are counted.
const MaxSignFlip = 20

// SignFlip is the exact one-sided sign-flip test of "the mean is above 0": the
// share of the 2ⁿ ways to give the differences signs whose sum is at least the
// one seen (Fisher 1935, The Design of Experiments, section 21). It assumes
// symmetry around 0 and nothing of the shape; its smallest value is 2⁻ⁿ. Only
// the first [MaxSignFlip] differences are used; 1 for none.
func SignFlip(d []float64) float64 {
	d = d[:min(len(d), MaxSignFlip)]
	seen, scale := 0.0, 0.0
	for _, v := range d {
		seen += v
		scale += math.Abs(v)
	}
	slack := 1e-12 * scale // sums in another order differ in the last digits
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
