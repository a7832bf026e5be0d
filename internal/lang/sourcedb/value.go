package sourcedb

import (
	"fmt"
	"slices"
	"strings"
)

// A kind is what is known of a value.
type kind int

const (
	unknown kind = iota
	null
	texts
	boolean
	tables
	lists
	funcs
	environ // the environment as a table
	modules
)

// A value is the result of an expression.
type value struct {
	kind  kind
	text  string
	from  []span   // of a text: the parts that it is made of
	why   []string // what is missing for it, without secrets
	table *table
	list  []value
	fn    *function
	unit  *unit
	// dsnOf is the configuration that a text is the form of.
	dsnOf *table
}

// An Origin is where a text comes from.
type Origin struct {
	// Layer is the index of the environment that has the variable Name, -1 for a literal.
	Layer int
	Name  string
	Path  string // of a literal
	Line  int
}

// A table is a struct, an object, a hash or an array with keys.
type table struct {
	typ    string // "" for none
	keys   []string
	fields map[string]value
	origin Origin // where it was made
	unit   *unit  // of the table of a file's classes: the file
}

// Limits of evaluation.
const (
	maxText   = 4 << 10   // length of one text
	maxFields = 500       // of one table
	maxDepth  = 400       // of nested expressions
	callDepth = 20        // that one call counts for
	maxSteps  = 1_500_000 // in one source
	maxOwn    = 150_000   // of these for one file or function that nothing known calls
	maxFrom   = 60        // origins of one text
)

func newTable(typ string, at Origin) *table {
	return &table{typ: typ, fields: map[string]value{}, origin: at}
}

func (t *table) set(key string, v value) {
	if _, ok := t.fields[key]; !ok {
		if len(t.keys) >= maxFields {
			return
		}
		t.keys = append(t.keys, key)
	}
	t.fields[key] = v
}

func unknownBecause(format string, args ...any) value {
	return value{kind: unknown, why: []string{fmt.Sprintf(format, args...)}}
}

// truth is yes, no or not known.
func (v value) truth() (yes, known bool) {
	switch v.kind {
	case null:
		return false, true
	case boolean:
		return v.text == "true", true
	case texts:
		return v.text != "", true
	case tables, lists, funcs, environ, modules:
		return true, true
	}
	return false, false
}

// equal reports whether two values are the same, if that is known.
func equal(a, b value) (same, known bool) {
	if a.kind == unknown || b.kind == unknown {
		return false, false
	}
	if a.kind == null || b.kind == null {
		return a.kind == b.kind, true
	}
	if (a.kind == texts || a.kind == boolean) && (b.kind == texts || b.kind == boolean) {
		return a.text == b.text, true
	}
	return false, false
}

func boolOf(b bool) value {
	if b {
		return value{kind: boolean, text: "true"}
	}
	return value{kind: boolean, text: "false"}
}

// joined puts texts behind one another. What is missing of any part is missing of the
// whole.
func joined(parts ...value) value {
	out := value{kind: texts}
	var b strings.Builder
	for _, p := range parts {
		switch p.kind {
		case texts, boolean:
			b.WriteString(p.text)
			out.from = append(out.from, p.spans()...)
			out.why = append(out.why, p.why...)
		case null:
			out.why = append(out.why, p.why...)
		default:
			out.kind = unknown
			out.why = append(out.why, p.why...)
		}
		if b.Len() > maxText {
			return value{kind: unknown}
		}
	}
	out.text, out.why = b.String(), compact(out.why)
	if out.kind == unknown {
		return value{kind: unknown, why: out.why}
	}
	out.from = out.spans()
	return out
}

// compact removes repetitions and bounds a list of reasons.
func compact(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) && len(out) < 4 {
			out = append(out, s)
		}
	}
	return out
}

// merged is a value after a branch that may or may not be taken.
func merged(old, new value, path string, line int) value {
	if same, known := equal(old, new); known && same {
		return old
	}
	return unknownBecause("it depends on a condition at %s:%d", path, line)
}
