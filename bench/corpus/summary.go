package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// A count is what became of the places of one code.
type count struct{ found, fix, driver, built, vetted int }

// A summary is what came of all applications.
type summary struct {
	apps    []string
	missing []string
	lines   int
	codes   map[string]*count
	reasons map[string]int
	example map[string]string // a place for each reason
	perApp  []string
	broken  int
	wrong   []string
}

func newSummary() *summary {
	return &summary{codes: map[string]*count{}, reasons: map[string]int{}, example: map[string]string{}}
}

// The query cache is the fix of one lever, and covers the places of another one: it reads
// their rows ahead, where the text of the statement is known and no clause forbids it.
const (
	cacheCode = "APP207"
	aheadCode = "APP205"
)

// byDriver reports whether the query cache is the remedy of a place without a fix.
func (r *result) byDriver(h hit) bool {
	switch h.Code {
	case cacheCode:
		return h.Reason != nil && strings.HasPrefix(h.Reason.Text, ofWholeApp)
	case aheadCode:
		return r.pool && len(h.Sends) > 0 && !strings.ContainsAny(h.Sends[0], hole+"$") && !notAhead.MatchString(h.Sends[0])
	}
	return false
}

// hole stands for a part of a statement that is not known.
const hole = "\ufffd"

// notAhead finds the clauses of statements that are never read ahead.
var notAhead = regexp.MustCompile(`(?i)\bFOR (UPDATE|SHARE)\b|\bLOCK IN\b|\bJOIN\b|\bDISTINCT\b|\bGROUP BY\b|\bUNION\b`)

// names in a reason differ from place to place.
var (
	ofPlace = regexp.MustCompile(`\b(the table|the column|at the call of|calls?|method) \S+`)
	first   = regexp.MustCompile(`^\S+ (is a method|sends|does|has|takes|is generic|is generated)`)
)

func (s *summary) add(name string, r *result) {
	s.apps, s.lines = append(s.apps, name), s.lines+r.lines
	total := count{}
	for i, h := range r.hits {
		c := s.codes[h.Code]
		if c == nil {
			c = &count{}
			s.codes[h.Code] = c
		}
		for _, c := range []*count{c, &total} {
			c.found++
			if len(h.Fixes) > 0 {
				c.fix++
				c.built += one(r.built[i])
				c.vetted += one(r.vetted[i])
			} else if r.byDriver(h) {
				c.driver++
			}
		}
		if h.Reason != nil {
			why := h.Code + " " + first.ReplaceAllString(ofPlace.ReplaceAllString(h.Reason.Text, "$1 …"), "… $1")
			s.reasons[why]++
			if s.example[why] == "" {
				file, err := filepath.Rel(r.dir, h.Reason.File)
				if err != nil {
					file = h.Reason.File
				}
				s.example[why] = fmt.Sprintf("%s/%s:%d", name, filepath.ToSlash(file), h.Reason.Line)
			}
		}
	}
	s.broken += len(r.broken)
	s.wrong = append(s.wrong, r.broken...)
	s.perApp = append(s.perApp, fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d", name, r.lines, r.problems, total.found, total.fix, total.vetted))
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *summary) print(w io.Writer, most int) {
	fmt.Fprintf(w, "%d applications, %d lines of Go\n\n", len(s.apps), s.lines)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "application\tlines\tnot analysed\tplaces\twith a fix\tbuilt and vetted\t")
	for _, line := range s.perApp {
		fmt.Fprintln(t, line+"\t")
	}
	fmt.Fprintln(t, "\t\t\t\t\t\t")
	fmt.Fprintln(t, "code\tplaces\twith a fix\tby the driver\tbuilt\tvetted\t")
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		c := s.codes[code]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t\n", code, c.found, c.fix, c.driver, c.built, c.vetted)
	}
	t.Flush()
	fmt.Fprintln(w, "\nwhy there is no fix, the most frequent reason first:")
	whys := slices.SortedFunc(maps.Keys(s.reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.reasons[b], s.reasons[a]), strings.Compare(a, b))
	})
	for _, why := range whys[:min(most, len(whys))] {
		fmt.Fprintf(w, "%5d  %s (%s)\n", s.reasons[why], why, s.example[why])
	}
	for _, line := range s.wrong {
		fmt.Fprintln(w, "does not hold:", line)
	}
	for _, line := range s.missing {
		fmt.Fprintln(w, "left out:", line)
	}
}
