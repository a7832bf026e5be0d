package arenatest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
)

// A Fault is one planted fault. Exactly one of Spoil and Edits is set.
type Fault struct {
	Name string
	// Spoil makes the hook that corrupts the traffic. It is called once per run, so
	// that no state is shared between runs.
	Spoil func() Hook
	// Edits break the app's source.
	Edits []Edit
	// UnderLoad means that the load must catch the fault; the load ends a fixed number
	// of exchanges after the first wanted fault. Otherwise the checks before the load must catch it.
	UnderLoad bool
	// Set are values of the arena's settings for the run.
	Set arena.Values
	// Want lists the faults of a run that count as catching it; one is enough.
	Want []Caught
	// Also lists further faults that may follow from the planted one.
	Also []Caught
	// Survives means that the run passes in spite of the fault (timeouts do not fail a
	// run). Any other planted fault must fail the run, or cost points under load.
	Survives bool
}

// An Edit replaces a piece of a file of the app's source. The piece must occur
// exactly once in the file.
type Edit struct {
	File     string // in the arena's webapp folder
	Old, New string
}

// Interpolate makes an app in Go write the parameters of a statement into its text: one
// message to MariaDB and back instead of three, because nothing is prepared. The app opens
// its database in go/main.go with a configuration c of go-sql-driver/mysql.
func Interpolate() Edit {
	const open = "\treturn sqlx.Open(\"mysql\""
	return Edit{File: "go/main.go", Old: open, New: "\tc.InterpolateParams = true\n" + open}
}

// A Caught is a pattern for a run's faults. An empty field matches every value.
type Caught struct {
	Kind  iikanji.FaultKind
	Step  string
	Check string
}

// By matches the faults that a check of this name reports.
func By(check string) Caught { return Caught{Check: check} }

// On matches the faults of a kind at a step.
func On(kind iikanji.FaultKind, step string) Caught { return Caught{Kind: kind, Step: step} }

func (c Caught) matches(f *iikanji.Fault) bool {
	return (c.Kind == iikanji.FaultUnknown || c.Kind == f.Kind) && (c.Step == "" || c.Step == f.Step) &&
		(c.Check == "" || c.Check == f.Check)
}

// String returns the form that the suite prints.
func (c Caught) String() string {
	var words []string
	if c.Kind != iikanji.FaultUnknown {
		words = append(words, c.Kind.String())
	}
	for _, w := range []string{c.Check, c.Step} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// describe returns a run's fault in the same form as [Caught.String].
func describe(f *iikanji.Fault) string {
	return fmt.Sprintf("%s ×%d", Caught{f.Kind, f.Step, f.Check}, f.Count)
}

func anyMatches(all []Caught, f *iikanji.Fault) bool {
	return slices.ContainsFunc(all, func(c Caught) bool { return c.matches(f) })
}

// late reports whether a run had a timeout that the fault does not cause, as a run on a
// busy machine may have. A check that timed out ended the checks before the planted
// fault was met.
func (p *Fault) late(run *iikanji.Run) bool {
	return slices.ContainsFunc(run.Faults, func(f iikanji.Fault) bool {
		return f.Kind == iikanji.FaultTimeout && !anyMatches(p.Want, &f) && !anyMatches(p.Also, &f)
	})
}

// verdict compares a run with a planted fault. caught is the fault that caught it;
// wrong lists the deviations from what was expected.
func (p *Fault) verdict(run *iikanji.Run) (caught string, wrong []string) {
	for i := range run.Faults {
		f := &run.Faults[i]
		switch {
		case anyMatches(p.Want, f):
			if caught == "" {
				caught = describe(f)
			}
		case f.Kind == iikanji.FaultTimeout && p.UnderLoad:
			// Timeouts happen on a busy machine.
		case !anyMatches(p.Also, f):
			wrong = append(wrong, fmt.Sprintf("an unexpected fault: %s: %s", describe(f), f.Message))
		}
	}
	if caught == "" {
		wrong = append(wrong, fmt.Sprintf("not caught, want one of %v; the run %s: %v", p.Want, run.Outcome, run.Reasons))
	}
	if !p.UnderLoad && run.Outcome != iikanji.Failed {
		wrong = append(wrong, fmt.Sprintf("the checks %s", run.Outcome))
	}
	if p.UnderLoad && !p.Survives && run.Outcome != iikanji.Failed && run.Deducted == 0 {
		wrong = append(wrong, "it cost nothing")
	}
	return caught, wrong
}
