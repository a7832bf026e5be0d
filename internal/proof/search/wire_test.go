package search

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestFirstVersion: a ledger of the first version, which a search of that version wrote, has
// the bundle with the words, findings and verdicts of its changes and the keys of its
// candidates. Written again, it is the same.
func TestFirstVersion(t *testing.T) {
	body, err := os.ReadFile("testdata/ledger_v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var l Ledger
	if err := json.Unmarshal(body, &l); err != nil {
		t.Fatal(err)
	}
	if len(l.Attempts) != 1 {
		t.Fatalf("%d attempts", len(l.Attempts))
	}
	a := &l.Attempts[0]
	planned := a.Planned()
	if !a.IsBundle() || !a.HasSeveral() || len(planned) != 2 || planned[0].Change != 12 || planned[1].Says != "turn k4 to 1" || planned[1].Code() != "WEB104" {
		t.Fatalf("%+v", a.Parts)
	}
	if p := a.PartOf(13); p == nil || p.Alone == nil || math.Abs(p.Alone.Effect.Mid-0.118) > 0.001 {
		t.Errorf("part of change 13: %+v", p)
	}
	s := NewState(Options{})
	s.Ledger = &l
	knob := func(name string) Candidate {
		return Candidate{Code: "WEB1", Remedy: iikanji.Remedy{Kind: "knob", Target: "site", Args: map[string]string{"name": name, "value": "1"}}}
	}
	for name, want := range map[string]bool{"k1": true, "k4": true, "k5": false} {
		if tried, _ := s.HasTried(knob(name)); tried != want {
			t.Errorf("%s was tried: %v", name, tried)
		}
	}
	if got := Together([]Candidate{knob("k4"), knob("k1")}, ""); got.Key() != a.Key {
		t.Errorf("the key of the same bundle is %q, recorded is %q", got.Key(), a.Key)
	}
	again, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var back Ledger
	if err := json.Unmarshal(again, &back); err != nil || !reflect.DeepEqual(l, back) {
		t.Errorf("written again: %v\n%+v\n%+v", err, l, back)
	}
}

// FuzzAttempt: what is read of an attempt is the same after it was written and read again.
func FuzzAttempt(f *testing.F) {
	f.Add(`{"remedy":{"kind":"bundle","target":"several","args":{"knob\u001fsite\u001fname=a":""}},"key":"k","changes":[1,2],"says":"x","verdict":{"call":"keep"},"parts":["a","b"],"causes":["DB101 t"],"runs":1,"took_ns":1}`)
	f.Add(`{"remedy":{"kind":"bundle","target":"several"},"parts":[{"remedy":{"kind":"knob"},"change":3,"says":"y","cause":"DB101 t"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var a, b Attempt
		if json.Unmarshal([]byte(text), &a) != nil {
			return
		}
		body, err := json.Marshal(a)
		if err != nil {
			t.Skip(err) // as an unknown word of an enum
		}
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		if again, err := json.Marshal(b); err != nil || string(again) != string(body) {
			t.Errorf("%v\n%s\n%s", err, body, again)
		}
	})
}
