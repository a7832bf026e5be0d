package loop

import (
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// An Answer is a known cause of an arena, one line of its answers.txt.
type Answer struct {
	Code  iikanji.Code `json:"code"`
	Where string       `json:"where"`
	Why   string       `json:"why"`
	Found int          `json:"found"` // place of the finding that is it, from 1; 0 for none
}

// A Score says how well findings match the known causes.
type Score struct {
	Answers    []Answer          `json:"answers"` // in the order of the file
	At5        int               `json:"found_at_5"`
	At10       int               `json:"found_at_10"`
	All        int               `json:"found"`
	Unexpected []iikanji.Finding `json:"unexpected"` // of codes that no answer has
	Doubled    int               `json:"doubled"`    // of a code of an answer, but no further answer is left for them
}

// ReadAnswers reads answers.txt: code, place and cause, between tabs.
func ReadAnswers(text string) []Answer {
	var out []Answer
	for line := range strings.Lines(text) {
		if f := strings.SplitN(strings.TrimSpace(line), "\t", 3); len(f) == 3 && !strings.HasPrefix(line, "#") {
			out = append(out, Answer{Code: iikanji.Code(f[0]), Where: f[1], Why: f[2]})
		}
	}
	return out
}

// ScoreOf holds findings, best first, against the known causes. Each finding
// can be one answer at most: one with its code and, where the answer names a
// table, with the table in its place. An answer that names a route takes any
// finding of its code, because the findings name statements.
func ScoreOf(findings []iikanji.Finding, answers []Answer) Score {
	s := Score{Answers: slices.Clone(answers)}
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
			}
		case !slices.ContainsFunc(answers, func(a Answer) bool { return a.Code == f.Code }):
			s.Unexpected = append(s.Unexpected, f)
		default:
			s.Doubled++
		}
	}
	return s
}

// A place of an answer that begins with a table: "isu", "isu.image", "isu(jia_user_id)".
var tablePlace = regexp.MustCompile(`^([a-z_0-9]+)(?:$|[.(])`)

func (a Answer) is(f iikanji.Finding) bool {
	if a.Code != f.Code {
		return false
	}
	m := tablePlace.FindStringSubmatch(a.Where)
	if m == nil || !strings.HasPrefix(string(a.Code), "DB1") || a.Where == "dsn" {
		return true
	}
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(m[1]) + `\b`).MatchString(strings.ReplaceAll(f.Where, "`", ""))
}
