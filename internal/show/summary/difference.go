package summary

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A Difference is what two runs differ in.
type Difference struct {
	A iikanji.RunID `json:"a"`
	B iikanji.RunID `json:"b"`
	// Ratio of the scores, B to A; 0 if one of them is not valid. Two runs prove
	// nothing: only the pairs of a verdict do.
	Ratio    float64            `json:"ratio"`
	OnlyA    []iikanji.ChangeID `json:"changes_only_a,omitempty"`
	OnlyB    []iikanji.ChangeID `json:"changes_only_b,omitempty"`
	Doubts   []string           `json:"doubts,omitempty"` // why the runs may not compare
	Routes   Comparison         `json:"routes"`
	Digests  Comparison         `json:"digests"`
	CPU      Comparison         `json:"cpu"`
	Host     []Quantity         `json:"host,omitempty"`
	Settings []Setting          `json:"settings,omitempty"`
}

// A Quantity is one number of both runs.
type Quantity struct {
	Name string  `json:"name"`
	Unit string  `json:"unit,omitempty"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
}

// A Setting is a fact that differs, as a variable or a directive. An empty value
// means that the fact is missing.
type Setting struct {
	Service string `json:"service,omitempty"`
	Topic   string `json:"topic"`
	Key     string `json:"key"`
	A       string `json:"a"`
	B       string `json:"b"`
}

// Compare lists what two runs differ in.
func Compare(a, b *Detail) *Difference {
	d := &Difference{A: a.Run.ID, B: b.Run.ID}
	if a.Run.Clean() && b.Run.Clean() && a.Run.Score > 0 {
		d.Ratio = b.Run.Score / a.Run.Score
	}
	d.OnlyA, d.OnlyB = without(a.With, b.With), without(b.With, a.With)
	d.Doubts = doubts(a, b)
	ga, gb := group{runName(a), []*iikanji.Run{a.Run}}, group{runName(b), []*iikanji.Run{b.Run}}
	d.Routes = compareSides(ga, gb, routesOf(ga), routesOf(gb))
	d.CPU = compareSides(ga, gb, cpuOf(ga), cpuOf(gb))
	if a.Diagnosis != nil && b.Diagnosis != nil {
		d.Digests = compareSides(ga, gb, digestsOf(&Observed{detail: a}), digestsOf(&Observed{detail: b}))
		d.Settings = settings(a.Facts, b.Facts)
	}
	d.Host = quantities(a, b)
	return d
}

func runName(d *Detail) string { return fmt.Sprintf("run %d", d.Run.ID) }

func without(ids, other []iikanji.ChangeID) (rest []iikanji.ChangeID) {
	for _, id := range ids {
		if !slices.Contains(other, id) {
			rest = append(rest, id)
		}
	}
	return rest
}

// doubts are the reasons why two runs may not compare.
func doubts(a, b *Detail) (says []string) {
	add := func(differ bool, format string, args ...any) {
		if differ {
			says = append(says, fmt.Sprintf(format, args...))
		}
	}
	x, y := a.Run, b.Run
	add(x.Scenario != y.Scenario, "the scenarios differ: %s and %s", x.Scenario, y.Scenario)
	add(!SameLoad(x.Took, y.Took), "the loads differ: %s and %s", x.Took.Round(1e8), y.Took.Round(1e8))
	add(x.Seed != y.Seed, "the seeds differ: %d and %d", x.Seed, y.Seed)
	add(x.Place != y.Place, "the CPUs differ: generator on %s, site on %s; and generator on %s, site on %s", x.Place.Generator, x.Place.Stack, y.Place.Generator, y.Place.Stack)
	add(x.Machine != nil && y.Machine != nil && *x.Machine != *y.Machine, "the machines or the versions of iikanji differ")
	add((a.Diagnosis != nil) != (b.Diagnosis != nil), "one run was observed with sensors, the other was not")
	for _, d := range []*Detail{a, b} {
		add(!d.Run.Clean(), "run %d has no valid score", d.Run.ID)
	}
	return says
}

// quantities are the numbers of the database and of the machine, those that differ
// most first.
func quantities(a, b *Detail) (qs []Quantity) {
	na, nb := max(group{runs: []*iikanji.Run{a.Run}}.requests(), 1), max(group{runs: []*iikanji.Run{b.Run}}.requests(), 1)
	qs = append(qs, Quantity{"requests", "", na, nb})
	names := map[string]bool{}
	for name := range a.Run.Counts {
		names[name] = true
	}
	for name := range b.Run.Counts {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		qs = append(qs, Quantity{name, "per request", a.Run.Counts[name] / na, b.Run.Counts[name] / nb})
	}
	if a.Host == nil || b.Host == nil {
		return qs
	}
	for _, s := range a.Host.Services {
		for _, o := range b.Host.Services {
			if o.Name == s.Name {
				qs = append(qs, Quantity{s.Name + " CPU", "cores", mean(s.Cores), mean(o.Cores)}, Quantity{s.Name + " memory", "MiB", most(s.Memory) / (1 << 20), most(o.Memory) / (1 << 20)})
			}
		}
	}
	return qs
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / math.Max(1, float64(len(values)))
}

func most(values []float64) (m float64) {
	for _, v := range values {
		m = max(m, v)
	}
	return m
}

// settingTopics are the facts that are configuration.
var settingTopics = []string{string(fact.TopicVariable), string(fact.TopicNginxVersion), string(fact.TopicNginxFile), string(fact.TopicTable),
	string(fact.TopicSysctl), string(fact.TopicLimit), string(fact.TopicUnit)}

// settings are the facts of the configuration that differ.
func settings(a, b []iikanji.Fact) (out []Setting) {
	type key struct{ service, topic, key string }
	values := [2]map[key]string{{}, {}}
	for i, known := range [][]iikanji.Fact{a, b} {
		for _, f := range known {
			if !f.Moves && slices.Contains(settingTopics, f.Topic) {
				values[i][key{f.Target, f.Topic, f.Key}] = fact.Text(f)
			}
		}
	}
	keys := maps.Clone(values[0])
	maps.Copy(keys, values[1])
	for k := range keys {
		if values[0][k] != values[1][k] {
			out = append(out, Setting{k.service, k.topic, k.key, values[0][k], values[1][k]})
		}
	}
	slices.SortFunc(out, func(x, y Setting) int {
		return cmp.Or(cmp.Compare(x.Service, y.Service), cmp.Compare(x.Topic, y.Topic), cmp.Compare(x.Key, y.Key))
	})
	return out
}
