package tune

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/observe"

	"github.com/iikanji/iikanji"
)

// A Candidate is a remedy that may be worth a trial.
type Candidate struct {
	Remedy iikanji.Remedy `json:"remedy"`
	Code   iikanji.Code   `json:"code,omitempty"` // of the finding that asks for it
	Why    string         `json:"why"`            // the finding's claim, or who proposed it
	Where  string         `json:"where,omitempty"`
	// Gain is the expected gain on ln(score) if it is kept, and Chance that it is.
	Gain   float64 `json:"gain"`
	Chance float64 `json:"chance"`
	// Proposed says that it does not come from a finding of ours.
	Proposed bool `json:"proposed,omitempty"`
}

// Key tells candidates apart: the same remedy is not tried twice while the
// bottleneck stays.
func (c Candidate) Key() string { return keyOfRemedy(c.Remedy) }

// cause names the finding that asks for it.
func (c Candidate) cause() string { return string(c.Code) + " " + c.Where }

func keyOfRemedy(r iikanji.Remedy) string {
	parts := []string{r.Kind, r.Target}
	for k, v := range r.Args {
		if k != "weakens" { // what is known of the run, not what is done
			parts = append(parts, k+"="+v)
		}
	}
	slices.Sort(parts[2:])
	return strings.Join(parts, "\x1f")
}

// A belief is what experience says of a sort of remedy before any run: how
// often it is kept, and the least gain on ln(score) to expect of it when it
// is. They only order the trials; the judge never sees them.
type belief struct{ chance, gain float64 }

// beliefs by kind, and by "kind act" or "kind argument" where that says more.
// The effects are those that were told of contest machines with two cores: ten
// indexes 2.2×, pool +21 %, commit path +13 %, buffer pool and
// performance_schema nothing measurable.
var beliefs = map[string]belief{
	"ddl":                          {0.6, 0.08},
	"ddl drop index":               {0.3, 0.02},
	"appenv":                       {0.3, 0.03},
	"appenv dsn":                   {0.7, 0.10},
	"appenv pool":                  {0.5, 0.10},
	"appenv log":                   {0.5, 0.05},
	"nginxconf":                    {0.3, 0.03},
	"nginxconf upstream keepalive": {0.6, 0.08},
	"nginxconf static files":       {0.5, 0.05},
	"nginxconf cache":              {0.5, 0.10},
	"nginxconf gzip":               {0.15, 0.02},
	"mysqlconf":                    {0.2, 0.02},
	"mysqlconf innodb_flush_log_at_trx_commit": {0.6, 0.12},
	"mysqlconf query_cache_size":               {0.4, 0.04},
	"sysctl":                                   {0.1, 0.01},
	"patch":                                    {0.4, 0.10},
}

func beliefOf(r iikanji.Remedy) belief {
	if b, ok := beliefs[r.Kind+" "+r.Args["act"]]; ok {
		return b
	}
	best := beliefs[r.Kind]
	for arg := range r.Args {
		if b, ok := beliefs[r.Kind+" "+arg]; ok && b.chance*b.gain > best.chance*best.gain {
			best = b
		}
	}
	return best
}

// maxSaved bounds the share of the binding resource that a single cure is
// expected to save: an estimate of everything is an estimate of nothing.
const maxSaved = 0.9

// Candidates are the remedies of a diagnosis, each with what it may bring:
// saving the share s of the binding resource makes room for 1/(1−s) of the
// work. Remedies of findings that the bottleneck cannot feel come late by
// their small gain, not by a rule of their own.
func Candidates(d *observe.Diagnosis) []Candidate {
	var out []Candidate
	for _, f := range d.Findings {
		saved := savedBy(d, f)
		for _, r := range f.Remedies {
			b := beliefOf(r)
			if b.chance == 0 || r.Kind == "patch" && r.Args["diff"] == "" { // no kind of ours, or for a person to write
				continue
			}
			c := Candidate{Remedy: r, Code: f.Code, Why: f.Claim, Where: f.Where, Chance: b.chance, Gain: max(b.gain, -math.Log(1-saved))}
			if !slices.ContainsFunc(out, func(o Candidate) bool { return o.Key() == c.Key() }) {
				out = append(out, c)
			}
		}
	}
	return out
}

// savedBy is the share of what the stack's CPU did that a cure would save. A
// second of a statement is felt as the database's part of it.
func savedBy(d *observe.Diagnosis, f iikanji.Finding) float64 {
	stack, database := 0.0, 0.0
	for _, u := range d.Run.Usage {
		if u.Who == "generator" || u.Who == "other" {
			continue
		}
		s := (u.User + u.System).Seconds()
		if stack += s; u.Who == "database" {
			database += s
		}
	}
	of, part := stack, 1.0
	if strings.HasPrefix(string(f.Code), "DB") {
		if of = d.Statements; stack > 0 && database > 0 {
			part = database / stack
		}
	}
	if of == 0 {
		of = d.Of(f)
	}
	if of <= 0 {
		return 0
	}
	return min(maxSaved, (f.Gain.Lo+f.Gain.Hi)/2/of*part)
}

// runsFor is how many runs a trial of an expected effect costs, the noise of a
// pair being sd: one beyond the fast lane, two pairs for what is plain, more
// for what is small, and never more than the last look.
func runsFor(gain, sd float64) float64 {
	if sd <= 0 {
		sd = 0.05
	}
	if gain > 6*sd { // the run, the one without it, and what its confirmation adds to the next trial
		return 3
	}
	return 2 * min(8, max(2, 6.2*sd*sd/(gain*gain)))
}

// Ranked sorts candidates by expected gain per run, best first. What weakens
// observability comes last of all: later diagnoses need the logs.
func Ranked(cs []Candidate, sd float64) []Candidate {
	cs = slices.Clone(cs)
	worth := func(c Candidate) float64 { return c.Chance * c.Gain / runsFor(c.Gain, sd) }
	slices.SortStableFunc(cs, func(a, b Candidate) int {
		switch ba, bb := blinds(a.Remedy), blinds(b.Remedy); {
		case ba && !bb:
			return 1
		case bb && !ba:
			return -1
		}
		return cmp.Compare(worth(b), worth(a))
	})
	return cs
}

// blinds says whether a remedy turns off what the sensors read.
func blinds(r iikanji.Remedy) bool {
	return r.Kind == "nginxconf" && (r.Args["directive"] == "access_log" || r.Args["act"] == "access log") ||
		r.Kind == "appenv" && r.Args["log"] != "" ||
		r.Kind == "mysqlconf" && (r.Args["slow_query_log"] != "" || r.Args["performance_schema"] != "")
}
