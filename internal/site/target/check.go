package target

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A Problem is one mistake in the file.
type Problem struct {
	Line int // 0 for the file as a whole
	Text string
	Hint string // a suggestion, "" for none
}

// An Error lists the mistakes in a file.
type Error struct {
	Path     string
	Problems []Problem
}

func (e *Error) Error() string {
	var parts []string
	for _, p := range e.Problems {
		at := e.Path
		if p.Line > 0 {
			at += ":" + strconv.Itoa(p.Line)
		}
		parts = append(parts, at+": "+p.Text)
	}
	return strings.Join(parts, "\n")
}

// Hints are the suggestions.
func (e *Error) Hints() []string {
	var out []string
	for _, p := range e.Problems {
		if p.Hint != "" && !slices.Contains(out, p.Hint) {
			out = append(out, p.Hint)
		}
	}
	return out
}

// A checker compares the keys of a text with the structs and notes their lines.
type checker struct {
	parser   unstable.Parser
	problems []Problem
	// lines are the lines of keys by their path, as in "service.1.engine"; that of
	// a table is the line of its header.
	lines map[string]int
	count map[string]int // elements of each array of tables
	line  int            // of the expression that is being checked
}

// check reads a text. The error is that of the syntax.
func (c *checker) check(text []byte) {
	c.lines, c.count = map[string]int{}, map[string]int{}
	top := all()
	at, path := &top, ""
	c.parser.Reset(text)
	for c.parser.NextExpression() {
		e := c.parser.Expression()
		c.line = c.lineOf(e)
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			at, path = c.header(&top, e)
		case unstable.KeyValue:
			if at != nil {
				c.pair(at, path, e)
			}
		}
	}
}

// lineOf is the line of the first word of an expression.
func (c *checker) lineOf(e *unstable.Node) int {
	for it := e.Key(); it.Next(); {
		if n := it.Node(); n.Raw.Length > 0 {
			return c.parser.Shape(n.Raw).Start.Line
		}
	}
	return 0
}

func (c *checker) add(text, hint string) {
	c.problems = append(c.problems, Problem{c.line, text, hint})
}

// header finds the table that a header opens; nil if there is none.
func (c *checker) header(top *field, e *unstable.Node) (*field, string) {
	at, path := top, ""
	for it := e.Key(); it.Next(); {
		key := string(it.Node().Data)
		last := it.IsLast()
		next, ok := at.child(key)
		if !ok {
			c.unknown(at, path, key)
			return nil, ""
		}
		path = join(path, key)
		switch {
		case next.kind == tables && last && e.Kind == unstable.Table:
			c.add(fmt.Sprintf("%s is a list of tables", path), fmt.Sprintf("write [[%s]] in place of [%s]", key, key))
			return nil, ""
		case next.kind == tables && last:
			c.count[path]++
			fallthrough
		case next.kind == tables:
			path = join(path, strconv.Itoa(max(c.count[path], 1)))
		case next.kind == table && last && e.Kind == unstable.ArrayTable:
			c.add(fmt.Sprintf("%s is one table", path), fmt.Sprintf("write [%s] in place of [[%s]]", key, key))
			return nil, ""
		case next.kind == mapping && last:
		case next.kind != table:
			c.add(fmt.Sprintf("%s is a %s, not a table", path, next.kind), sample(next))
			return nil, ""
		}
		at = next
	}
	c.lines[path] = c.line
	return at, path
}

// pair checks a key with its value.
func (c *checker) pair(at *field, path string, e *unstable.Node) {
	for it := e.Key(); it.Next(); {
		key := string(it.Node().Data)
		if at.kind == mapping {
			path = join(path, key)
			at = &field{key: key, kind: text}
			continue
		}
		next, ok := at.child(key)
		if !ok {
			c.unknown(at, path, key)
			return
		}
		at, path = next, join(path, key)
	}
	c.lines[path] = c.line
	c.value(at, path, e.Value())
}

// value checks a value.
func (c *checker) value(f *field, path string, v *unstable.Node) {
	wrong := func() {
		c.add(fmt.Sprintf("%s is %s; want %s", path, article(v.Kind), wanted(f)), sample(f))
	}
	switch f.kind {
	case table, mapping:
		if v.Kind != unstable.InlineTable {
			wrong()
			return
		}
		for it := v.Children(); it.Next(); {
			c.pair(f, path, it.Node())
		}
	case tables:
		c.add(fmt.Sprintf("%s is a list of tables", path), fmt.Sprintf("write [[%s]] on a line of its own, and its keys below", f.key))
	case list:
		if v.Kind != unstable.Array {
			wrong()
			return
		}
		element := *f
		element.kind, element.of = f.of, ""
		if f.typ != nil {
			element.typ = f.typ.Elem()
			element.parses = reflect.PointerTo(element.typ).Implements(textUnmarshaler)
		}
		for it := v.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				c.value(&element, path, it.Node())
			}
		}
	case number:
		if v.Kind != unstable.Integer {
			wrong()
		}
	case decimal:
		if v.Kind != unstable.Integer && v.Kind != unstable.Float {
			wrong()
		}
	default:
		if v.Kind != unstable.String {
			wrong()
			return
		}
		c.word(f, path, string(v.Data))
	}
}

// word checks the text of a key that has a form.
func (c *checker) word(f *field, path, value string) {
	if f.words != nil && !slices.Contains(f.words, value) {
		hint := "possible: " + strings.Join(f.words, ", ")
		if near := nearest(value, f.words); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
		c.add(fmt.Sprintf("%s is %q, which is not a possible value", path, clean(value)), hint)
		return
	}
	if !f.parses {
		return
	}
	into := reflect.New(f.typ).Interface()
	if u, ok := into.(interface{ UnmarshalText([]byte) error }); ok {
		if err := u.UnmarshalText([]byte(value)); err != nil {
			c.add(path+": "+clean(err.Error()), sample(f))
		}
	}
}

// unknown reports a key that is not in the format.
func (c *checker) unknown(at *field, path, key string) {
	hint := "possible here: " + strings.Join(at.keys(), ", ")
	if near := nearest(key, at.keys()); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	} else if where := elsewhere(key); where != "" {
		hint = fmt.Sprintf("%s is a key of %s", key, where)
	}
	c.add(fmt.Sprintf("there is no key %q", clean(join(path, key))), hint)
}

// elsewhere is the table that has a key of this name, "" for none.
func elsewhere(key string) string {
	top := all()
	if _, ok := top.child(key); ok {
		return "the file itself, above all tables"
	}
	found := ""
	var look func(f *field, path string)
	look = func(f *field, path string) {
		for i := range f.fields {
			in := &f.fields[i]
			if _, ok := in.child(key); ok && found == "" {
				found = "[" + join(path, in.key) + "]"
				if in.kind == tables {
					found = "[[" + in.key + "]]"
				}
			}
			look(in, join(path, in.key))
		}
	}
	look(&top, "")
	return found
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// article names the kind of a value.
func article(k unstable.Kind) string {
	switch k {
	case unstable.String:
		return "a string"
	case unstable.Integer:
		return "an integer"
	case unstable.Float:
		return "a number with a fraction"
	case unstable.Bool:
		return "a boolean"
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a table"
	}
	return "a date or a time"
}

func wanted(f *field) string {
	switch f.kind {
	case number:
		return "an integer"
	case decimal:
		return "a number"
	case list:
		return "a list of " + string(f.of) + "s"
	case table, mapping:
		return "a table"
	}
	return "a string"
}

// sample is how a key is written.
func sample(f *field) string {
	value := f.example
	if value == "" && len(f.words) > 0 {
		value = f.words[0]
	}
	if value == "" {
		value = "…"
	}
	switch f.kind {
	case number:
		return fmt.Sprintf("write %s = 1", f.key)
	case decimal:
		return fmt.Sprintf("write %s = 0.5", f.key)
	case list:
		if f.of == number {
			return fmt.Sprintf("write %s = [0]", f.key)
		}
		return fmt.Sprintf("write %s = [%s]", f.key, quote(value))
	case table, mapping:
		return fmt.Sprintf("write [%s] on a line of its own, and its keys below", f.key)
	}
	return fmt.Sprintf("write %s = %s", f.key, quote(value))
}

// clean makes a text of the file printable on a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}

// nearest is the word with the fewest edits to a word, if these are few.
func nearest(word string, words []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, w := range words {
		if d := edits(strings.ToLower(word), w); d < least {
			best, least = w, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			diagonal = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
