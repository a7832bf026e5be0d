package field

import (
	"cmp"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/facts"
)

// ties collects what ties the apps to their hosts, on sites of several machines. An app whose
// source is not known shows what its process has open.
func (f *Field) ties(run *iikanji.Run) (out []iikanji.Fact) {
	site := f.Subject.Site()
	if len(f.Subject.Target().Hosts) < 2 {
		return nil
	}
	for _, s := range f.Subject.Target().WithRole(iikanji.RoleApp) {
		svc := site.Services[s.Name]
		h, err := site.On(svc.Host)
		if err != nil {
			continue
		}
		pid := 0
		if pids, _ := svc.Processes(); len(pids) > 0 {
			pid = pids[0]
		}
		known, err := facts.TiesFact(h, s.Name, cmp.Or(svc.Source, svc.SourceThere), svc.Package, pid)
		if err != nil {
			run.Warnings = append(run.Warnings, fmt.Sprintf("what ties %s to its host is not known: %.300v", s.Name, err))
			continue
		}
		out = append(out, known)
	}
	return out
}
