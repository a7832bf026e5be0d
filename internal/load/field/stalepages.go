package field

import (
	"maps"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// stalePages are sentences about pages that the site keeps until a write, and that changed
// without being dropped since their app started.
func (f *Field) stalePages() (out []string) {
	site := f.Subject.Site()
	for _, name := range slices.Sorted(maps.Keys(site.Services)) {
		svc := site.Services[name]
		h, err := site.On(svc.Host)
		if svc.Source == "" || err != nil {
			continue
		}
		out = append(out, facts.StaleIn(h, svc.Source)...)
	}
	return out
}

// failByPages makes a run fail if kept pages were old in it: before and after are the
// sentences about such pages.
func failByPages(run *iikanji.Run, before, after []string) {
	for _, says := range after {
		if !slices.Contains(before, says) {
			run.Outcome, run.Score = iikanji.Failed, 0
			run.Reasons = append([]string{says}, run.Reasons...)
		}
	}
}
