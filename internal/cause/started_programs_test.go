package cause_test

import (
	"math"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestStartedPrograms: a place that starts a program has its part of the CPU time of the programs
// that the app waited for, by the requests that reach it.
func TestStartedPrograms(t *testing.T) {
	program := func(function string) fact.CodePlace {
		return fact.CodePlace{What: "zip is started for each request in " + function, How: "do it in the process", Variants: []string{"do it in the process"}}
	}
	list, drop := codePlace("APP209", "list", program("list")), codePlace("APP209", "drop", program("drop"))
	seconds := func(in cause.Input, children time.Duration) map[string]float64 {
		in.Run.Usage[0].Children = children
		got := map[string]float64{}
		for _, f := range levers(t, in) {
			got[f.Where] = f.Gain.Hi
		}
		return got
	}
	const atList, atDrop = "main.go:7 list", "main.go:7 drop"
	if got := seconds(leverInput(list), 3*time.Second); len(got) != 1 || math.Abs(got[atList]-1.8) > 0.01 { // 60 % of 3 s
		t.Errorf("alone: %v", got)
	}
	if got := seconds(leverInput(list, drop), 3*time.Second); len(got) != 2 || math.Abs(got[atList]-0.18) > 0.01 || math.Abs(got[atDrop]-1.62) > 0.01 { // 1,000 and 9,000 requests
		t.Errorf("two: %v", got)
	}
	if got := seconds(leverInput(list), 0); math.Abs(got[atList]-0.6*8*0.9) > 0.01 { // not known: by the time of its requests
		t.Errorf("without children: %v", got)
	}
	other := codePlace("APP208", "list", fact.CodePlace{})
	if got := seconds(leverInput(other), 3*time.Second); math.Abs(got[atList]-seconds(leverInput(other), 0)[atList]) > 0 { // another cause is none of them
		t.Errorf("another lever: %v", got)
	}
	if got := seconds(leverInput(codePlace("APP209", "nowhere", program("nowhere"))), 3*time.Second); len(got) != 0 { // no route reaches it
		t.Errorf("unreached: %v", got)
	}
}
