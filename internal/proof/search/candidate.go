package search

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Candidate is a remedy that may be worth a trial.
type Candidate struct {
	Remedy iikanji.Remedy `json:"remedy"`
	Code   iikanji.Code   `json:"code,omitempty"` // of the finding whose remedy it is
	Claim  string         `json:"why"`            // the finding's claim, or the proposer's command
	Where  string         `json:"where,omitempty"`
	// Gain is the expected gain on ln(score) if it is kept, and Chance that it is.
	Gain   float64 `json:"gain"`
	Chance float64 `json:"chance"`
	// Proposed: it comes from a proposer, not from a finding.
	Proposed bool `json:"proposed,omitempty"`
	// Traits is what the declared act of its remedy says about its trial.
	Traits Traits `json:"traits,omitzero"`
	// Predicted is what a model expects of it; nil without one.
	Predicted *Prediction `json:"predicted,omitempty"`

	key string // cache of Key
}

// Traits are what the declared act of a remedy says about its trial.
type Traits struct {
	Blinds   bool `json:"blinds,omitempty"`   // sensors see less once it is applied
	Rewrites bool `json:"rewrites,omitempty"` // it changes the source of an app
	Apart    bool `json:"apart,omitempty"`    // it is planned from all of the source
	Prepared bool `json:"prepared,omitempty"` // another change prepares it, which takes long
}

// A Prediction is what a model expects of a candidate, as a ratio of scores.
type Prediction struct {
	Ratio float64       `json:"ratio"`
	Range iikanji.Range `json:"range"`
}

// Key identifies a candidate: the same remedy is not tried twice while the
// bottleneck is the same.
func (c Candidate) Key() string {
	if c.key != "" {
		return c.key
	}
	return KeyOf(c.Remedy)
}

// Keyed is the candidate with its key at hand: the ranking reads it for each pair.
func (c Candidate) Keyed() Candidate {
	c.key = KeyOf(c.Remedy)
	return c
}

// Cause names the finding: its code and place.
func (c Candidate) Cause() string { return string(c.Code) + " " + c.Where }

// Reason is the finding in words.
func (c Candidate) Reason() string {
	if c.Code == "" {
		return c.Claim
	}
	return string(c.Code) + ": " + c.Claim
}

// missing reports whether there is no candidate.
func (c Candidate) missing() bool { return c.Remedy.Kind == "" }

// promise is the product of chance and expected gain.
func (c Candidate) promise() float64 { return c.Chance * c.Gain }

// knob reports whether a candidate is one of several values of a constant in source.
// What it is worth depends on the limit: a constant that throttles hides nothing as
// long as another limit binds.
func (c Candidate) knob() bool { return c.Traits.Rewrites && c.Remedy.Args["variant"] != "" }

// alone reports whether a candidate is never tried with others: who wrote it has read what the
// diagnosis says, it is planned from all of the source, it is one of several values, or its
// preparation would be made again for each trial.
func (c Candidate) alone() bool {
	return c.Proposed || c.Traits.Apart || c.Traits.Prepared || c.knob()
}

// hasFixesOf reports whether a rewrite has all fixes of another: those of its function by
// its levers.
func (c Candidate) hasFixesOf(o Candidate) bool {
	a, b := c.Remedy.Args, o.Remedy.Args
	if c.Remedy.Target != o.Remedy.Target || a["file"] != b["file"] || a["func"] != b["func"] || b["levers"] == "" {
		return false
	}
	has := strings.Split(a["levers"], ",")
	return !slices.ContainsFunc(strings.Split(b["levers"], ","), func(code string) bool { return !slices.Contains(has, code) })
}

// KeyOf is the key of a remedy: its kind, target and arguments.
func KeyOf(r iikanji.Remedy) string {
	parts := []string{r.Kind, r.Target}
	for k, v := range r.Args {
		if k != "weakens" { // known from the run; not a part of the remedy
			parts = append(parts, k+"="+v)
		}
	}
	slices.Sort(parts[2:])
	return strings.Join(parts, separator)
}

// separator is between the parts of a key.
const separator = "\x1f"

// remedyOf is the remedy of a key, without its words.
func remedyOf(key string) iikanji.Remedy {
	parts := strings.Split(key, separator)
	r := iikanji.Remedy{Kind: parts[0], Args: map[string]string{}}
	if len(parts) < 2 {
		return r
	}
	r.Target = parts[1]
	for _, p := range parts[2:] {
		name, value, _ := strings.Cut(p, "=")
		r.Args[name] = value
	}
	return r
}
