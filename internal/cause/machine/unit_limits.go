package machine

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// nearUnitFiles is the share of its descriptors, and nearTasks that of its tasks, from
	// which on a unit is about to run out of them: the next step of the load may need more.
	nearUnitFiles = 0.7
	nearTasks     = 0.8
	// mostFiles is the kernel's default fs.nr_open.
	mostFiles = 1 << 20
)

var unitDescriptors = cause.Declare(cause.PerRun, findUnitDescriptors,
	cause.Cause{Code: "UNIT101", Title: "descriptors of a unit run out", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "a service of systemd has used most of the descriptors that its unit allows",
		Remedies: []cause.Way{cause.Plan("unit", "dropin", iikanji.RoleUnknown)}})

// findUnitDescriptors reports services of units that used most of their descriptors, or that
// ran out of them. nginx has a limit of its own: see OS101.
func findUnitDescriptors(v *cause.View) []iikanji.Finding {
	errors, _ := v.OfKind("descriptors-exhausted", "")
	var out []iikanji.Finding
	for known, u := range fact.TopicUnit.In(v.Input.Facts) {
		s, _ := v.Input.Target.Service(known.Target)
		if s.Engine == iikanji.EngineNginx {
			continue
		}
		limit, limited := v.Limit(known.Target, "nofile")
		used := 0
		if h := v.Host(known.Target); h != nil && h.FDLimit > 0 {
			used, limit, limited = h.FDs, float64(h.FDLimit), true
		}
		hit := 0.0
		f := iikanji.Finding{Code: "UNIT101", Where: known.Target}
		for _, r := range errors {
			if r.Service == known.Target {
				hit += float64(r.Count)
				f.Evidence = append(f.Evidence, r.Evidence())
			}
		}
		if !limited || hit == 0 && float64(used) < nearUnitFiles*limit {
			continue
		}
		f.Claim = fmt.Sprintf("%s has %d of the %.0f descriptors open that %s allows", known.Target, used, limit, u.Name)
		if hit > 0 {
			f.Claim = fmt.Sprintf("%s ran out of descriptors %s times: %s allows %.0f", known.Target, cause.Number(hit), u.Name, limit)
		}
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "host", Text: fmt.Sprintf("%d of %.0f descriptors of one process", used, limit)})
		f.Gain = iikanji.Range{Lo: cause.Round(hit * cause.RefusedSeconds.Lo), Hi: cause.Round(max(hit, 1) * cause.RefusedSeconds.Hi)}
		want := fmt.Sprintf("%.0f", min(max(wantFiles, 4*limit), mostFiles))
		f.Remedies = []iikanji.Remedy{{Kind: "unit", Target: known.Target, Says: "allow " + u.Name + " " + want + " descriptors",
			Args: map[string]string{"act": "dropin", "unit": u.Name, "LimitNOFILE": want}}}
		out = append(out, f)
	}
	return out
}

// inUnit reports whether UNIT101 is about the limits of a service.
func inUnit(v *cause.View, service string) bool {
	for known := range fact.TopicUnit.In(v.Input.Facts) {
		if known.Target == service {
			return true
		}
	}
	return false
}

var unitTasks = cause.Declare(cause.PerRun, findUnitTasks,
	cause.Cause{Code: "UNIT102", Title: "tasks of a unit run out", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "a unit has nearly as many processes and threads as it may have",
		Remedies: []cause.Way{cause.Plan("unit", "dropin", iikanji.RoleUnknown)}})

// findUnitTasks reports units of the site that have nearly as many tasks as TasksMax allows.
func findUnitTasks(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, b := range fact.TopicBoot.In(v.Input.Facts) {
		for _, s := range b.Services {
			i := slices.IndexFunc(b.Units, func(u fact.BootUnit) bool { return u.Name == s.Unit && s.Unit != "" })
			if i < 0 || b.Units[i].TasksMax <= 0 || float64(b.Units[i].Tasks) < nearTasks*float64(b.Units[i].TasksMax) {
				continue
			}
			u := b.Units[i]
			want := strconv.FormatInt(4*u.TasksMax, 10)
			out = append(out, iikanji.Finding{Code: "UNIT102", Where: s.Name,
				Claim:    fmt.Sprintf("%s has %d of the %d processes and threads that it may have", u.Name, u.Tasks, u.TasksMax),
				Evidence: []iikanji.Evidence{{Source: "systemctl", Text: fmt.Sprintf("TasksCurrent=%d TasksMax=%d", u.Tasks, u.TasksMax)}},
				Gain:     iikanji.Range{Hi: cause.RefusedSeconds.Hi},
				Remedies: []iikanji.Remedy{{Kind: "unit", Target: s.Name, Says: "allow " + u.Name + " " + want + " processes and threads",
					Args: map[string]string{"act": "dropin", "unit": u.Name, "TasksMax": want}}}})
		}
	}
	return out
}
