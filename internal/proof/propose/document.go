package propose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/redact"
)

// The document of the question, version 1. Fields may be added; a changed meaning
// needs a new version.
type (
	document struct {
		Version  int         `json:"version"`
		Target   target      `json:"target"`
		Score    float64     `json:"score,omitempty"`
		Findings []finding   `json:"findings"`
		Facts    []known     `json:"facts"`
		Trials   []trial     `json:"trials"`
		Kinds    []KindWords `json:"kinds"`
	}
	target struct {
		Name     string            `json:"name"`
		Allows   []iikanji.Promise `json:"allows"` // promises that changes may weaken
		Services []service         `json:"services"`
	}
	service struct {
		Name    string   `json:"name"`
		Kind    string   `json:"kind"`
		Configs []string `json:"configs,omitempty"`
		Source  string   `json:"source,omitempty"`
		Public  string   `json:"public,omitempty"`
		Loads   []string `json:"loads,omitempty"`
	}
	finding struct {
		iikanji.Finding
		Evidence []iikanji.Evidence `json:"evidence"` // never null
		Remedies []iikanji.Remedy   `json:"remedies"`
	}
	known struct {
		Target string          `json:"target"`
		Topic  string          `json:"topic"`
		Key    string          `json:"key"`
		Value  json.RawMessage `json:"value"` // an object or a list if the fact is one, else a string
	}
	trial struct {
		Change  iikanji.ChangeID  `json:"change"`
		Kind    string            `json:"kind"`
		Target  string            `json:"target"`
		Answers iikanji.Code      `json:"answers,omitempty"`
		Says    string            `json:"says"`
		Weakens []iikanji.Promise `json:"weakens,omitempty"`
		Stage   iikanji.Stage     `json:"stage"`
		Call    iikanji.Call      `json:"call"`
		Reason  iikanji.Reason    `json:"reason"`
		Gain    *gain             `json:"gain,omitempty"`
		Why     string            `json:"why,omitempty"`
	}
	// gain is a factor of the score, as in 1.2, with its interval.
	gain struct {
		Mid   float64 `json:"mid"`
		Lo    float64 `json:"lo"`
		Hi    float64 `json:"hi"`
		Level float64 `json:"level"`
	}
)

// Question returns the document that a proposer reads: JSON, without secrets.
func Question(in Input) ([]byte, error) {
	d := document{Version: Version, Score: in.Score, Findings: []finding{}, Facts: []known{}, Trials: []trial{},
		Kinds: wordsOf(in.Kinds), Target: targetOf(in)}
	for _, f := range in.Findings {
		d.Findings = append(d.Findings, findingOf(f))
	}
	for _, f := range redact.Facts(useful(in.Facts)) {
		d.Facts = append(d.Facts, known{f.Target, f.Topic, f.Key, valueOf(f.Value)})
	}
	for _, t := range in.Trials {
		d.Trials = append(d.Trials, trialOf(t))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encoding the question for a proposer: %w", err)
	}
	return b.Bytes(), nil
}

func targetOf(in Input) target {
	t := target{Name: in.Target.Name, Allows: slices.Concat([]iikanji.Promise{}, in.Target.Policy.Allow), Services: []service{}}
	for _, s := range in.Target.Services {
		p := in.Places[s.Name]
		t.Services = append(t.Services, service{Name: s.Name, Kind: string(s.Engine), Configs: s.Configs, Source: p.Source, Public: p.Public, Loads: p.Loads})
	}
	return t
}

// findingOf returns a finding without secrets.
func findingOf(f iikanji.Finding) finding {
	f.Where, f.Claim = redact.Prose(f.Where), redact.Prose(f.Claim)
	out := finding{Finding: f, Evidence: []iikanji.Evidence{}, Remedies: []iikanji.Remedy{}}
	for _, e := range f.Evidence {
		out.Evidence = append(out.Evidence, iikanji.Evidence{Source: e.Source, Text: redact.Prose(e.Text)})
	}
	for _, r := range f.Remedies {
		unsorted := r.Unsorted
		r.Says, r.Args, r.Proof = redact.Text(r.Says), redact.Args(r.Args), nil // an answer may not have a proof
		r.Unsorted, r.Seen = nil, nil                                           // the run tells what it saw, not the answer
		for _, text := range unsorted {
			r.Unsorted = append(r.Unsorted, redact.Prose(text))
		}
		out.Remedies = append(out.Remedies, r)
	}
	return out
}

// valueOf returns a fact's value as JSON: an object or a list as it is, anything
// else as a string.
func valueOf(v string) json.RawMessage {
	if len(v) > 0 && (v[0] == '{' || v[0] == '[') && json.Valid([]byte(v)) {
		return json.RawMessage(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: a string has no JSON: " + err.Error())
	}
	return b
}

func trialOf(t Trial) trial {
	c, v := t.Change, t.Verdict
	out := trial{Change: c.ID, Kind: c.Kind, Target: c.Target, Answers: c.Answers, Says: redact.Text(c.Says), Weakens: c.Weakens, Stage: c.Stage,
		Call: v.Call, Reason: v.Reason, Why: redact.Prose(v.Why)}
	if e := v.Effect; e.Level > 0 {
		g := gain{round(math.Exp(e.Mid)), round(math.Exp(e.Lo)), round(math.Exp(e.Hi)), e.Level}
		if !math.IsInf(g.Hi+g.Mid, 0) && !math.IsNaN(g.Mid+g.Lo+g.Hi) { // JSON has neither infinities nor NaN
			out.Gain = &g
		}
	}
	return out
}

// round rounds to 4 decimals; measurements have no more significant digits.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }
