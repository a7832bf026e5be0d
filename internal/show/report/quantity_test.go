package report

import "testing"

// TestFactor: about three digits at every size, without an exponent down to 0.0001.
func TestFactor(t *testing.T) {
	for v, want := range map[float64]string{0.00456: "0.0046", 0.05: "0.050", 0.1: "0.10", 0: "0.00", 1.254: "1.25", 9.996: "10.0", 37.94: "37.9", 99.96: "100", 1940.4: "1,940", 0.00001: "1e-05"} {
		if got := Factor(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// TestDifference: a large change is a factor.
func TestDifference(t *testing.T) {
	for ratio, want := range map[float64]string{0.5: "-50 %", 0.0026: "-99.7 %", 0.00001: "-99.9 %", 0: "-100 %", 1: "+0 %", 9.99: "+899 %", 10: "× 10.0", 378.85: "× 379"} {
		if got := Difference(ratio); got != want {
			t.Errorf("%v: %q, want %q", ratio, got, want)
		}
	}
}
