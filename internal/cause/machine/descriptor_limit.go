package machine

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// nearLimit is the share of its file descriptors from which on a process is
// about to run out of them.
const nearLimit = 0.8

// wantFiles is the least limit that is proposed: enough for tens of thousands
// of connections, and free of cost.
const wantFiles = 65536

var descriptorLimit = cause.Declare(cause.PerRun, findDescriptorLimit,
	cause.Cause{Code: "OS101", Title: "descriptor limit hit", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line: "a service had too many open files",
		Remedies: []cause.Way{
			cause.Plan("sysctl", "limits", iikanji.RoleUnknown),
			cause.Plan("nginxconf", "workers", iikanji.RoleWeb)}})

// findDescriptorLimit reports services that ran out of file descriptors, or nearly. Where
// nginx ran out, WEB108 reports it.
func findDescriptorLimit(v *cause.View) []iikanji.Finding {
	rows, _ := v.OfKind("descriptors-exhausted", "")
	names := v.Services()
	for _, r := range rows {
		if !slices.Contains(names, r.Service) {
			names = append(names, r.Service)
		}
	}
	slices.Sort(names)
	var out []iikanji.Finding
	for _, name := range names {
		f := iikanji.Finding{Code: "OS101", Where: name}
		hit := 0.0
		for _, r := range rows {
			if r.Service == name {
				hit += float64(r.Count)
				f.Evidence = append(f.Evidence, r.Evidence())
			}
		}
		limit, known := v.Limit(name, "nofile")
		near := false
		if h := v.Host(name); h != nil && h.FDLimit > 0 {
			near = float64(h.FDs) >= nearLimit*float64(h.FDLimit)
			limit, known = float64(h.FDLimit), true
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "host", Text: fmt.Sprintf("%s had %d descriptors open, %d are allowed", name, h.FDs, h.FDLimit)})
		} else if known {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "limits", Text: fmt.Sprintf("%s is allowed %.0f descriptors", name, limit)})
		}
		s, _ := v.Input.Target.Service(name)
		if hit == 0 && !near || s.Engine == iikanji.EngineNginx && hit > 0 || s.Engine != iikanji.EngineNginx && inUnit(v, name) {
			continue
		}
		f.Gain = iikanji.Range{Lo: cause.Round(hit * cause.RefusedSeconds.Lo), Hi: cause.Round(max(hit, 1) * cause.RefusedSeconds.Hi)}
		f.Claim = fmt.Sprintf("%s has nearly used up its file descriptors: %.0f are allowed", name, limit)
		if hit > 0 {
			f.Claim = fmt.Sprintf("%s ran out of file descriptors %s times", name, cause.Number(hit))
		}
		want := fmt.Sprintf("%.0f", min(max(wantFiles, 4*limit), 1<<20))
		f.Remedies = []iikanji.Remedy{{Kind: "sysctl", Target: name, Says: "raise its limit to " + want + " descriptors", Args: map[string]string{"act": "limits", "nofile": want}}}
		if s.Engine == iikanji.EngineNginx {
			f.Remedies = []iikanji.Remedy{{Kind: "nginxconf", Target: name, Says: "raise the limit of each worker to " + want + " descriptors", Args: map[string]string{"act": "workers", "nofile": want}}}
		}
		out = append(out, f)
	}
	return out
}
