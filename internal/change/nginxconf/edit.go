package nginxconf

import (
	"slices"
	"strings"
)

// newDirective makes a directive of plain words; those that nginx would read
// otherwise are quoted.
func newDirective(name string, args ...string) *directive {
	d := &directive{words: []word{{raw: quoted(name)}}}
	for _, a := range args {
		d.words = append(d.words, word{" ", quoted(a)})
	}
	return d
}

// newBlock makes an empty block directive, to be filled with add.
func newBlock(name string, args ...string) *directive {
	d := newDirective(name, args...)
	d.tail, d.body = " ", &block{}
	return d
}

// quoted is an argument as it must be written.
func quoted(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\r\n;{}\"'\\#") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// setArgs replaces a directive's arguments and keeps its place and comments.
// It says whether anything changed.
func (d *directive) setArgs(args ...string) bool {
	if slices.Equal(d.args(), args) {
		return false
	}
	d.words = append(d.words[:1:1], newDirective("", args...).words[1:]...)
	return true
}

// indent is the white space that directives in b stand behind.
func (b *block) indent(fallback string) string {
	for _, d := range b.items {
		if i := strings.LastIndexByte(d.words[0].pre, '\n'); i >= 0 {
			return d.words[0].pre[i+1:]
		}
	}
	return fallback
}

// indentStep is how much deeper a block stands in files that iikanji edits
// where the file itself does not show it.
const indentStep = "    "

// insert puts d before the i-th directive of b, on a line of its own. outer is
// the indentation of the closing brace; inner that of directives, where b has
// none that shows it.
func (b *block) insert(i int, d *directive, outer, inner string) {
	inner = b.indent(inner)
	layOut(d, inner)
	d.words[0].pre = "\n" + inner
	next := &b.end // what stands behind d
	if i < len(b.items) {
		next = &b.items[i].words[0].pre
	}
	// What follows on the line of the directive before, a comment, belongs to
	// it; what stands on lines of its own belongs to what comes behind d.
	switch n := strings.IndexByte(*next, '\n'); {
	case i == 0 && n != 0 && outer == inner: // the top of a file
		d.words[0].pre, *next = "", "\n"+*next
	case n >= 0:
		d.words[0].pre, *next = (*next)[:n]+d.words[0].pre, (*next)[n:]
	default:
		*next = strings.TrimRight(*next, " \t") + "\n" + outer
	}
	b.items = slices.Insert(b.items, i, d)
}

// add puts d at the end of a block directive.
func (p *directive) add(d *directive) {
	outer := lineIndent(p)
	p.body.insert(len(p.body.items), d, outer, outer+indentStep)
}

// lineIndent is the white space before a directive on its line.
func lineIndent(d *directive) string {
	pre := d.words[0].pre
	return pre[strings.LastIndexByte(pre, '\n')+1:]
}

// layOut gives the lines inside a new block their indentation.
func layOut(d *directive, indent string) {
	if d.body == nil {
		return
	}
	for _, inner := range d.body.items {
		inner.words[0].pre = "\n" + indent + indentStep
		layOut(inner, indent+indentStep)
	}
	d.body.end = "\n" + indent
}

// clone copies a directive without comments before its words.
func (d *directive) clone() *directive {
	c := newDirective(d.name())
	c.words[0].raw = d.words[0].raw
	for _, w := range d.words[1:] {
		c.words = append(c.words, word{" ", w.raw})
	}
	if d.body != nil {
		c.tail, c.body = " ", &block{lua: d.body.lua}
		for _, inner := range d.body.items {
			c.body.items = append(c.body.items, inner.clone())
		}
	}
	return c
}

// put appends directives to a new block that was not inserted yet.
func (d *directive) put(inner ...*directive) *directive {
	d.body.items = append(d.body.items, inner...)
	return d
}
