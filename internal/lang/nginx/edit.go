package nginx

import (
	"slices"
	"strings"
)

// IndentStep is the indentation of a new block's content relative to the
// block, where the file does not show one.
const IndentStep = "    "

// New makes a directive without a block. Arguments are values; those that nginx
// would read differently unquoted are quoted.
func New(name string, args ...string) *Directive {
	d := &Directive{Words: []Word{{Raw: Quote(name)}}}
	for _, a := range args {
		d.Words = append(d.Words, Word{" ", Quote(a)})
	}
	return d
}

// NewBlock makes a directive with an empty block, to be filled with Put.
func NewBlock(name string, args ...string) *Directive {
	d := New(name, args...)
	d.Tail, d.Block = " ", &Block{}
	return d
}

// Quote is a value as it must be written to be one word.
func Quote(value string) string {
	if value != "" && !strings.ContainsAny(value, " \t\r\n;{}\"'\\#") {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// SetArgs replaces a directive's arguments. Its place and the comments around
// it stay. It reports whether anything changed.
func (d *Directive) SetArgs(args ...string) bool {
	if slices.Equal(d.Args(), args) {
		return false
	}
	d.Words = append(d.Words[:1:1], New("", args...).Words[1:]...)
	return true
}

// Put appends directives to a new block that was not inserted yet.
func (d *Directive) Put(inner ...*Directive) *Directive {
	d.Block.Items = append(d.Block.Items, inner...)
	return d
}

// Add inserts inner at the end of d's block, on a line of its own. A directive
// that ends in ";" gets a block.
func (d *Directive) Add(inner *Directive) {
	if d.Block == nil {
		d.Block = &Block{}
	}
	d.Insert(len(d.Block.Items), inner)
}

// Insert inserts inner before the i-th directive of d's block, on a line of its
// own.
func (d *Directive) Insert(i int, inner *Directive) {
	outer := d.Indent()
	d.Block.insert(i, inner, outer, outer+IndentStep)
}

// Insert inserts d before the i-th directive of a file, on a line of its own.
func (b *Block) Insert(i int, d *Directive) { b.insert(i, d, "", "") }

// Indent is the white space before a directive on its line.
func (d *Directive) Indent() string {
	before := d.Words[0].Before
	return before[strings.LastIndexByte(before, '\n')+1:]
}

// indent is the white space before the directives of b; fallback if b has none
// on a line of its own.
func (b *Block) indent(fallback string) string {
	for _, d := range b.Items {
		if i := strings.LastIndexByte(d.Words[0].Before, '\n'); i >= 0 {
			return d.Words[0].Before[i+1:]
		}
	}
	return fallback
}

// insert inserts d before the i-th directive of b. outer is the indentation of
// the closing brace; inner that of the directives if b has none that shows it.
func (b *Block) insert(i int, d *Directive, outer, inner string) {
	inner = b.indent(inner)
	LayOut(d, inner)
	d.Words[0].Before = "\n" + inner
	next := &b.Tail // what stands after d
	if i < len(b.Items) {
		next = &b.Items[i].Words[0].Before
	}
	// A comment on the line of the directive before belongs to that directive;
	// comments on lines of their own belong to the directive after d.
	switch n := strings.IndexByte(*next, '\n'); {
	case i == 0 && n != 0 && outer == inner: // the top of a file
		d.Words[0].Before, *next = "", "\n"+*next
	case n >= 0:
		d.Words[0].Before, *next = (*next)[:n]+d.Words[0].Before, (*next)[n:]
	default:
		*next = strings.TrimRight(*next, " \t") + "\n" + outer
	}
	b.Items = slices.Insert(b.Items, i, d)
}

// LayOut puts each directive of a new block on a line of its own. indent is the
// indentation of the block itself.
func LayOut(d *Directive, indent string) {
	if d.Block == nil {
		return
	}
	for _, inner := range d.Block.Items {
		inner.Words[0].Before = "\n" + indent + IndentStep
		LayOut(inner, indent+IndentStep)
	}
	d.Block.Tail = "\n" + indent
}

// Clone copies a directive without its place and without comments.
func (d *Directive) Clone() *Directive {
	c := &Directive{}
	for i, w := range d.Words {
		before := " "
		if i == 0 {
			before = ""
		}
		c.Words = append(c.Words, Word{before, w.Raw})
	}
	if d.Block != nil {
		c.Tail, c.Block = " ", &Block{Lua: d.Block.Lua}
		for _, inner := range d.Block.Items {
			c.Block.Items = append(c.Block.Items, inner.Clone())
		}
	}
	return c
}
