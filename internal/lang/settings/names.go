package settings

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// environments are the names of the environment as a table.
var environments = []string{"process.env", "import.meta.env", "os.environ", "ENV", "$_ENV", "$_SERVER", "Bun.env"}

// name evaluates a name of the script.
func (p *parser) name(t token) (Value, string) {
	if of, ok := p.aliases[t.text]; ok {
		return p.imported(of), of
	}
	v, ok := p.value(t.text, p.i)
	if !ok {
		v = Because("the name %s at %s:%d", t.text, p.path, t.line)
		if slices.Contains([]string{"process", "os", "ENV", "$_ENV", "$_SERVER", "import"}, t.text) {
			v = Value{Why: []string{"the environment"}}
		}
	}
	return v, t.text
}

// value is what a name holds before a token: where it is assigned several times, all
// must agree. A name that the script does not assign may be one of another script.
func (s *script) value(name string, before int) (Value, bool) {
	at := s.names[name]
	if len(at) == 0 {
		var others []*script
		for _, o := range s.all.scripts {
			if o != s && o.lang == s.lang && len(o.names[name]) > 0 && !strings.HasPrefix(name, "$") && s.lang == php {
				others = append(others, o)
			}
		}
		if len(others) == 1 {
			return others[0].value(name, len(others[0].toks))
		}
		return Value{}, false
	}
	if s.busy[name] {
		return Because("%s, which is made of itself", name), true
	}
	s.busy[name] = true
	defer delete(s.busy, name)
	var v Value
	for n, i := range at {
		one := s.at(i, 5).expression()
		if n > 0 && (one.Kind != v.Kind || one.Text != v.Text || one.Kind == Structure) {
			return Because("%s, which is assigned at several places of %s", name, s.path), true
		}
		v = one
	}
	if v.Kind == Structure && len(s.items[name]) > 0 {
		all := NewTable(v.Table.Line)
		all.take(v.Table)
		for _, i := range s.items[name] {
			all.Set(s.toks[i-3].parts[0].text, s.at(i, 5).expression())
		}
		v.Table = all
	}
	return v, true
}

// module is the script that an import names, nil for another one.
func (s *script) module(of string) *script {
	stem := strings.TrimSuffix(path.Base(strings.ReplaceAll(of, ".", "/")), "/")
	if strings.Contains(of, "/") {
		stem = strings.TrimSuffix(path.Base(of), path.Ext(of))
	}
	var found *script
	for _, o := range s.all.scripts {
		own := strings.TrimSuffix(path.Base(o.path), path.Ext(o.path))
		if own == "index" {
			own = path.Base(path.Dir(o.path))
		}
		if o != s && o.lang == s.lang && own == stem {
			if found != nil {
				return nil
			}
			found = o
		}
	}
	return found
}

// imported is what an import stands for: a script's exports, or a name of it.
func (s *script) imported(of string) Value {
	if m := s.module(of); m != nil {
		if v, ok := m.value("module.exports", len(m.toks)); ok {
			return v
		}
	}
	if i := strings.LastIndexByte(of, '.'); i > 0 {
		if m := s.module(of[:i]); m != nil {
			if v, ok := m.value(of[i+1:], len(m.toks)); ok {
				return v
			}
		}
	}
	return Because("%s of another file", of)
}

// field is a field of a value, or a variable of the environment.
func (p *parser) field(v Value, name, field string, line int) Value {
	if slices.Contains(environments, name) {
		return p.all.env.Get(field)
	}
	if v.Kind == Structure {
		if f, ok := v.Table.Fields[field]; ok {
			return f
		}
		if slices.Contains(conversions, field) {
			return v
		}
	}
	for _, full := range []string{name + "." + field, "." + field} {
		if f, ok := p.value(full, p.i); ok {
			return f
		}
	}
	if name == "self" || name == "static" || name == "this" || name == "$this" || p.lang == php && field != "" && strings.ToUpper(field) == field {
		if f, ok := p.value(field, p.i); ok {
			return f
		}
	}
	if m := p.module(name); m != nil {
		if f, ok := m.value(field, len(m.toks)); ok {
			return f
		}
	}
	if v.Kind == Text || v.Kind == Null { // perhaps a conversion
		return v
	}
	if len(v.Why) > 0 {
		return v
	}
	return Because("%s.%s at %s:%d", name, field, p.path, line)
}

// index is an element of a value, or a variable of the environment.
func (p *parser) index(v Value, name string, key Value) Value {
	switch {
	case slices.Contains(environments, name) && key.Kind == Text:
		return p.all.env.Get(key.Text)
	case v.Kind == Structure && key.Kind == Text:
		return v.Table.get(key.Text)
	case len(v.Why) > 0:
		return v
	}
	return Because("it is computed at %s", p.where())
}

// conversions are functions whose result reads as their argument, or as the value that
// they are a method of.
var conversions = []string{"int", "str", "float", "parseInt", "Number", "String", "intval", "strval", "quote_plus", "quote", "encodeURIComponent", "rawurlencode", "urlencode",
	"to_i", "to_s", "to_sym", "strip", "trim", "freeze", "toString", "dup", "chomp", "Integer", "symbolize_keys", "deep_symbolize_keys"}

// call evaluates the call of a function by its name.
func (p *parser) call(name string, of Value, args *Table, line int) Value {
	last := name[strings.LastIndexByte(name, '.')+1:]
	first, second := args.get("0"), args.get("1")
	for _, key := range []string{"default", "fallback"} {
		if d, ok := args.Fields[key]; ok {
			second = d
		}
	}
	receiver := strings.TrimSuffix(strings.TrimSuffix(name, last), ".")
	switch {
	case slices.Contains(environments, receiver), slices.Contains([]string{"getenv", "os.getenv", "os.environ.get"}, name), strings.Contains(strings.ToLower(last), "env") && variable(first.Text), p.aliases[last] == "decouple.config" || name == "decouple.config":
		if first.Kind == Text {
			return p.all.env.Get(first.Text).Or(second, false)
		}
	case slices.Contains(conversions, last):
		if len(args.Keys) > 0 {
			return first
		}
		return of
	case last == "dict" || last == "array" || last == "Object.freeze":
		if first.Kind == Structure {
			return first
		}
		return Value{Kind: Structure, Table: args}
	case last == "get" || last == "fetch" || last == "dig":
		if of.Kind == Structure && first.Kind == Text {
			return of.Table.get(first.Text).Or(second, false)
		}
	case last == "merge" && of.Kind == Structure:
		merged := NewTable(of.Table.Line)
		merged.take(of.Table)
		merged.take(args)
		return Value{Kind: Structure, Table: merged}
	case (last == "sprintf" || last == "vsprintf") && first.Kind == Text:
		rest := args.values()[1:]
		if last == "vsprintf" && second.Kind == Structure {
			rest = second.Table.values()
		}
		return Format(first, rest)
	case last == "format" && of.Kind == Text:
		return braced(of, args)
	case last == "require" && first.Kind == Text:
		return p.imported(first.Text)
	case name == "URL.create":
		args.Set("drivername", first)
		return Value{Kind: Structure, Table: args}
	}
	return Because("the result of %s at %s:%d", strings.TrimPrefix(name, "."), p.path, line)
}

// variable reports whether a text reads as the name of a variable of the environment.
func variable(s string) bool {
	return s != "" && !digit(s[0]) && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// braced replaces {} and {name} in a text by arguments.
func braced(format Value, args *Table) Value {
	var parts []Value
	next := 0
	for at := 0; ; {
		begin := strings.IndexByte(format.Text[at:], '{')
		end := strings.IndexByte(format.Text[at:], '}')
		if begin < 0 || end < begin {
			return Join(append(parts, format.slice(at, len(format.Text)))...)
		}
		key := format.Text[at+begin+1 : at+end]
		if key == "" {
			key = strconv.Itoa(next)
			next++
		}
		parts = append(parts, format.slice(at, at+begin), args.get(key))
		at += end + 1
	}
}
