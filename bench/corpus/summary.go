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
	"time"
)

// A count is what became of the places of one code, or of one application.
// driver are those that the query cache covers by the texts of the source, seen those that it
// covers by the texts of an observed run.
type count struct{ found, fix, driver, seen, built, vetted, alike int }

// refused are the places for which nothing does anything.
func (c count) refused() int { return c.found - c.fix - c.driver - c.seen }

// A summary is what came of all applications.
type summary struct {
	apps    []string
	missing []string
	lines   int
	codes   map[string]*count
	reasons map[string]int
	example map[string]string // a place for each reason
	perApp  []string
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

// goalCodes are the levers whose places the last line of the summary counts.
var goalCodes = []string{"APP204", "APP205", "APP207", "APP210", "APP213"}

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

// aheadByRun is in the reason of a place whose statement a mapper makes, which the query cache
// has from an observed run.
const aheadByRun = "has it from an observed run"

// bySeen reports whether the query cache covers a place by the text that a run has.
func (r *result) bySeen(h hit) bool {
	return h.Code == aheadCode && r.pool && h.Reason != nil && strings.Contains(h.Reason.Text, aheadByRun)
}

// hole stands for a part of a statement that is not known.
const hole = "\ufffd"

// notAhead finds the clauses of statements that are never read ahead.
var notAhead = regexp.MustCompile(`(?i)\bFOR (UPDATE|SHARE)\b|\bLOCK IN\b|\bJOIN\b|\bDISTINCT\b|\bGROUP BY\b|\bUNION\b`)

// names in a reason differ from place to place.
var (
	ofPlace = regexp.MustCompile(`\b(the table|the column|at the call of|calls?|method|argument of|variable of|receiver of) \S+`)
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
		covered := len(h.Fixes) == 0 && r.byDriver(h)
		seen := len(h.Fixes) == 0 && !covered && r.bySeen(h)
		for _, c := range []*count{c, &total} {
			c.found++
			c.fix += one(len(h.Fixes) > 0)
			c.built += one(r.built[i])
			c.vetted += one(r.vetted[i])
			c.alike += one(r.alike[i])
			c.driver += one(covered)
			c.seen += one(seen)
		}
		if h.Reason != nil && !covered && !seen {
			s.because(name, r.dir, h)
		}
	}
	for _, line := range r.broken {
		s.wrong = append(s.wrong, name+": "+line)
	}
	tests := "–"
	if r.tests > 0 {
		tests = fmt.Sprint(r.tests)
	}
	s.perApp = append(s.perApp, fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d | %s | %.1f | %.1f |", name, r.lines, r.problems, total.found, total.fix, total.driver, total.seen,
		total.refused(), tests, r.wall.Round(100*time.Millisecond).Seconds(), r.cpu.Round(100*time.Millisecond).Seconds()))
}

// because counts the reason of a place for which nothing does anything.
func (s *summary) because(name, dir string, h hit) {
	why := h.Code + " | " + first.ReplaceAllString(ofPlace.ReplaceAllString(h.Reason.Text, "$1 …"), "… $1")
	s.reasons[why]++
	if s.example[why] != "" {
		return
	}
	file, err := filepath.Rel(dir, h.Reason.File)
	if err != nil {
		file = h.Reason.File
	}
	s.example[why] = fmt.Sprintf("%s/%s:%d", name, filepath.ToSlash(file), h.Reason.Line)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// print writes the summary as Markdown.
func (s *summary) print(w io.Writer, most int) {
	fmt.Fprintf(w, "%d applications, %d lines of Go\n\n", len(s.apps), s.lines)
	fmt.Fprintln(w, "| application | lines | packages not analysed | places | with a fix | by the query cache | by it, with a run | refused | own tests alike | lint, s | its CPU, s |\n|---|---|---|---|---|---|---|---|---|---|---|")
	for _, line := range s.perApp {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, "\n| code | places | with a fix | built | vetted | alike in the app's tests | by the query cache | by it, with a run | refused |\n|---|---|---|---|---|---|---|---|---|")
	goal := count{}
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		c := s.codes[code]
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", code, c.found, c.fix, c.built, c.vetted, c.alike, c.driver, c.seen, c.refused())
		if slices.Contains(goalCodes, code) {
			goal.found, goal.fix, goal.driver = goal.found+c.found, goal.fix+c.fix, goal.driver+c.driver+c.seen
		}
	}
	if goal.found > 0 {
		fmt.Fprintf(w, "\n%s: %d of %d places (%.0f %%) have a fix or are covered by the query cache\n", strings.Join(goalCodes, ", "),
			goal.fix+goal.driver, goal.found, 100*float64(goal.fix+goal.driver)/float64(goal.found))
	}
	s.printReasons(w, most)
	for _, line := range s.wrong {
		fmt.Fprintln(w, "\ndoes not hold:", line)
	}
	for _, line := range s.missing {
		fmt.Fprintln(w, "\nleft out:", line)
	}
}

func (s *summary) printReasons(w io.Writer, most int) {
	whys := slices.SortedFunc(maps.Keys(s.reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.reasons[b], s.reasons[a]), strings.Compare(a, b))
	})
	if len(whys) == 0 {
		return
	}
	fmt.Fprintln(w, "\nWhy nothing is done, the most frequent reason first:\n\n| places | code | reason | one of them |\n|---|---|---|---|")
	for _, why := range whys[:min(most, len(whys))] {
		fmt.Fprintf(w, "| %d | %s | %s |\n", s.reasons[why], why, s.example[why])
	}
}
