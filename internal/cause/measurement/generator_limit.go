package measurement

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var generatorLimit = cause.Declare(cause.PerRun, findGeneratorLimit,
	cause.Cause{Code: "BEN101", Title: "generator was the limit", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "the score measures the load generator, not the site",
		Remedies: []cause.Way{cause.Person}})

// findGeneratorLimit reports that the load generator was the limit: no other finding of the
// run is reliable.
func findGeneratorLimit(v *cause.View) []iikanji.Finding {
	b := v.Binding
	if b.Resource != "generator" {
		return nil
	}
	g := v.Input.Run.Load
	f := iikanji.Finding{Code: "BEN101", Where: "generator",
		Claim:    fmt.Sprintf("the load generator used %.0f %% of its cores: the score measures the generator, not the target", 100*g.CPUShare),
		Evidence: []iikanji.Evidence{{Source: "generator", Text: fmt.Sprintf("CPU share %.2f of %d cores, sending late by %s (p99)", g.CPUShare, g.Cores, g.LagP99)}},
		Remedies: []iikanji.Remedy{iikanji.ByPerson("generator", "give the generator more cores or another machine")},
	}
	if g.Why != "" {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "generator", Text: g.Why})
	}
	return []iikanji.Finding{f}
}
