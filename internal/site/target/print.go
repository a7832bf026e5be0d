package target

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Print is the file as text, with keys in the order of the reference. Keys with
// zero values are left out. Notes are comments by path, as in "service.1.listen"
// (services count from 1); "" is the comment at the head. The note of a key that
// is left out is printed with the key commented out, as an example.
func Print(f *File, notes map[string]string) string {
	p := &printer{notes: notes}
	p.comment(notes[""])
	top := all()
	p.table(&top, reflect.ValueOf(*f), "", "")
	return strings.TrimLeft(p.out.String(), "\n")
}

type printer struct {
	out   strings.Builder
	notes map[string]string
}

func (p *printer) comment(text string) {
	for line := range strings.Lines(text) {
		p.out.WriteString(strings.TrimRight("# "+clean(strings.TrimRight(line, "\n")), " ") + "\n")
	}
}

// table prints the keys of a table: its own values first, then the tables below
// it. path is the place in the file, name the header.
func (p *printer) table(f *field, v reflect.Value, path, name string) {
	for i := range f.fields {
		if c := &f.fields[i]; c.kind != table && c.kind != tables && c.kind != mapping {
			p.pair(c, v.Field(c.index), join(path, c.key))
		}
	}
	for i := range f.fields {
		c := &f.fields[i]
		value, at := v.Field(c.index), join(path, c.key)
		switch c.kind {
		case table:
			if !value.IsZero() || p.noted(at) {
				p.header("["+join(name, c.key)+"]", at)
				p.table(c, value, at, join(name, c.key))
			}
		case mapping:
			if value.Len() > 0 {
				p.header("["+join(name, c.key)+"]", at)
				p.strings(value)
			}
		case tables:
			for n := range value.Len() {
				in := join(at, strconv.Itoa(n+1))
				p.header("[["+join(name, c.key)+"]]", in)
				p.table(c, value.Index(n), in, join(name, c.key))
			}
		}
	}
}

// noted reports whether a key below a table has a note.
func (p *printer) noted(path string) bool {
	for at := range p.notes {
		if strings.HasPrefix(at, path+".") {
			return true
		}
	}
	return false
}

func (p *printer) header(text, path string) {
	p.out.WriteByte('\n')
	p.comment(p.notes[path])
	p.out.WriteString(text + "\n")
}

func (p *printer) pair(f *field, v reflect.Value, path string) {
	note := p.notes[path]
	if v.IsZero() {
		if note != "" {
			p.comment(note)
			p.out.WriteString("# " + strings.TrimPrefix(sample(f), "write ") + "\n")
		}
		return
	}
	p.comment(note)
	text := literal(v)
	if v.Kind() == reflect.Slice && v.Len() > 1 && len(f.key)+len(text) > widest {
		text = entries(v)
	}
	p.out.WriteString(f.key + " = " + text + "\n")
}

// widest is the length from which a list is printed with one entry a line.
const widest = 160

// entries is a list in TOML with one entry a line.
func entries(v reflect.Value) string {
	var b strings.Builder
	b.WriteString("[\n")
	for i := range v.Len() {
		b.WriteString("  " + literal(v.Index(i)) + ",\n")
	}
	return b.String() + "]"
}

func (p *printer) strings(v reflect.Value) {
	var keys []string
	for _, k := range v.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	for _, k := range keys {
		p.out.WriteString(quote(k) + " = " + quote(v.MapIndex(reflect.ValueOf(k)).String()) + "\n")
	}
}

// literal is a value in TOML.
func literal(v reflect.Value) string {
	if m, ok := v.Interface().(interface{ MarshalText() ([]byte, error) }); ok {
		if b, err := m.MarshalText(); err == nil {
			return quote(string(b))
		}
	}
	switch v.Kind() {
	case reflect.String:
		return quote(v.String())
	case reflect.Int:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Float64:
		return decimalText(v.Float())
	}
	var parts []string
	for i := range v.Len() {
		parts = append(parts, literal(v.Index(i)))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// decimalText is a number with a fraction in TOML, which has a dot or an exponent.
func decimalText(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(text, ".en") {
		text += ".0"
	}
	return text
}

// quote is a text as a basic string of TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
