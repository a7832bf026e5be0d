package loader

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/site/target"
)

// A Result is what the output of a benchmarker contains.
type Result struct {
	By       string  // the tool or the pattern that gave the score, "" without a score
	Score    float64 // valid if Scored
	Scored   bool
	Failed   []string // reasons why the run does not count
	Faults   []string // messages of failed checks
	Requests int64    // that were answered, as far as the output has it
	Errors   int64
}

// An Output is what a command printed.
type Output struct {
	Out, Err []byte // standard output and error, the last bytes of each
}

// all is the output in one text; standard output is last, because the score is
// usually there.
func (o Output) all() []byte { return slices.Concat(o.Err, []byte("\n"), o.Out) }

// Read finds score, pass and faults in an output.
func Read(b *target.Bench, o Output) Result {
	r := Result{}
	text := o.all()
	docs := documents(o.Out)
	if len(docs) == 0 {
		docs = documents(text)
	}
	if len(docs) == 0 {
		docs = inline(text)
	}
	if b.Score.None() {
		r = known(b.Tool, text, docs)
	} else if v, ok := find(b.Score, text, docs); ok {
		r.By, r.Score, r.Scored = "pattern "+b.Score.String(), v, true
	}
	if !b.Pass.None() && !holds(b.Pass, text, docs) {
		r.Failed = append(r.Failed, "the output does not say that the run passed: "+b.Pass.String())
	}
	if !b.Faults.None() {
		r.Faults = append(r.Faults, messages(b.Faults, text, docs)...)
	}
	if r.Scored && (math.IsNaN(r.Score) || math.IsInf(r.Score, 0)) {
		r.Scored = false
	}
	return r
}

// known reads the output of a known tool, or one with a score in a usual place.
func known(tool target.Tool, text []byte, docs []any) Result {
	if tool != target.ToolNone {
		for _, t := range tools {
			if tool != "" && tool != target.ToolAuto && tool != t.name {
				continue
			}
			if r, ok := t.read(string(text), docs); ok {
				r.By, r.Scored = string(t.name), true
				return r
			}
		}
	}
	if tool != "" && tool != target.ToolAuto && tool != target.ToolNone {
		return Result{}
	}
	return usual(text, docs)
}

// find is the last number that a pattern finds.
func find(p target.Pattern, text []byte, docs []any) (float64, bool) {
	if p.JSON != nil {
		for _, doc := range docs {
			if vs := values(doc, p.JSON); len(vs) > 0 {
				return numberOf(vs[len(vs)-1])
			}
		}
		return 0, false
	}
	all := p.Regex.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return 0, false
	}
	return parseNumber(string(group(all[len(all)-1])))
}

// group is the first group of a match, or the whole match.
func group(m [][]byte) []byte {
	if len(m) > 1 {
		return m[1]
	}
	return m[0]
}

func holds(p target.Pattern, text []byte, docs []any) bool {
	if p.Regex != nil {
		return p.Regex.Match(text)
	}
	for _, doc := range docs {
		if vs := values(doc, p.JSON); len(vs) > 0 {
			return !slices.ContainsFunc(vs, func(v any) bool { return !truth(v) })
		}
	}
	return false
}

// truth reports whether a value means that a run passed.
func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case json.Number:
		f, err := v.Float64()
		return err == nil && f == 1
	case string:
		return slices.Contains([]string{"true", "pass", "passed", "ok", "success", "1"}, strings.ToLower(v))
	}
	return false
}

// messages are the texts that a pattern finds.
func messages(p target.Pattern, text []byte, docs []any) []string {
	var out []string
	if p.Regex != nil {
		for _, m := range p.Regex.FindAllSubmatch(text, -1) {
			out = append(out, string(group(m)))
		}
		return out
	}
	for _, doc := range docs {
		vs := values(doc, p.JSON)
		if len(vs) == 0 {
			continue
		}
		for _, v := range vs {
			if list, ok := v.([]any); ok {
				for _, m := range list {
					out = append(out, textOf(m))
				}
			} else if s := textOf(v); s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	return out
}

// parseNumber reads a number with thousands separators.
func parseNumber(s string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "", " ", "").Replace(strings.TrimSpace(s)), 64)
	return f, err == nil
}
