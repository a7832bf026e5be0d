package stats

import "math"

// StudentCDF is P(T ≤ t) of Student's t with nu > 0 degrees of freedom:
// 1 − ½·I(ν/(ν+t²); ν/2, ½) for t ≥ 0, by symmetry below (Abramowitz and
// Stegun 1964, 26.7.1 and 26.5.27). nu may be +Inf, which is the normal.
func StudentCDF(t, nu float64) float64 {
	switch {
	case math.IsNaN(t) || nu <= 0 || math.IsNaN(nu):
		return math.NaN()
	case math.IsInf(t, 1):
		return 1
	case math.IsInf(t, -1):
		return 0
	case nu > normalFrom:
		return NormalCDF(t)
	}
	tail := studentTail(math.Abs(t), nu)
	if t < 0 {
		return tail
	}
	return 1 - tail
}

// studentTail is P(T > t) for t ≥ 0, without the loss of digits of 1 − CDF.
// Near t = 0 the first argument of I is nearly 1, so the other form is used.
func studentTail(t, nu float64) float64 {
	t2 := t * t
	if t2 < nu {
		return 0.5 - 0.5*incompleteBeta(t2/(nu+t2), 0.5, nu/2)
	}
	return 0.5 * incompleteBeta(nu/(nu+t2), nu/2, 0.5)
}

// StudentQuantile is the t with StudentCDF(t, nu) = p, to about 10 digits; 0 < p < 1.
func StudentQuantile(p, nu float64) float64 {
	switch {
	case !(p > 0 && p < 1) || !(nu > 0):
		return math.NaN()
	case p == 0.5:
		return 0
	case p < 0.5:
		return -upperQuantile(p, nu)
	}
	return upperQuantile(1-p, nu)
}

// upperQuantile finds the t > 0 with P(T > t) = tail by Newton's method inside
// a bracket: a step that leaves it (heavy tails, nu < 1) becomes a bisection.
func upperQuantile(tail, nu float64) float64 {
	z := math.Sqrt2 * math.Erfcinv(2*tail)
	if nu > normalFrom {
		return z
	}
	l1, _ := math.Lgamma((nu + 1) / 2)
	l2, _ := math.Lgamma(nu / 2)
	logC := l1 - l2 - 0.5*math.Log(nu*math.Pi)
	lo, hi := 0.0, math.Inf(1)
	t := z + (z*z*z+z)/(4*nu) // Abramowitz and Stegun 26.7.5
	for range 400 {
		over := studentTail(t, nu) - tail
		if over > 0 {
			lo = t
		} else {
			hi = t
		}
		next := t + over/math.Exp(logC-(nu+1)/2*math.Log1p(t*t/nu))
		switch {
		case next > lo && next < hi && next < 4*t:
		case math.IsInf(hi, 1):
			next = 2 * t
		default:
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-t) <= 1e-14*t {
			return next
		}
		t = next
	}
	return t
}

// normalFrom is where t is the normal to 7 digits, and where the difference of
// two large Lgamma has lost more than that.
const normalFrom = 1e7

// NormalCDF is Φ(z).
func NormalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// NormalQuantile is Φ⁻¹(p).
func NormalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// incompleteBeta is the regularised I(x; a, b) for 0 ≤ x ≤ 1, by its continued
// fraction (Abramowitz and Stegun 26.5.8), on the side where that converges quickly.
func incompleteBeta(x, a, b float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(x, a, b) / a
	}
	return 1 - front*betaFraction(1-x, b, a)/b
}

// betaFraction evaluates the fraction by Lentz's method: numerators and
// denominators as a running product, with zeros moved off zero.
func betaFraction(x, a, b float64) float64 {
	const tiny, eps = 1e-300, 1e-16
	off := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/off(1-(a+b)*x/(a+1))
	f := d
	for i := 1; i < 10_000; i++ {
		m := float64(i)
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / off(1+even*d)
		c = off(1 + even/c)
		f *= c * d
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / off(1+odd*d)
		c = off(1 + odd/c)
		step := c * d
		f *= step
		if math.Abs(step-1) < eps {
			break
		}
	}
	return f
}
