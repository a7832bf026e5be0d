package measurement

import (
	"fmt"
	"math"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// leastRequests is the least number of requests for a usable rate: random
// arrivals are counted within 2/√n, which is 10 % at 400.
const leastRequests = 400

var runTooShort = cause.Declare(cause.PerRun, findRunTooShort,
	cause.Cause{Code: "BEN102", Title: "run too short", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "too few requests for a meaningful rate",
		Remedies: []cause.Way{cause.Person}})

// findRunTooShort reports a run with too few requests for reliable numbers.
func findRunTooShort(v *cause.View) []iikanji.Finding {
	n := v.Requests()
	if v.Input.Run == nil || n == 0 || n >= leastRequests {
		return nil
	}
	return []iikanji.Finding{{Code: "BEN102", Where: "run",
		Claim:    fmt.Sprintf("the run had %s requests: their rate is known within %.0f %% at best", cause.Number(n), 200/math.Sqrt(n)),
		Evidence: []iikanji.Evidence{{Source: "run", Text: fmt.Sprintf("%s of load, %s requests; %d are needed", cause.Brief(v.Input.Run.Took), cause.Number(n), leastRequests)}},
		Remedies: []iikanji.Remedy{iikanji.ByPerson("generator", "use a longer load phase, or more clients")}}}
}
