package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// ben103 reports the sensors that did not observe the run: their findings are
// missing, which does not mean that there are none.
func ben103(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, s := range v.in.Blind {
		f := iikanji.Finding{Code: "BEN103", Where: s.String(),
			Claim:    fmt.Sprintf("the %s sensor did not record this run: findings that need it are withheld", s),
			Remedies: []iikanji.Remedy{{Kind: "topology", Target: s.String(), Says: "remove the cause, and run again"}},
		}
		if why := v.in.BlindWhy[s]; why != "" {
			f.Evidence = []iikanji.Evidence{{Source: "sensor", Text: why}}
		}
		out = append(out, f)
	}
	for _, b := range v.in.BlindAt {
		f := iikanji.Finding{Code: "BEN103", Where: b.Source.String() + " of " + b.Target,
			Claim:    fmt.Sprintf("the %s sensor did not see %s in this run: findings about it that need the sensor are held back", b.Source, b.Target),
			Remedies: []iikanji.Remedy{{Kind: "topology", Target: b.Source.String(), Says: "see why, and run again"}},
		}
		if b.Why != "" {
			f.Evidence = []iikanji.Evidence{{Source: "sensor", Text: b.Why}}
		}
		out = append(out, f)
	}
	return out
}
