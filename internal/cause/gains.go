package cause

import "github.com/iikanji/iikanji"

const leastShare = 0.005

const leastSeconds = 0.05

// worth reports whether a gain is large enough to be reported.
func (v *view) worth(r iikanji.Range) bool {
	return r.Hi >= v.leastGain()
}

// between is the range between two shares of some seconds.
func between(seconds, lo, hi float64) iikanji.Range {
	return iikanji.Range{Lo: round(seconds * lo), Hi: round(seconds * hi)}
}

// round keeps three decimals: smaller differences are noise.
func round(x float64) float64 {
	return float64(int64(x*1000+0.5)) / 1000
}

// proven adds a proof of the run to remedies.
func proven(rs []iikanji.Remedy, p iikanji.Proof) []iikanji.Remedy {
	for i := range rs {
		rs[i].Proof = append(rs[i].Proof, p)
	}
	return rs
}
