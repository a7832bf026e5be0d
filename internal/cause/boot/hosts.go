package boot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A machine is one host as a rule sees it.
type machine struct {
	fact.Boot
	host string // "" for this machine
}

// machines are the hosts whose boot was read.
func machines(v *cause.View) (out []machine) {
	for f, b := range fact.TopicBoot.In(v.Input.Facts) {
		out = append(out, machine{b, f.Host})
	}
	return out
}

// declare makes a rule of a function that looks at one host.
func declare(code iikanji.Code, title, line string, find func(machine) []iikanji.Finding, ways ...cause.Way) cause.Rule {
	return cause.Declare(cause.PerRun, func(v *cause.View) []iikanji.Finding {
		var out []iikanji.Finding
		for _, m := range machines(v) {
			for _, f := range find(m) {
				f.Code = code
				if m.host != "" {
					f.Where += " on " + m.host
				}
				out = append(out, f)
			}
		}
		return out
	}, cause.Cause{Code: code, Title: title, Of: iikanji.OfCPU, Relieves: cause.AnyLimit, Line: line, Remedies: append(ways, cause.Person)})
}

// unit is the unit of a name.
func (m machine) unit(name string) (fact.BootUnit, bool) {
	i := slices.IndexFunc(m.Units, func(u fact.BootUnit) bool { return u.Name == name })
	if i < 0 {
		return fact.BootUnit{}, false
	}
	return m.Units[i], true
}

// of are the services of the site that run in a unit.
func (m machine) of(unit string) (names []string) {
	for _, s := range m.Services {
		if s.Unit == unit && unit != "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// ours reports whether a unit is one of the site's, or was made on this host: units of the
// distribution that the site does not use are not looked at.
func (m machine) ours(u fact.BootUnit) bool {
	return strings.HasSuffix(u.Name, ".service") && (u.Local || len(m.of(u.Name)) > 0)
}

// where is the place of a finding about a unit: the service of the site that runs in it, or
// the unit.
func (m machine) where(u fact.BootUnit) string {
	if names := m.of(u.Name); len(names) > 0 {
		return names[0]
	}
	return u.Name
}

// finding makes a finding with a remedy for a person.
func finding(where, claim, says string, evidence ...string) iikanji.Finding {
	f := iikanji.Finding{Where: where, Claim: claim, Remedies: []iikanji.Remedy{iikanji.ByPerson(where, says)}}
	for _, text := range evidence {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "boot", Text: text})
	}
	return f
}

// planned puts a remedy that a kind of change plans before that of a person.
func planned(f iikanji.Finding, kind, target, says string, args map[string]string) iikanji.Finding {
	f.Remedies = slices.Insert(f.Remedies, 0, iikanji.Remedy{Kind: kind, Target: target, Args: args, Says: says})
	return f
}

// gib is a size in GiB.
func gib(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
