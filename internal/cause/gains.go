package cause

import "github.com/iikanji/iikanji"

// Thresholds of a gain: the share of the seconds of the statements that no advised
// index saves, and the seconds in a run without full scans: see [View.Worth].
// Smaller gains are not reported.
const (
	LeastShare   = 0.005
	LeastSeconds = 0.05
)

// Worth reports whether a gain is large enough to be reported.
func (v *View) Worth(r iikanji.Range) bool {
	return r.Hi >= v.leastGain()
}

// Between is the range between two shares of some seconds.
func Between(seconds, lo, hi float64) iikanji.Range {
	return iikanji.Range{Lo: Round(seconds * lo), Hi: Round(seconds * hi)}
}

// Round keeps three decimals: smaller differences are noise.
func Round(x float64) float64 {
	return float64(int64(x*1000+0.5)) / 1000
}

// Proven adds a proof of the run to remedies.
func Proven(rs []iikanji.Remedy, p iikanji.Proof) []iikanji.Remedy {
	for i := range rs {
		rs[i].Proof = append(rs[i].Proof, p)
	}
	return rs
}
