package accesslog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// A Pattern is a route that the user gave; it has priority over learned routes.
type Pattern struct {
	text   string
	method string // empty for all methods
	steps  []step // of a router pattern
	tail   bool   // pattern ends in "*": any number of segments may follow
	re     *regexp.Regexp
}

// A step matches one segment: literal parts with parameters between them.
type step struct {
	parts []string // text before, between and behind the parameters
}

// Text is a router pattern as Route reads it.
func (p Pattern) Text() string {
	if p.method == "" {
		return p.text
	}
	return p.method + " " + p.text
}

// Tail reports whether a pattern ends in a part that takes any number of segments.
func (p Pattern) Tail() bool { return p.tail }

// Route reads a pattern in the syntax of routers: "/api/isu/:id/icon",
// "/users/{name}", "/files/*path", "/image/:id.:ext", "/posts/<int:id>",
// perhaps with a method before it.
func Route(text string) (Pattern, error) {
	p := Pattern{text: text}
	rest := text
	if m, path, ok := strings.Cut(text, " "); ok {
		if methodOf([]byte(m)) == 0 {
			return p, fmt.Errorf("the route %q begins with %q, which is not a method", text, m)
		}
		p.method, p.text, rest = m, path, path
	}
	if !strings.HasPrefix(rest, "/") {
		return p, fmt.Errorf("the route %q does not begin with a slash", text)
	}
	segs := strings.Split(rest[1:], "/")
	for i, seg := range segs {
		if strings.HasPrefix(seg, "*") || strings.HasPrefix(seg, "{") && (strings.HasSuffix(seg, "...}") || strings.HasSuffix(seg, ":.*}")) {
			if i != len(segs)-1 {
				return p, fmt.Errorf("the route %q continues behind %q", text, seg)
			}
			p.tail = true
			break
		}
		s, err := parseStep(seg)
		if err != nil {
			return p, fmt.Errorf("reading the route %q: %w", text, err)
		}
		p.steps = append(p.steps, s)
	}
	return p, nil
}

// parseStep splits a segment at its parameters.
func parseStep(seg string) (step, error) {
	var s step
	lit := ""
	for seg != "" {
		n := 0
		switch seg[0] {
		case '{', '<':
			end := strings.IndexByte(seg, map[byte]byte{'{': '}', '<': '>'}[seg[0]])
			if end < 0 {
				return s, fmt.Errorf("%q is not closed", seg)
			}
			n = end + 1
		case ':':
			for n = 1; n < len(seg) && (seg[n] == '_' || classOf[seg[n]]&(cLetter|cDigit) != 0); {
				n++
			}
			if n == 1 {
				return s, fmt.Errorf("%q has no name behind the colon", seg)
			}
		}
		if n == 0 {
			lit, seg = lit+seg[:1], seg[1:]
			continue
		}
		s.parts = append(s.parts, lit)
		lit, seg = "", seg[n:]
	}
	s.parts = append(s.parts, lit)
	return s, nil
}

// matches reports whether a segment fits: literal parts in place, and at least
// one byte for each parameter.
func (s step) matches(seg string) bool {
	if len(s.parts) == 1 {
		return seg == s.parts[0]
	}
	last := len(s.parts) - 1
	if !strings.HasPrefix(seg, s.parts[0]) {
		return false
	}
	seg = seg[len(s.parts[0]):]
	for _, part := range s.parts[1:last] {
		i := strings.Index(seg[min(1, len(seg)):], part)
		if len(seg) == 0 || i < 0 {
			return false
		}
		seg = seg[1+i+len(part):]
	}
	return len(seg) > len(s.parts[last]) && strings.HasSuffix(seg, s.parts[last])
}

// Matches reads alp's -m: regular expressions with commas between them. A
// comma inside brackets, braces or parentheses is part of its expression.
func Matches(list string) (all []Pattern, err error) {
	for _, text := range splitCommas(list) {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("reading the expression %q: %w", text, err)
		}
		all = append(all, Pattern{text: text, re: re})
	}
	return all, nil
}

func splitCommas(s string) (parts []string) {
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ',':
			if depth <= 0 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	return slices.DeleteFunc(append(parts, s[start:]), func(p string) bool { return p == "" })
}

// match reports whether the pattern covers a path. It allocates nothing.
func (p *Pattern) match(m method, path []byte) bool {
	if p.method != "" && p.method != m.String() {
		return false
	}
	if p.re != nil {
		return p.re.Match(path)
	}
	s := lines.View(path)
	for i := range p.steps {
		if len(s) == 0 || s[0] != '/' {
			return false
		}
		s = s[1:]
		end := strings.IndexByte(s, '/')
		if end < 0 {
			end = len(s)
		}
		if !p.steps[i].matches(s[:end]) {
			return false
		}
		s = s[end:]
	}
	if p.tail {
		return len(s) > 0
	}
	return len(s) == 0
}

// sortRoutes puts patterns with more literal text first, as routers do
// ("/users/me" before "/users/:id"). Regular expressions keep their order,
// behind them.
func sortRoutes(all []Pattern) []Pattern {
	weight := func(p Pattern) int {
		n := 0
		for _, s := range p.steps {
			if n += 2; len(s.parts) == 1 {
				n += 1000
			}
			for _, part := range s.parts {
				n += min(len(part), 1)
			}
		}
		if p.method != "" {
			n++
		}
		return n
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Pattern) int {
		switch {
		case (a.re == nil) != (b.re == nil):
			if a.re == nil {
				return -1
			}
			return 1
		case a.re != nil:
			return 0
		}
		return weight(b) - weight(a)
	})
	return sorted
}

// patterns are the user's routes with a cache of recent paths: a regular
// expression costs as much as parsing a line.
type patterns struct {
	all   []Pattern
	texts [][]byte
	cache [4096]struct {
		hash  uint64
		index int32 // index into all plus 1; 0: no pattern matches
	}
}

// newPatterns returns nil if there are no patterns.
func newPatterns(all []Pattern) *patterns {
	if len(all) == 0 {
		return nil
	}
	p := &patterns{all: all}
	for i := range all {
		p.texts = append(p.texts, []byte(all[i].text))
	}
	return p
}

// find returns the text of the first pattern that matches a request, or nil.
func (p *patterns) find(rec *record, seed uint64) []byte {
	path := pathOf(rec.uri)
	h := tally.Hash(path, seed+uint64(rec.method)) | 1
	slot := &p.cache[h>>1%uint64(len(p.cache))]
	if slot.hash != h {
		slot.hash, slot.index = h, 0
		for i := range p.all {
			if p.all[i].match(rec.method, path) {
				slot.index = int32(i + 1)
				break
			}
		}
	}
	if slot.index == 0 {
		return nil
	}
	return p.texts[slot.index-1]
}
