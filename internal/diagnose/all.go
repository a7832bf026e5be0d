package diagnose

import "github.com/iikanji/iikanji"

// A rule makes findings of one or a few codes.
type rule func(*view) []iikanji.Finding

// rules in the order of their codes.
var rules = []rule{
	ben101, ben102, ben103, app101, app102, app106, os101, os102, os103, os104, os105, os106, os107,
	web101, web102, web103, web104, web105, web106, web107, web108, web109, web110,
	db101, db103, db105, db109,
	db110, db111, db112, db113, db115, db116, db117, db118, db119, db120, db121,
	db201, db202, db203, db204, db205, db206, db207, db208, db209, app103,
}

// What is too little to be told: less than this share of the seconds of all
// statements, or than these seconds in a run.
const (
	leastShare   = 0.005
	leastSeconds = 0.05
)

// All runs every rule and ranks the findings by what their cures save of the
// binding resource: see [view.rank].
func All(in Input) ([]iikanji.Finding, error) {
	v, err := look(in)
	if err != nil {
		return nil, err
	}
	var out []iikanji.Finding
	for _, r := range rules {
		out = append(out, r(v)...)
	}
	out = v.gone(out)
	v.rank(out)
	return out, nil
}

// worth says whether a gain can be felt.
func (v *view) worth(r iikanji.Range) bool {
	return r.Hi >= leastSeconds && r.Hi >= leastShare*v.seconds
}

// between makes a range of two shares of some seconds.
func between(seconds, lo, hi float64) iikanji.Range {
	return iikanji.Range{Lo: round(seconds * lo), Hi: round(seconds * hi)}
}

// round keeps three decimals: what is finer is noise, and golden files like it.
func round(x float64) float64 {
	return float64(int64(x*1000+0.5)) / 1000
}
