package measurement

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// shownConstants is how many constants a finding names.
const shownConstants = 5

var unusedMachine = cause.Declare(cause.PerRun, findUnusedMachine,
	cause.Cause{Code: "BEN107", Title: "nothing is full and the load does not grow", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "a constant of the app may hold the load back",
		Remedies: []cause.Way{cause.Person}})

// findUnusedMachine reports a load that stalled although no resource was used up, with the
// constants in the source whose names say that they limit something.
func findUnusedMachine(v *cause.View) []iikanji.Finding {
	no := stalled(v)
	if no == nil || v.Binding.Resource != "" || len(v.Input.Run.Usage) == 0 {
		return nil
	}
	f := iikanji.Finding{Code: "BEN107", Where: "source", Evidence: evidenceOf(no[:1]),
		Remedies: []iikanji.Remedy{iikanji.ByPerson("source", "read what each constant limits, double one, and compare runs; some are rules of the contest and must stay")}}
	var named []string
	for known, c := range fact.TopicConstant.In(v.Input.Facts) {
		if len(named) < shownConstants {
			named = append(named, fmt.Sprintf("%s = %s (%s:%d)", c.Name, c.Value, c.File, c.Line))
		}
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "source of " + known.Target, Text: fmt.Sprintf("%s:%d: %s", c.File, c.Line, c.Text)})
	}
	if len(named) == 0 {
		return nil
	}
	f.Claim = fmt.Sprintf("no resource was used up, and the load did not grow (%s): constants that may hold it back: %s", quoted(no[0]), strings.Join(named, ", "))
	return []iikanji.Finding{f}
}
