package redact

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// Document removes secrets and the literals of statements from every string that
// the value at v leads to. Strings with a type of their own (enumerations,
// fingerprints) and unexported fields stay.
func Document[T any](v *T) { walk(reflect.ValueOf(v).Elem()) }

// walk redacts a settable value in place.
func walk(v reflect.Value) {
	if special(v) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(anyText(v.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				walk(f)
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 { // sketches
			return
		}
		for i := range v.Len() {
			walk(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			value := walked(v.MapIndex(k))
			v.SetMapIndex(k, reflect.Value{})
			if k.Type() == reflect.TypeFor[string]() {
				k = reflect.ValueOf(Text(k.String()))
			}
			v.SetMapIndex(k, value)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(walked(v.Elem()))
		}
	}
}

// walked returns a redacted copy of a value that is not settable.
func walked(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	walk(to)
	return to
}

// special redacts the types whose strings have a known meaning.
func special(v reflect.Value) bool {
	if !v.CanAddr() {
		panic("BUG: a value to redact cannot be changed")
	}
	switch x := v.Addr().Interface().(type) {
	case *iikanji.Fact:
		*x = withoutSecrets(*x)
	case *iikanji.Profile:
		Profile(x, true)
		x.Notes = append([]string(nil), x.Notes...)
		walk(reflect.ValueOf(&x.Notes).Elem())
	case *catalog.QueryPlan:
		x.SQL = literals(x.SQL)
		return false
	case *iikanji.Remedy:
		x.Says, x.Args = Prose(x.Says), Args(x.Args)
		for k, v := range x.Args {
			x.Args[k] = anyText(v)
		}
	case *json.RawMessage:
		*x = json.RawMessage(jsonText(string(*x)))
	default:
		return false
	}
	return true
}

// anyText redacts a text of an unknown form.
func anyText(s string) string {
	switch {
	case isJSON(s):
		return jsonText(s)
	case isDiff(s):
		return diff(s)
	}
	return Prose(s)
}

// Profile redacts the examples, quoted lines and keys of a profile. Of statements
// it replaces all literals, or only those that may be secrets. It returns the
// number of changed texts, without examples of requests, which few tables show.
func Profile(p *iikanji.Profile, all bool) (changed int) { return new(Names).Profile(p, all) }

// Profile is the function Profile with the names of other profiles.
func (n *Names) Profile(p *iikanji.Profile, all bool) (changed int) {
	set := func(s *string, by func(string) string) {
		if r := by(*s); r != *s {
			*s = r
			changed++
		}
	}
	sql := literals
	if !all {
		sql = func(s string) string { return string(Statement([]byte(s))) }
	}
	example := Text
	if p.Source == iikanji.Slow {
		example = sql
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		if p.Source == iikanji.Access {
			r.Example.Text = Text(r.Example.Text)
			continue
		}
		set(&r.Example.Text, example)
		if r.Query != nil {
			set(&r.Query.Typical.Text, sql)
		}
	}
	for i := range p.Transactions {
		set(&p.Transactions[i].Example.Text, sql)
	}
	for i := range p.Slowest {
		set(&p.Slowest[i].Text, Text)
	}
	for i := range p.Intake.BadLines {
		set(&p.Intake.BadLines[i].Text, func(s string) string { return Text(example(s)) })
	}
	if p.Source == iikanji.Slow { // fingerprints have no literals
		return changed
	}
	return changed + n.rows(p)
}

// Names redacts keys of rows, which name one row each: keys that would become equal
// get a number. The zero value is ready; one value serves profiles that are compared.
type Names struct {
	known map[string]string
	taken map[string]int
}

// rows redacts the keys of a profile's rows and returns how many changed.
func (n *Names) rows(p *iikanji.Profile) (changed int) {
	if n.known == nil {
		n.known, n.taken = map[string]string{}, map[string]int{}
	}
	for i := range p.Rows {
		key := p.Rows[i].Key
		name, ok := n.known[key]
		if !ok {
			if name = Text(key); name != key {
				if n.taken[name]++; n.taken[name] > 1 {
					name = fmt.Sprintf("%s (%d)", name, n.taken[name])
				}
			}
			n.known[key] = name
		}
		if name != key {
			p.Rows[i].Key = name
			changed++
		}
	}
	return changed
}
