package machine

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// Least shares of the machine's CPU in a finding.
	leastSteal = 0.02
	leastOther = 0.10
)

var noisyNeighbour = cause.Declare(cause.PerHost, findNoisyNeighbour,
	cause.Cause{Code: "OS104", Title: "noisy neighbour", Of: iikanji.OfCPU, Doubt: true, Relieves: cause.CPU,
		Line:     "steal, timers or other processes used the CPU",
		Remedies: []cause.Way{cause.Person}})

// findNoisyNeighbour reports CPU time that went to other guests of the same hardware
// (steal), or to processes that are not part of the site.
func findNoisyNeighbour(v *cause.View) []iikanji.Finding {
	m := v.Machine()
	if m == nil || m.Wall <= 0 {
		return nil
	}
	all := m.Wall.Seconds() * float64(max(m.Cores, 1))
	var out []iikanji.Finding
	if s := m.Steal.Seconds(); s >= leastSteal*all {
		out = append(out, iikanji.Finding{Code: "OS104", Where: "steal", Gain: cause.Between(s, 0.5, 1),
			Claim:    fmt.Sprintf("the hypervisor gave %.0f %% of the CPU to other guests", 100*s/all),
			Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("steal: %.1f s of %.1f s", s, all)}},
			Remedies: []iikanji.Remedy{iikanji.ByPerson("host", "use a machine without other guests, or another time; compare only interleaved runs")}})
	}
	if o := v.Host("other"); o != nil {
		if s := (o.User + o.System).Seconds(); s >= leastOther*all {
			f := iikanji.Finding{Code: "OS104", Where: "other processes", Gain: cause.Between(s, 0.5, 1),
				Claim:    fmt.Sprintf("processes outside of the site used %.0f %% of the CPU", 100*s/all),
				Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("other: %.1f s user, %.1f s system of %.1f s, %d processes", o.User.Seconds(), o.System.Seconds(), all, o.Processes)}},
				Remedies: []iikanji.Remedy{iikanji.ByPerson("host", "find them with iikanji top; stop timers and agents during measurements")}}
			if named := neighbours(o.Programs); named != "" {
				f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "process", Text: named})
			}
			out = append(out, f)
		}
	}
	return out
}

// neighbours lists other programs with their CPU seconds.
func neighbours(of []iikanji.Usage) string {
	var parts []string
	for _, u := range of {
		parts = append(parts, fmt.Sprintf("%s %.1f s", u.Who, (u.User+u.System).Seconds()))
	}
	return strings.Join(parts, ", ")
}
