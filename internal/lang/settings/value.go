package settings

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind is what is known of a value.
type Kind int

// The kinds of values.
const (
	Unknown Kind = iota
	Null
	Text
	Structure
)

// A Value is the result of an expression.
type Value struct {
	Kind  Kind
	Text  string
	Why   []string // what is missing for it, for people and without secrets
	Table *Table   // of a Structure

	from []span // of a text: the parts that it is made of
}

// A Table is a struct, an object, a hash or a list, whose keys are then numbers.
type Table struct {
	Keys   []string
	Fields map[string]Value
	Line   int // where it begins
}

// Limits of evaluation.
const (
	maxText   = 4 << 10 // length of one text
	maxFields = 500     // of one table
	maxFrom   = 60      // origins of one text
)

// NewTable is an empty table that begins in a line.
func NewTable(line int) *Table { return &Table{Fields: map[string]Value{}, Line: line} }

// Set sets a field.
func (t *Table) Set(key string, v Value) {
	if _, ok := t.Fields[key]; !ok {
		if len(t.Keys) >= maxFields {
			return
		}
		t.Keys = append(t.Keys, key)
	}
	t.Fields[key] = v
}

// take sets the fields of another table.
func (t *Table) take(from *Table) {
	for _, key := range from.Keys {
		t.Set(key, from.Fields[key])
	}
}

// get is a field, null without one.
func (t *Table) get(key string) Value {
	if v, ok := t.Fields[key]; ok {
		return v
	}
	return Value{Kind: Null}
}

// Because is an unknown value with what is missing for it.
func Because(format string, args ...any) Value {
	return Value{Why: []string{fmt.Sprintf(format, args...)}}
}

// Empty reports whether a value is nothing or an empty text.
func (v Value) Empty() bool { return v.Kind == Null || v.Kind == Text && v.Text == "" }

// Or is a value, or another one in its place if it is nothing.
func (v Value) Or(other Value, emptyToo bool) Value {
	if v.Kind == Null || emptyToo && v.Empty() {
		return other
	}
	return v
}

// Join puts texts behind one another. What is missing of any part is missing of the
// whole.
func Join(parts ...Value) Value {
	out := Value{Kind: Text}
	var b strings.Builder
	for _, p := range parts {
		out.Why = append(out.Why, p.Why...)
		switch p.Kind {
		case Text:
			b.WriteString(p.Text)
			out.from = append(out.from, p.spans()...)
		case Null:
		default:
			out.Kind = Unknown
		}
		if b.Len() > maxText {
			return Value{}
		}
	}
	out.Why = compact(out.Why)
	out.Text = b.String()
	if out.Kind == Unknown { // its text tells the engine
		return Value{Why: out.Why, Text: out.Text}
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

// Format replaces the verbs of a format, each % with its flags and one letter, by
// arguments.
func Format(format Value, args []Value) Value {
	var parts []Value
	at, next := 0, 0
	for i := 0; i < len(format.Text); i++ {
		if format.Text[i] != '%' {
			continue
		}
		parts = append(parts, format.slice(at, i))
		for i++; i < len(format.Text) && strings.IndexByte("0123456789.+-# [$]", format.Text[i]) >= 0; i++ {
		}
		if at = min(i+1, len(format.Text)); i < len(format.Text) && format.Text[i] == '%' {
			at = i
			continue
		}
		if next < len(args) {
			parts = append(parts, args[next])
		}
		next++
	}
	return Join(append(parts, format.slice(min(at, len(format.Text)), len(format.Text)))...)
}

// An Environment is the layers of variables that an app sees.
type Environment []Layer

// Get is a variable, nothing with the reason if it is not set.
func (e Environment) Get(name string) Value {
	for i, l := range e {
		if text, ok := l.Values[name]; ok && len(text) <= maxText {
			return Value{Kind: Text, Text: text, from: []span{{Origin{Layer: i, Name: name}, len(text)}}}
		}
	}
	return Value{Kind: Null, Why: []string{"the variable " + name + ", which is not set"}}
}
