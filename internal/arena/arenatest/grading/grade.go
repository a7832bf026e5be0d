package grading

import (
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// An Answer is a known cause of an arena, one line of its answers.txt.
type Answer struct {
	Code  iikanji.Code `json:"code"`
	Where string       `json:"where"`
	Why   string       `json:"why"`
	// Effect is the gain in percent that was measured for the cure of this cause alone;
	// 0 if there is none whose interval was above 0.
	Effect float64 `json:"effect_percent,omitempty"`
	Found  int     `json:"found"` // place of the finding that is it, from 1; 0 for none
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
// effect as in +12 %, between tabs.
func ReadAnswers(text string) []Answer {
	var out []Answer
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		a := Answer{Code: iikanji.Code(f[0]), Where: f[1], Why: f[2]}
		if len(f) > 3 {
			a.Effect, _ = strconv.ParseFloat(strings.TrimSuffix(f[3], " %"), 64) // TestAnswers holds the form
		}
		out = append(out, a)
	}
	return out
}

// ScoreOf holds findings, best first, against the known causes. A finding is
// the first answer, not found before, with its code and its place. Behind
// that it may show a found cause again, at a further place that the answer
// covers; all others are unexpected: a right code at a wrong place is a wrong
// finding. Doubts about the measurement are none.
func ScoreOf(findings []iikanji.Finding, answers []Answer) Score {
	s := Score{Answers: slices.Clone(answers)}
	findings = slices.DeleteFunc(slices.Clone(findings), func(f iikanji.Finding) bool { return f.Code.Doubt() || inSource(f, answers) })
	for _, a := range s.Answers {
		if a.Effect > 0 {
			s.Proven++
		}
	}
	for n, f := range findings {
		i := slices.IndexFunc(s.Answers, func(a Answer) bool { return a.Found == 0 && a.is(f) })
		switch {
		case i >= 0:
			s.Answers[i].Found = n + 1
			s.All++
			if n < 5 {
				s.At5++
			}
			if n < 10 {
				s.At10++
				if s.Answers[i].Effect > 0 {
					s.ProvenAt10++
				}
			}
		case slices.ContainsFunc(answers, func(a Answer) bool { return a.is(f) }):
			s.Doubled++
		default:
			s.Unexpected = append(s.Unexpected, f)
		}
	}
	return s
}

// inSource reports whether a finding is that of a code lever that no answer has: answers
// name most causes by statement, route and table, and such a lever names the place in the
// source of one of them.
func inSource(f iikanji.Finding, answers []Answer) bool {
	return strings.HasPrefix(string(f.Code), leverCodes) && !slices.ContainsFunc(answers, func(a Answer) bool { return a.Code == f.Code })
}

// leverCodes begin the codes of code levers.
const leverCodes = "APP2"

func (a Answer) is(f iikanji.Finding) bool {
	return a.Code == f.Code && readPlace(a.Where).holds(f)
}
