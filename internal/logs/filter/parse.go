package filter

import (
	"fmt"
	"slices"
	"strings"
)

// maxDepth bounds how deep parentheses and negations nest.
const maxDepth = 50

// Parse reads a filter. All conditions of the result must hold; an empty text
// gives none.
func (f *Fields[T]) Parse(text string) ([]Condition[T], error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	p := &parser[T]{fields: f, text: text}
	all, err := p.list(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(text) {
		return nil, fmt.Errorf("%q is left over", text[p.at:])
	}
	return all, nil
}

type parser[T any] struct {
	fields *Fields[T]
	text   string
	at     int
}

func (p *parser[T]) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take consumes one of the symbols or words if it is next.
func (p *parser[T]) take(symbols ...string) bool {
	p.space()
	rest := p.text[p.at:]
	for _, s := range symbols {
		if n := len(s); len(rest) >= n && strings.EqualFold(rest[:n], s) && (!isWordByte(s[0]) || len(rest) == n || !isWordByte(rest[n])) {
			p.at += n
			return true
		}
	}
	return false
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// list reads conditions that must all hold: "a, b and c". If one of them is an
// alternative, the result is one condition.
func (p *parser[T]) list(depth int) ([]Condition[T], error) {
	start := p.at
	all, err := p.conjunction(depth)
	if err != nil {
		return nil, err
	}
	branches := [][]Condition[T]{all}
	for p.take("or", "||") {
		next, err := p.conjunction(depth)
		if err != nil {
			return nil, err
		}
		branches = append(branches, next)
	}
	if len(branches) == 1 {
		return all, nil
	}
	c := Condition[T]{Source: strings.TrimSpace(p.text[start:p.at])}
	for _, b := range branches {
		c.Fields = append(c.Fields, fieldsOf(b)...)
	}
	c.Fields = tidy(c.Fields)
	c.test = func(entry *T) bool {
		for _, b := range branches {
			if holdAll(b, entry) {
				return true
			}
		}
		return false
	}
	return []Condition[T]{c}, nil
}

func holdAll[T any](all []Condition[T], entry *T) bool {
	for i := range all {
		if !all[i].test(entry) {
			return false
		}
	}
	return true
}

func fieldsOf[T any](all []Condition[T]) (names []string) {
	for _, c := range all {
		names = append(names, c.Fields...)
	}
	return names
}

func tidy(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func (p *parser[T]) conjunction(depth int) (all []Condition[T], err error) {
	for {
		some, err := p.term(depth)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if !p.take("and", "&&", ",") {
			return all, nil
		}
	}
}

// term reads a comparison, a negation, or conditions in parentheses.
func (p *parser[T]) term(depth int) ([]Condition[T], error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it nests more than %d deep", maxDepth)
	}
	p.space()
	start := p.at
	switch {
	case p.take("not", "!"):
		inner, err := p.term(depth + 1)
		if err != nil {
			return nil, err
		}
		test := func(entry *T) bool { return !holdAll(inner, entry) }
		return []Condition[T]{{Source: strings.TrimSpace(p.text[start:p.at]), Fields: tidy(fieldsOf(inner)), test: test}}, nil
	case p.take("("):
		inner, err := p.list(depth + 1)
		if err != nil {
			return nil, err
		}
		if !p.take(")") {
			return nil, fmt.Errorf("%q has no closing parenthesis", p.text[start:])
		}
		return inner, nil
	}
	c, err := p.comparison()
	if err != nil {
		return nil, err
	}
	return []Condition[T]{c}, nil
}

// operators, the longest first, with the operator that they mean.
var operators = []struct{ text, means string }{
	{"not matches", "!~"}, {"not contains", "!*"}, {"not in", "!="}, {"startswith", "^"}, {"endswith", "$"}, {"matches", "~"}, {"contains", "*"},
	{"!~", "!~"}, {"=~", "~"}, {">=", ">="}, {"<=", "<="}, {"!=", "!="}, {"<>", "!="}, {"==", "="}, {"in", "="}, {"~", "~"}, {"=", "="}, {">", ">"}, {"<", "<"},
}

func (p *parser[T]) comparison() (c Condition[T], err error) {
	start := p.at
	for p.at < len(p.text) && (isWordByte(p.text[p.at]) || p.text[p.at] == '-' && p.at > start) {
		p.at++
	}
	name := p.text[start:p.at]
	if name == "" {
		return c, fmt.Errorf("%q is not a condition such as time>200ms", p.text[start:])
	}
	op := p.operator()
	if op == "" {
		return c, fmt.Errorf("%q is not a condition such as time>200ms: it has no operator =, !=, <, <=, >, >=, ~ or !~ behind %q", p.text[start:], name)
	}
	field := p.fields.find(name)
	if field == nil {
		return c, fmt.Errorf("%q is not one of %s", name, p.fields.names())
	}
	values, err := p.values(op)
	if err != nil {
		return c, err
	}
	c = Condition[T]{Source: strings.TrimSpace(p.text[start:p.at]), Fields: []string{field.Names[0]}}
	if c.test, err = p.fields.compare(field, op, values); err != nil {
		return c, fmt.Errorf("reading the condition %q: %w", c.Source, err)
	}
	return c, nil
}

func (p *parser[T]) operator() string {
	for _, o := range operators {
		if p.take(o.text) {
			return o.means
		}
	}
	return ""
}

// values reads the right side: one value, alternatives ("GET|HEAD"), or a list
// in brackets. The text of a regular expression is one value.
func (p *parser[T]) values(op string) ([]string, error) {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == '[' && op != "~" && op != "!~" {
		return p.listed()
	}
	text, quoted, err := p.value(false)
	if err != nil {
		return nil, err
	}
	if quoted || op == "~" || op == "!~" {
		return []string{text}, nil
	}
	return strings.Split(text, "|"), nil
}

// listed reads [a, "b", c].
func (p *parser[T]) listed() (values []string, err error) {
	start := p.at
	p.at++
	for !p.take("]") {
		p.space()
		if p.at >= len(p.text) {
			return nil, fmt.Errorf("%q has no closing bracket", p.text[start:])
		}
		before := p.at
		text, _, err := p.value(true)
		if err != nil {
			return nil, err
		}
		values = append(values, text)
		if !p.take(",") && p.at == before {
			return nil, fmt.Errorf("%q has no closing bracket", p.text[start:])
		}
	}
	return values, nil
}

// value reads a text in quotes, or a bare one up to a comma, "and", "or" or a
// closing parenthesis outside of brackets; in a list also up to a bracket.
func (p *parser[T]) value(inList bool) (text string, quoted bool, err error) {
	p.space()
	if p.at < len(p.text) && (p.text[p.at] == '"' || p.text[p.at] == '\'') {
		end := strings.IndexByte(p.text[p.at+1:], p.text[p.at])
		if end < 0 {
			return "", false, fmt.Errorf("%q has no closing quote", p.text[p.at:])
		}
		text = p.text[p.at+1 : p.at+1+end]
		p.at += end + 2
		return text, true, nil
	}
	start, depth := p.at, 0
	for p.at < len(p.text) && !p.ends(depth, inList) {
		switch p.text[p.at] {
		case '\\':
			p.at++
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		p.at = min(p.at+1, len(p.text))
	}
	return strings.TrimSpace(p.text[start:p.at]), false, nil
}

// ends reports whether a bare value ends here.
func (p *parser[T]) ends(depth int, inList bool) bool {
	rest := p.text[p.at:]
	switch {
	case depth > 0:
		return false
	case rest[0] == ',' || rest[0] == ')' || inList && rest[0] == ']' || strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "||"):
		return true
	case rest[0] != ' ' && rest[0] != '\t' && rest[0] != '\n':
		return false
	}
	next := parser[T]{text: rest}
	return next.take("and", "or", "&&", "||")
}
