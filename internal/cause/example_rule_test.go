package cause_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// leastFree is the share of the memory that must stay available.
const leastFree = 0.05

var littleMemory = cause.Declare(cause.PerRun, findLittleMemory,
	cause.Cause{Code: "OS199", Title: "little memory", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "the machine nearly ran out of memory",
		Remedies: []cause.Way{cause.Person}})

// findLittleMemory reports a machine that nearly ran out of memory.
func findLittleMemory(v *cause.View) []iikanji.Finding {
	m := v.Machine()
	if m == nil || float64(m.MemLeast) >= leastFree*float64(m.MemTotal) {
		return nil
	}
	return []iikanji.Finding{{Code: "OS199", Where: "host",
		Claim:    fmt.Sprintf("only %s of %s of memory were available", m.MemLeast, m.MemTotal),
		Evidence: []iikanji.Evidence{{Source: "host", Text: fmt.Sprintf("processes waited for memory %.0f %% of the time", 100*m.PressureMemory)}},
		Gain:     cause.Between(m.Wall.Seconds()*m.PressureMemory, 0.5, 1),
		Remedies: []iikanji.Remedy{iikanji.ByPerson("host", "use a machine with more memory")}}}
}

// TestNewRule: a function with its declaration is all that a rule needs to be run and
// ranked. docs/contributing.md quotes the rule.
func TestNewRule(t *testing.T) {
	const gib = 1 << 30
	machine := func(least iikanji.Bytes) cause.Input {
		m := &iikanji.MachineRow{Cores: 2, Wall: 10 * time.Second, MemTotal: 8 * gib, MemLeast: least, PressureMemory: 0.2}
		return cause.Input{Profiles: []iikanji.Profile{{Source: iikanji.Host, Rows: []iikanji.Row{{Key: "host", Host: &iikanji.HostRow{Machine: m}}}}}}
	}
	blind := machine(gib / 10)
	blind.Blind = []iikanji.Source{iikanji.Host}
	for name, c := range map[string]struct {
		in   cause.Input
		want int
	}{
		"little memory":    {machine(gib / 10), 1},
		"enough memory":    {machine(4 * gib), 0},
		"no host profile":  {cause.Input{}, 0},
		"the sensor blind": {blind, 0},
	} {
		t.Run(name, func(t *testing.T) {
			fs, err := cause.Find(c.in, []cause.Rule{littleMemory})
			if err != nil {
				t.Fatal(err)
			}
			if len(fs) != c.want {
				t.Fatalf("%d findings, want %d: %+v", len(fs), c.want, fs)
			}
			if want := (iikanji.Range{Lo: 1, Hi: 2}); c.want > 0 && fs[0].Gain != want {
				t.Errorf("a gain of %v s, want %v", fs[0].Gain, want)
			}
		})
	}
}
