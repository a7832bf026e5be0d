package grading

import (
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// An Answer is a known cause of an arena, one line of its answers.txt.
type Answer struct {
	Name
	Why string `json:"why"`
	// Effect is the gain in percent that was measured for the cure of this cause alone. It
	// is 0 if nothing was measured, or if the interval of the gain contains 0.
	Effect float64 `json:"effect_percent,omitempty"`
	Also   []Name  `json:"also,omitempty"` // other names of the cause
	Found  int     `json:"found"`          // place of the finding that is it, from 1; 0 for none
}

// A Name is a finding code and a place. A cause with a statement may also have the name of
// a code lever, whose place is in the source.
type Name struct {
	Code  iikanji.Code `json:"code"`
	Where string       `json:"where"`
}

// A Score is how well findings match the known causes.
type Score struct {
	Answers    []Answer          `json:"answers"` // in the order of the file
	At5        int               `json:"found_at_5"`
	At10       int               `json:"found_at_10"`
	All        int               `json:"found"`
	Proven     int               `json:"proven"`             // answers with a measured effect
	ProvenAt10 int               `json:"proven_found_at_10"` // of them, found at 10
	Unexpected []iikanji.Finding `json:"unexpected"`         // that no answer has, by code and place
	Doubled    int               `json:"doubled"`            // that show a cause again that an earlier one has found
}

// ReadAnswers reads answers.txt: code, place, cause and, where one was measured, the
// effect as in +12 %, between tabs. A line that begins with "=" has another code and
// place of the cause before it.
func ReadAnswers(text string) []Answer {
	var out []Answer
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		if f[0] == alsoMark {
			if last := len(out) - 1; last >= 0 {
				out[last].Also = append(out[last].Also, Name{Code: iikanji.Code(f[1]), Where: f[2]})
			}
			continue
		}
		a := Answer{Name: Name{Code: iikanji.Code(f[0]), Where: f[1]}, Why: f[2]}
		if len(f) > 3 {
			a.Effect, _ = strconv.ParseFloat(strings.TrimSuffix(f[3], " %"), 64) // TestAnswers holds the form
		}
		out = append(out, a)
	}
	return out
}

// alsoMark begins a line with another name of a cause.
const alsoMark = "="

// ScoreOf compares findings, best first, with the known causes. A finding matches the
// first answer that was not found before and has its code and its place. A finding that
// only matches a found answer shows the cause again, and gets no rank. All others are
// unexpected: a right code at a wrong place is a wrong finding. Two kinds of findings are
// not graded: doubts about the measurement, and findings inside of the app whose code no answer has.
func ScoreOf(findings []iikanji.Finding, answers []Answer) Score {
	s := Score{Answers: slices.Clone(answers)}
	for _, a := range s.Answers {
		if a.Effect > 0 {
			s.Proven++
		}
	}
	place := 0
	for _, f := range findings {
		if f.Doubt {
			continue
		}
		i := slices.IndexFunc(s.Answers, func(a Answer) bool { return a.Found == 0 && a.is(f) })
		switch {
		case i >= 0:
			place++
			s.find(i, place)
		case slices.ContainsFunc(answers, func(a Answer) bool { return a.is(f) }):
			s.Doubled++
		case !inSource(f, answers):
			place++
			s.Unexpected = append(s.Unexpected, f)
		}
	}
	return s
}

// find notes that a cause was found at a place.
func (s *Score) find(answer, place int) {
	a := &s.Answers[answer]
	a.Found = place
	s.All++
	if place <= 5 {
		s.At5++
	}
	if place <= 10 {
		s.At10++
		if a.Effect > 0 {
			s.ProvenAt10++
		}
	}
}

// inSource reports whether a finding is inside of the app and no answer has its code: answers
// name most causes by statement, route and table, and such a finding names the place or the
// symptom in the app of one of them.
func inSource(f iikanji.Finding, answers []Answer) bool {
	return f.Inside && !slices.ContainsFunc(answers, func(a Answer) bool { return a.Code == f.Code })
}

func (a Answer) is(f iikanji.Finding) bool {
	return a.Name.is(f) || slices.ContainsFunc(a.Also, func(n Name) bool { return n.is(f) })
}

func (n Name) is(f iikanji.Finding) bool {
	return n.Code == f.Code && readPlace(n.Where).holds(f)
}
