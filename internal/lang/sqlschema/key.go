package sqlschema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A Sort is a sort of key.
type Sort uint8

const (
	Plain Sort = iota
	Primary
	Unique
	Fulltext
	Spatial
	Foreign
)

// A Key is a key or an index of a table.
type Key struct {
	Sort    Sort
	Name    string // "" for one without a name
	Parts   []Part
	Partial bool       // it has only the rows that meet a condition
	Refers  *Reference // of a foreign key
}

// A Part is a column of a key.
type Part struct {
	Column string // "" for an expression
	Prefix int    // length; 0 for the whole column
	Desc   bool
}

// A Reference is what a foreign key refers to. The actions are in upper case, as in SET
// NULL; "" for none.
type Reference struct {
	Table              string
	Columns            []string
	OnDelete, OnUpdate string
}

// Columns returns the columns of a key that makes them unique together, in lower case; nil
// for other keys: a part may be a prefix or an expression, and rows may be without entry.
func (k Key) Columns() (names []string) {
	if k.Sort != Primary && k.Sort != Unique || k.Partial {
		return nil
	}
	for _, p := range k.Parts {
		if p.Column == "" || p.Prefix > 0 {
			return nil
		}
		names = append(names, strings.ToLower(p.Column))
	}
	return names
}

// KeyOf reads an element of a table, or the rest of an ALTER … ADD, as a key.
func KeyOf(tokens []sqltext.Token) (Key, bool) {
	c := &sqltext.Cursor{Tokens: tokens}
	k, constraint := Key{}, c.Take("constraint")
	if constraint && !c.Peek().Spells("primary", "unique", "foreign", "check") {
		k.Name, _ = c.Name()
	}
	switch {
	case c.Take("primary", "key"):
		k.Sort = Primary
	case c.Take("foreign", "key"):
		k.Sort = Foreign
	case c.Any("unique"):
		k.Sort = Unique
		c.Any("index", "key")
	case constraint:
		return k, false
	case c.Any("fulltext"):
		k.Sort = Fulltext
		c.Any("index", "key")
	case c.Any("spatial"):
		k.Sort = Spatial
		c.Any("index", "key")
	case !c.Any("index", "key"):
		return k, false
	}
	c.Take("if", "not", "exists")
	if !c.Peek().Spells("(", "using") {
		name, ok := c.Name()
		if !ok {
			return k, false
		}
		k.Name = name
	}
	return k, k.rest(c)
}

// rest reads a key from the list of its parts on.
func (k *Key) rest(c *sqltext.Cursor) bool {
	if c.Take("using") {
		c.Name()
	}
	inside, ok := c.Brackets()
	if !ok || len(inside) == 0 {
		return false
	}
	for _, it := range items(inside) {
		p, ok := partOf(it.Tokens)
		if !ok {
			return false
		}
		k.Parts = append(k.Parts, p)
	}
	if k.Sort == Foreign {
		k.Refers = referenceOf(c)
		return k.Refers != nil
	}
	k.Partial = slices.ContainsFunc(c.Tokens[c.At:], func(t sqltext.Token) bool { return t.Is("WHERE") })
	return true
}

// partOf reads a part of a key; ok is false for a number, as in the type char(10).
func partOf(tokens []sqltext.Token) (p Part, ok bool) {
	c := &sqltext.Cursor{Tokens: tokens}
	if c.Ended() || c.Peek().Kind == sqltext.Number {
		return p, false
	}
	name, _ := c.Name()
	if inside, ok := c.Brackets(); ok {
		if len(inside) != 1 || inside[0].Kind != sqltext.Number {
			return Part{}, true // a call
		}
		p.Prefix, _ = strconv.Atoi(inside[0].Text)
	}
	if c.Take("collate") {
		c.Name()
	}
	p.Desc = c.Take("desc")
	c.Take("asc")
	if !c.Ended() {
		return Part{}, true
	}
	p.Column = name
	return p, true
}

// referenceOf reads REFERENCES and its actions.
func referenceOf(c *sqltext.Cursor) *Reference {
	if !c.Take("references") {
		return nil
	}
	r := &Reference{}
	name, ok := c.Name()
	for ok && c.Take(".") {
		name, ok = c.Name()
	}
	if !ok {
		return nil
	}
	r.Table = name
	if inside, ok := c.Brackets(); ok {
		for _, it := range items(inside) {
			name, _ := (&sqltext.Cursor{Tokens: it.Tokens}).Name()
			r.Columns = append(r.Columns, name)
		}
	}
	for {
		switch {
		case c.Take("match"):
			c.Name()
		case c.Take("on", "delete"):
			r.OnDelete = action(c)
		case c.Take("on", "update"):
			r.OnUpdate = action(c)
		default:
			return r
		}
	}
}

func action(c *sqltext.Cursor) string {
	for _, words := range []string{"set null", "set default", "no action", "cascade", "restrict"} {
		if c.Take(strings.Fields(words)...) {
			return strings.ToUpper(words)
		}
	}
	return ""
}

// Makes returns how surely an element makes the index of a name: 2 by its name, 1 by its
// first column (the server names an index without a name after it, with a number if the
// name is taken), 0 not at all. skip is the number of tokens before the element itself.
func (it Item) Makes(index string, skip int) int {
	k, ok := KeyOf(it.Tokens[min(skip, len(it.Tokens)):])
	if !ok || k.Sort == Primary || k.Sort == Foreign {
		return 0
	}
	first := k.Parts[0].Column
	switch {
	case k.Name != "" && strings.EqualFold(k.Name, index):
		return 2
	case k.Name == "" && first != "" && len(index) >= len(first) && strings.EqualFold(index[:len(first)], first) && strings.Trim(index[len(first):], "_0123456789") == "":
		return 1
	}
	return 0
}
