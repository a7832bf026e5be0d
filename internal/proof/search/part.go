package search

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Part is one candidate of a bundle, which is tried as one change.
type Part struct {
	Remedy iikanji.Remedy `json:"remedy"`
	Traits Traits         `json:"traits,omitzero"`
	// Change is its change; 0 if it could not be planned.
	Change iikanji.ChangeID `json:"change,omitempty"`
	Says   string           `json:"says"`            // the change in words
	Cause  string           `json:"cause,omitempty"` // its finding: code and place
	// Chance is the probability of a gain by the design that suggested it; 0 if none did.
	Chance float64 `json:"chance,omitempty"`
	// Gain is what was expected of it, on ln(score).
	Gain float64 `json:"gain,omitempty"`
	// Dropped: it was taken back at the end, and the others stay.
	Dropped bool `json:"dropped,omitempty"`
	// Alone is the verdict on the part by itself; nil if it was proven only together with
	// the others.
	Alone *iikanji.Verdict `json:"proven_alone,omitempty"`
}

// Key identifies the part's candidate.
func (p Part) Key() string { return KeyOf(p.Remedy) }

// planned reports whether the part has a change.
func (p Part) planned() bool { return p.Change != 0 }

// candidate is the part's remedy as a candidate without a finding.
func (p Part) candidate() Candidate { return Candidate{Remedy: p.Remedy, Traits: p.Traits} }

// Code is the code of the part's finding.
func (p Part) Code() iikanji.Code {
	code, _, _ := strings.Cut(p.Cause, " ")
	return iikanji.Code(code)
}

// Where is the place of the part's finding.
func (p Part) Where() string {
	_, where, _ := strings.Cut(p.Cause, " ")
	return where
}

// PartsOf are candidates as the parts of a bundle, before they are planned.
func PartsOf(cs []Candidate) []Part {
	parts := make([]Part, len(cs))
	for i, c := range cs {
		parts[i] = Part{Remedy: c.Remedy, Traits: c.Traits, Cause: c.Cause(), Gain: c.Gain}
	}
	return parts
}

// bundleKind marks the attempts that are bundles.
const bundleKind = "bundle"

// Together is what a bundle of candidates is called, as one candidate.
func Together(cs []Candidate, why string) Candidate {
	one := Candidate{Remedy: iikanji.Remedy{Kind: bundleKind, Target: "several"}, Claim: why, key: BundleKey(cs)}
	var says []string
	for _, c := range cs {
		says = append(says, c.Remedy.Says)
	}
	if len(says) > 0 {
		one.Remedy.Says = "together: " + strings.Join(says, "; ")
	}
	return one
}

// BundleKey identifies a bundle by the keys of its candidates.
func BundleKey(cs []Candidate) string {
	var keys []string
	for _, c := range cs {
		keys = append(keys, c.Key()+"=")
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return strings.Join(append([]string{bundleKind, "several"}, keys...), separator)
}
