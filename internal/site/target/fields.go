package target

import (
	"encoding"
	"reflect"
	"slices"
	"strings"
)

// A kind is what a key of the file holds.
type kind string

const (
	text    kind = "string"
	number  kind = "integer"
	decimal kind = "number"
	list    kind = "array"  // of strings or integers
	table   kind = "table"  // [key]
	tables  kind = "tables" // [[key]]
	mapping kind = "strings by name"
)

// A field is one key of a table of the file.
type field struct {
	key, help, example string
	kind               kind
	of                 kind     // of the elements of a list
	words              []string // possible values; nil for any
	need               bool
	fields             []field // of a table
	index              int     // in its struct
	parses             bool    // its type reads the text itself
	typ                reflect.Type
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// fieldsOf lists the keys of a struct, in order.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		key := f.Tag.Get("toml")
		if key == "" || key == "-" {
			continue
		}
		one := field{key: key, help: f.Tag.Get("help"), example: f.Tag.Get("example"), need: f.Tag.Get("need") != "", index: i, typ: f.Type}
		if words := f.Tag.Get("words"); words != "" {
			one.words = strings.Split(words, ",")
		}
		one.describe(f.Type)
		out = append(out, one)
	}
	return out
}

// describe fills in what follows from the Go type of a key.
func (f *field) describe(t reflect.Type) {
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		f.kind, f.parses = text, true
		return
	}
	switch t.Kind() {
	case reflect.String:
		f.kind = text
	case reflect.Int:
		f.kind = number
	case reflect.Float64:
		f.kind = decimal
	case reflect.Map:
		f.kind = mapping
	case reflect.Struct:
		f.kind, f.fields = table, fieldsOf(t)
	case reflect.Slice:
		if elem := t.Elem(); elem.Kind() == reflect.Struct {
			f.kind, f.fields = tables, fieldsOf(elem)
			return
		}
		f.kind, f.of = list, text
		if t.Elem().Kind() == reflect.Int {
			f.of = number
		}
	default:
		panic("BUG: a key of the file has the type " + t.String())
	}
}

// all are the keys of the file.
func all() field {
	return field{kind: table, fields: fieldsOf(reflect.TypeFor[File]())}
}

// child finds a key.
func (f *field) child(key string) (*field, bool) {
	i := slices.IndexFunc(f.fields, func(c field) bool { return c.key == key })
	if i < 0 {
		return nil, false
	}
	return &f.fields[i], true
}

// keys are the names of the keys of a table.
func (f *field) keys() []string {
	var out []string
	for _, c := range f.fields {
		out = append(out, c.key)
	}
	return out
}
