package measurement

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var loadDidNotGrow = cause.Declare(cause.PerRun, findLoadDidNotGrow,
	cause.Cause{Code: "BEN104", Title: "the load did not grow", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "the benchmarker sent no more, because a route is stale or slow",
		Remedies: []cause.Way{cause.Person}})

// findLoadDidNotGrow reports a benchmarker that says why its load stayed as it was. The route
// is the one that its words, or the site's file, name; then that of answers which it calls
// stale; then the slowest one that is read, which is a guess and is called one.
func findLoadDidNotGrow(v *cause.View) []iikanji.Finding {
	no := stalled(v)
	if no == nil {
		return nil
	}
	f := iikanji.Finding{Code: "BEN104", Where: "load", Evidence: evidenceOf(no)}
	because, stale := "", said(v, iikanji.MeansStale)
	switch {
	case no[0].Route != "":
		f.Where = no[0].Route
		because = "it names " + f.Where
	case len(stale) > 0 && stale[0].Route != "":
		f.Where = stale[0].Route
		because = fmt.Sprintf("answers of %s were stale: %s", f.Where, quoted(stale[0]))
	case slowest(v) != "":
		f.Where = slowest(v)
		because = "perhaps because of the slowest page, " + f.Where
	}
	f.Claim = "the load did not grow: " + quoted(no[0])
	remedy := "find in the rules what lets the load grow, and which answers it waits for"
	if because != "" {
		f.Claim += "; " + because
		remedy = fmt.Sprintf("make %s fast, and its answers new enough: more users come only then", f.Where)
	}
	if slow := slowness(v, f.Where); slow != "" {
		f.Claim += ", " + slow
	}
	f.Evidence = append(f.Evidence, evidenceOf(stale)...)
	f.Remedies = []iikanji.Remedy{iikanji.ByPerson("load", remedy)}
	return []iikanji.Finding{f}
}
