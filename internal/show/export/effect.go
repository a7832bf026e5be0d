package export

import (
	"fmt"
	"math"

	"github.com/iikanji/iikanji"
)

// Effect formats the measured effect on the score, as in "+12.0 % (+5.1 to
// +19.4)"; "-" if there is none.
func Effect(v *iikanji.Verdict) string {
	if v == nil || v.Effect.Level == 0 {
		return "-"
	}
	return Percent(v.Effect)
}

// Percent formats a difference of logarithms in percent, with its interval.
func Percent(i iikanji.Interval) string {
	of := func(d float64) float64 { return 100 * math.Expm1(d) }
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", of(i.Mid), of(i.Lo), of(i.Hi))
}
