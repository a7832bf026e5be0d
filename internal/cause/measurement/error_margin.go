package measurement

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// nearShare is the share of the errors that fail a run from which on a run is near failing:
// errors of runs of one state differ by their square root, which is 15 of 70.
const nearShare = 0.7

var errorMargin = cause.Declare(cause.PerRun, findErrorMargin,
	cause.Cause{Code: "BEN106", Title: "errors near the limit", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "a few more errors would have failed the run",
		Remedies: []cause.Way{cause.Person}})

// findErrorMargin reports a run with nearly as many errors as fail it.
func findErrorMargin(v *cause.View) []iikanji.Finding {
	for _, m := range said(v, iikanji.MeansMargin) {
		if m.Limit > 0 && m.Value < nearShare*m.Limit {
			continue
		}
		f := iikanji.Finding{Code: "BEN106", Where: "run", Claim: "the benchmarker warns of the limit of errors: " + quoted(m),
			Evidence: evidenceOf([]iikanji.Message{m}),
			Remedies: []iikanji.Remedy{iikanji.ByPerson("run", "mend the most frequent error before anything makes the site faster: more requests make more errors")}}
		if m.Limit > 0 {
			f.Claim = fmt.Sprintf("%s of %s errors that fail the run were made", cause.Number(m.Value), cause.Number(m.Limit))
		}
		for _, means := range []iikanji.Meaning{iikanji.MeansWrong, iikanji.MeansError, iikanji.MeansStale, iikanji.MeansTimeout} {
			f.Evidence = append(f.Evidence, evidenceOf(said(v, means))...)
		}
		return []iikanji.Finding{f}
	}
	return nil
}
