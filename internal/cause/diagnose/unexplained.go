package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// An Unexplained is time of the run that no finding names: a heavy statement without a
// known cause, or the CPU time of a service.
type Unexplained struct {
	What    string  `json:"what"`
	Service string  `json:"service,omitempty"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"` // of the time of all statements, or of the machine's CPU
	Text    string  `json:"text"`  // as a sentence
}

// Shares from which unexplained time has a line of its own.
const (
	heavyStatement = 0.05 // of the time of all statements
	heavyService   = 0.25 // of the CPU time of all cores
	mostStatements = 5
)

// unexplained lists what the findings do not name: heavy statements, the share of all
// statements' time, and services with much CPU time.
func (d *Diagnosis) unexplained(profiles []iikanji.Profile) []Unexplained {
	out, took, unnamed := []Unexplained{}, time.Duration(0), time.Duration(0)
	var heavy []iikanji.Row
	for _, p := range profiles {
		if p.Source != iikanji.Slow {
			continue
		}
		for _, r := range p.Rows {
			took += r.Total
			if r.Query != nil && !d.names(r, p.Target) {
				unnamed += r.Total
				heavy = append(heavy, r)
			}
		}
	}
	if took > 0 {
		slices.SortStableFunc(heavy, func(a, b iikanji.Row) int { return int(b.Total - a.Total) })
		for _, r := range heavy[:min(len(heavy), mostStatements)] {
			if share := r.Total.Seconds() / took.Seconds(); share >= heavyStatement {
				out = append(out, Unexplained{r.Key, "", r.Total.Seconds(), share,
					fmt.Sprintf("heavy, and no cause known: %.0f %% of the statements' time, %d × %s: %s", 100*share, r.Count, cause.Brief(r.Mean), r.Key)})
			}
		}
		if share := unnamed.Seconds() / took.Seconds(); share >= heavyStatement {
			out = append(out, Unexplained{"statements", "", unnamed.Seconds(), share, fmt.Sprintf("%.0f %% of the statements' time is of statements that no finding names", 100*share)})
		}
	}
	return append(out, d.unexplainedCPU()...)
}

// names reports whether a finding is about a statement.
func (d *Diagnosis) names(r iikanji.Row, service string) bool {
	source := "digest " + r.Query.Digest
	return slices.ContainsFunc(d.Findings, func(f iikanji.Finding) bool {
		if f.Doubt || f.Gain.Hi == 0 {
			return false
		}
		return strings.Contains(f.Where, r.Key) ||
			slices.ContainsFunc(f.Evidence, func(e iikanji.Evidence) bool { return e.Source == source || e.Source == source+" of "+service }) ||
			slices.ContainsFunc(f.Remedies, func(m iikanji.Remedy) bool { return m.Args["digest"] == r.Query.Digest })
	})
}

// unexplainedCPU lists the services whose CPU time is not covered by the gains of the
// findings with a remedy at them. Gains of several findings may be of the same seconds, so
// that the rest is a lower bound.
func (d *Diagnosis) unexplainedCPU() []Unexplained {
	var out []Unexplained
	for _, u := range d.Run.Usage {
		if u.Who == "generator" || u.Who == "other" || slices.Contains(d.Executors, u.Who) || d.CPU <= 0 {
			continue
		}
		used := (u.User + u.System).Seconds()
		rest := used
		for _, f := range d.Findings {
			if !f.Doubt && (f.Inside || slices.ContainsFunc(f.Remedies, func(m iikanji.Remedy) bool { return m.Target == u.Who })) {
				rest -= f.Gain.Hi
			}
		}
		if share := rest / d.CPU; share >= heavyService {
			out = append(out, Unexplained{u.Who, u.Who, cause.Round(rest), share,
				fmt.Sprintf("%s used %.1f of the %.1f s of all cores, and findings name %.1f s of it: %.0f %% of the CPU time is unexplained", u.Who, used, d.CPU, used-rest, 100*share)})
		}
	}
	return out
}
