package measurement

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var blindSensor = cause.Declare(cause.PerRun, findBlindSensor,
	cause.Cause{Code: "BEN103", Title: "sensor blind", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "a sensor did not record this run; findings that need it are withheld",
		Remedies: []cause.Way{cause.Person}})

// findBlindSensor reports the sensors that did not observe the run: their findings are
// missing, which does not mean that there are none.
func findBlindSensor(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, s := range v.Input.Blind {
		f := iikanji.Finding{Code: "BEN103", Where: s.String(),
			Claim:    fmt.Sprintf("the %s sensor did not record this run: findings that need it are withheld", s),
			Remedies: []iikanji.Remedy{iikanji.ByPerson(s.String(), "remove the cause, and run again")},
		}
		if why := v.Input.BlindWhy[s]; why != "" {
			f.Evidence = []iikanji.Evidence{{Source: "sensor", Text: why}}
		}
		out = append(out, f)
	}
	for _, b := range v.Input.BlindAt {
		f := iikanji.Finding{Code: "BEN103", Where: b.Source.String() + " of " + b.Target,
			Claim:    fmt.Sprintf("the %s sensor did not see %s in this run: findings about it that need the sensor are held back", b.Source, b.Target),
			Remedies: []iikanji.Remedy{iikanji.ByPerson(b.Source.String(), "see why, and run again")},
		}
		if b.Why != "" {
			f.Evidence = []iikanji.Evidence{{Source: "sensor", Text: b.Why}}
		}
		out = append(out, f)
	}
	return out
}
