package stats

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s = %.10g, want %.10g ± %g", what, got, want, within)
	}
}

// TestStudentQuantile compares with printed tables, at the levels of the looks
// and at common ones.
func TestStudentQuantile(t *testing.T) {
	for _, c := range []struct{ upper, nu, want, within float64 }{
		{0.0169, 9, 2.501, 6e-4}, {0.10, 9, 1.383, 6e-4},
		{0.0169, 10, 2.458, 6e-4}, {0.10, 10, 1.372, 6e-4},
		{0.0169, 11, 2.423, 6e-4}, {0.10, 11, 1.363, 6e-4},
		{0.0169, 13, 2.372, 6e-4}, {0.10, 13, 1.350, 6e-4},
		{0.0169, 15, 2.336, 6e-4}, {0.10, 15, 1.341, 6e-4},
		{0.025, 1, 12.7062047361747, 1e-9}, {0.025, 2, 4.30265272991, 1e-9},
		{0.05, 30, 1.69726088659, 1e-9},
		{0.025, 120, 1.97993040508, 1e-9}, {0.0005, 5, 6.8688, 5e-5},
		{0.025, math.Inf(1), 1.95996398454, 1e-9}, {0.05, 1e6, 1.64485515, 1e-8}, {0.05, 1e9, 1.64485362695, 1e-8},
	} {
		near(t, "t", StudentQuantile(1-c.upper, c.nu), c.want, c.within)
		near(t, "-t", StudentQuantile(c.upper, c.nu), -c.want, c.within)
	}
	for _, p := range []float64{-1, 0, 1, 2, math.NaN()} {
		if !math.IsNaN(StudentQuantile(p, 5)) {
			t.Errorf("the quantile at %v is a number", p)
		}
	}
	if !math.IsNaN(StudentQuantile(0.9, 0)) || !math.IsNaN(StudentCDF(1, -1)) {
		t.Error("a number for no degrees of freedom")
	}
}

// TestStudentCDF compares with the closed forms of 1 to 4 degrees of freedom.
func TestStudentCDF(t *testing.T) {
	for _, x := range []float64{-1e8, -40, -3, -1.5, -0.3, -1e-9, 0, 1e-9, 0.2, 1, 2.7, 19, 1e6} {
		near(t, "CDF, 1 df", StudentCDF(x, 1), 0.5+math.Atan(x)/math.Pi, 1e-13)
		near(t, "CDF, 2 df", StudentCDF(x, 2), 0.5+x/(2*math.Sqrt(2+x*x)), 1e-13)
		u := x * x / (4 + x*x)
		near(t, "CDF, 4 df", StudentCDF(x, 4), 0.5+0.5*math.Copysign(math.Sqrt(u), x)*(1+0.5*(1-u)), 1e-13)
		r := x / math.Sqrt(3)
		near(t, "CDF, 3 df", StudentCDF(x, 3), 0.5+(r/(1+r*r)+math.Atan(r))/math.Pi, 1e-13)
		near(t, "CDF, many df", StudentCDF(x, 1e8), NormalCDF(x), 1e-7)
	}
	if StudentCDF(math.Inf(1), 3) != 1 || StudentCDF(math.Inf(-1), 3) != 0 {
		t.Error("the ends are not 0 and 1")
	}
}

// TestStudentInverts: the quantile inverts the distribution over many scales.
func TestStudentInverts(t *testing.T) {
	for _, nu := range []float64{0.5, 1, 2, 3.5, 8, 15, 60, 1000, 1e6} {
		last := math.Inf(-1)
		for _, p := range []float64{1e-9, 1e-4, 0.01, 0.0169, 0.3, 0.499, 0.5, 0.51, 0.9, 0.9831, 0.9999} {
			q := StudentQuantile(p, nu)
			if got := StudentCDF(q, nu); math.Abs(got-p) > 1e-11*max(p, 1e-3)*1e3 {
				t.Errorf("CDF(quantile(%v, %v)) = %v", p, nu, got)
			}
			if q <= last {
				t.Errorf("quantile(%v, %v) = %v does not grow", p, nu, q)
			}
			last = q
		}
	}
}

// TestNormalQuantile compares with printed values, far into the tail.
func TestNormalQuantile(t *testing.T) {
	for p, want := range map[float64]float64{0.5: 0, 0.025: -1.959963984540054, 1e-9: -5.997807015007686, 1e-12: -7.034483825301131} {
		near(t, "z", NormalQuantile(p), want, 1e-12)
	}
	if !math.IsInf(NormalQuantile(0), -1) || !math.IsInf(NormalQuantile(1), 1) {
		t.Error("the quantiles at 0 and 1 are finite")
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		if !math.IsNaN(NormalQuantile(p)) {
			t.Errorf("the quantile at %v is a number", p)
		}
	}
}

// TestWholeTail compares the finite series with the incomplete beta function.
func TestWholeTail(t *testing.T) {
	compared := 0
	for nu := 1; nu <= seriesMost; nu++ {
		for x := 0.0; x < 400; x = 1.3*x + 1e-6 {
			t2, f := x*x, float64(nu)
			want := 0.5 * mathext.RegIncBeta(f/2, 0.5, f/(f+t2))
			if t2 < f {
				want = 0.5 - 0.5*mathext.RegIncBeta(0.5, f/2, t2/(f+t2))
			}
			if want < seriesLeast {
				break
			}
			near(t, fmt.Sprintf("the tail of %d df at %g", nu, x), wholeTail(x, nu), want, 1e-13*want+1e-15)
			compared++
		}
	}
	if compared < 40*seriesMost {
		t.Errorf("only %d values were compared", compared)
	}
}

func BenchmarkStudentQuantile(b *testing.B) {
	for b.Loop() {
		StudentQuantile(0.9831, 11)
	}
}
