package nginx

import (
	"slices"
	"strings"
)

// A Word is the name of a directive or one of its arguments, as written.
type Word struct {
	Before string // white space and comments before it
	Raw    string // with its quotes and escapes
}

// Value is the word as nginx understands it: without quotes and escapes.
func (w Word) Value() string {
	s := w.Raw
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') {
		s = s[1 : len(s)-1]
	}
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '"', '\'', '\\':
			b.WriteByte(s[i])
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'n':
			b.WriteByte('\n')
		default:
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}

// A Directive is a name with arguments, ended by ";" or by a block.
type Directive struct {
	Words []Word // the name first; at least one
	Tail  string // white space and comments before ";" or "{"
	Block *Block // nil for a directive that ends in ";"

	// File, Line, Start and End are the place of the directive when it was
	// parsed: Line from 1, Start the byte of its name, End the byte after its
	// semicolon or closing brace. Line is 0 for a directive that an edit made.
	File       string
	Line       int
	Start, End int
}

// Name is the value of the first word.
func (d *Directive) Name() string { return d.Words[0].Value() }

// Args are the values of the words after the name.
func (d *Directive) Args() []string {
	vs := make([]string, 0, len(d.Words)-1)
	for _, w := range d.Words[1:] {
		vs = append(vs, w.Value())
	}
	return vs
}

// Arg is the i-th argument from 0, or "".
func (d *Directive) Arg(i int) string {
	if i+1 < len(d.Words) {
		return d.Words[i+1].Value()
	}
	return ""
}

// Has reports whether a word is one of the arguments.
func (d *Directive) Has(word string) bool { return slices.Contains(d.Args(), word) }

// head writes the directive without its semicolon or block.
func (d *Directive) head(out *strings.Builder) {
	for _, w := range d.Words {
		out.WriteString(w.Before)
		out.WriteString(w.Raw)
	}
	out.WriteString(d.Tail)
}

// String is the directive as text, with what stands before its name.
func (d *Directive) String() string {
	return (&Block{Items: []*Directive{d}}).String()
}

// A Block is what stands between braces, or a whole file.
type Block struct {
	Items []*Directive
	Tail  string // white space and comments before "}" or the end of the file
	Lua   string // the text of a *_by_lua_block, which has no Items
}

// String is the block as text: the bytes that were parsed, with the edits since.
func (b *Block) String() string {
	var out strings.Builder
	b.print(&out)
	return out.String()
}

func (b *Block) print(out *strings.Builder) {
	out.WriteString(b.Lua)
	for _, d := range b.Items {
		d.head(out)
		if d.Block == nil {
			out.WriteByte(';')
			continue
		}
		out.WriteByte('{')
		d.Block.print(out)
		out.WriteByte('}')
	}
	out.WriteString(b.Tail)
}
