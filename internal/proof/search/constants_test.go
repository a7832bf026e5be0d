package search

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A recorded is a state of a recorded search in which a constant decides: with its value the
// next step is Decision, and with another value Otherwise.
type recorded struct {
	Constant  string  `json:"constant"`
	Other     float64 `json:"other"`
	Decision  string  `json:"decision"`
	Otherwise string  `json:"otherwise"`
	State     State   `json:"state"`
	// Event is what happens in the state before the decision.
	Event struct {
		// Faded are candidates that the diagnosis of the state does not have.
		Faded []Candidate `json:"faded,omitempty"`
		// Before and After are CPU times of services without and with the change of the latest
		// attempt.
		Before map[string]float64 `json:"before,omitempty"`
		After  map[string]float64 `json:"after,omitempty"`
		// Noise is what the runs have measured of it.
		Noise *stats.Prior `json:"noise,omitempty"`
		// Base are ln(score) of the incumbent's runs before the design, which begins anew.
		Base []float64 `json:"base,omitempty"`
		// Took is the time of a run, and Age that of the noise, before a search that begins.
		Took time.Duration `json:"took_ns,omitempty"`
		Age  time.Duration `json:"age_ns,omitempty"`
		// Saved is the share of the binding resource that the first candidate saves.
		Saved float64 `json:"saved,omitempty"`
		// Proposed is a candidate of a proposer.
		Proposed *Candidate `json:"proposed,omitempty"`
		// End begins the end phase.
		End bool `json:"end,omitempty"`
	} `json:"event,omitzero"`
}

// decision is the next step of the state after its event, with other values of constants.
func (r *recorded) decision(t *testing.T, set map[Number]float64) string {
	t.Helper()
	raw, err := json.Marshal(r.State)
	if err != nil {
		t.Fatal(err)
	}
	var s State
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	s.Set = set
	e := r.Event
	s.Carry(e.Faded)
	if e.Noise != nil {
		s.Judge.Prior = s.Usual(*e.Noise)
	}
	if len(e.Base) > 0 {
		d := s.NewDesign(s.Design.Parts, e.Base[max(0, len(e.Base)-s.MostBase()):])
		d.Rows, s.Design = s.Design.Rows, d
	}
	if e.Took > 0 {
		s.Took(e.Took)
	}
	if e.Age > 0 {
		if e.Age > s.NoiseValid() {
			s.AA = 0
		}
		s.BeginMeasuring()
	}
	if e.Saved > 0 {
		s.Candidates[0].Gain = s.GainOf(e.Saved)
	}
	if e.Proposed != nil {
		s.Add(*e.Proposed)
	}
	if e.End {
		s.BeginEnd()
	}
	if n := len(s.Ledger.Attempts); len(e.Before) > 0 && n > 0 && s.MayAbsorb(&s.Ledger.Attempts[n-1]) {
		_, _, s.Ledger.Absorbed = s.Absorbs(e.Before, e.After)
	}
	return Next(s).String()
}

// fileOf is the file of a constant's recorded state.
func fileOf(c Constant) string {
	return filepath.Join("testdata", "constants", strings.NewReplacer(" ", "_", ",", "").Replace(c.Name)+".json")
}

// TestConstants: each number that was set by hand decides in a recorded state: another value
// leads to another next step. A number without such a state has no place in the table.
func TestConstants(t *testing.T) {
	for i, c := range table[:] {
		t.Run(c.Name, func(t *testing.T) {
			if c.Unit == "" || c.Why == "" {
				t.Error("it has no unit or no reason")
			}
			body, err := os.ReadFile(fileOf(c))
			if err != nil {
				t.Fatal(err)
			}
			var r recorded
			if err := json.Unmarshal(body, &r); err != nil {
				t.Fatal(err)
			}
			if r.Constant != c.Name || r.Decision == r.Otherwise || r.Other == c.Value {
				t.Fatalf("the record is of %q at %v: %q, otherwise %q", r.Constant, r.Other, r.Decision, r.Otherwise)
			}
			if got := r.decision(t, nil); got != r.Decision {
				t.Errorf("with %v %s the next step is %q, recorded is %q", c.Value, c.Unit, got, r.Decision)
			}
			if got := r.decision(t, map[Number]float64{Number(i): r.Other}); got != r.Otherwise {
				t.Errorf("with %v %s the next step is %q, recorded is %q", r.Other, c.Unit, got, r.Otherwise)
			}
		})
	}
	files, err := filepath.Glob("testdata/constants/*.json")
	if err != nil || len(files) != len(table[:]) {
		t.Errorf("%d records of %d constants: %v", len(files), len(table[:]), err)
	}
}
