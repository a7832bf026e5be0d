package sqlschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A Definition is what a statement says of one table.
type Definition struct {
	Statement
	Columns []Column
	Keys    []Key // with those that columns declare
	// Other are the actions of an ALTER that add no key, and a DROP INDEX.
	Other []Item
}

// Read reads the columns and keys of a statement. An element that is not understood is an
// error: it could be a key.
func (t Statement) Read() (Definition, error) {
	d := Definition{Statement: t}
	var err error
	switch t.Verb {
	case CreateTable:
		err = d.create()
	case AlterTable:
		err = d.alter()
	case CreateIndex:
		err = d.index()
	default:
		d.Other = []Item{itemOf(t.Tokens, -1)}
	}
	if err != nil {
		return Definition{}, fmt.Errorf("reading the definition of %s: %w", t.Table, err)
	}
	return d, nil
}

func (d *Definition) create() error {
	elements, ok := d.Elements()
	if !ok {
		return fmt.Errorf("it lists no columns")
	}
	for _, it := range elements {
		if k, ok := KeyOf(it.Tokens); ok {
			d.Keys = append(d.Keys, k)
			continue
		}
		if isRule(it.Tokens) {
			continue
		}
		col, keys, err := columnOf(it.Tokens)
		if err != nil {
			return err
		}
		d.Columns, d.Keys = append(d.Columns, col), append(d.Keys, keys...)
	}
	d.inherit()
	for _, k := range d.Keys {
		for i, col := range d.Columns {
			if k.Sort == Primary && slices.ContainsFunc(k.Parts, func(p Part) bool { return strings.EqualFold(p.Column, col.Name) }) {
				d.Columns[i].NotNull = true
			}
		}
	}
	return nil
}

// inherit gives the columns the table's character set and collation where they have none:
// a column with a character set of its own has that one's default collation.
func (d *Definition) inherit() {
	charset, collation, inside := "", "", false
	for i, t := range d.Tokens {
		if inside = inside || t.Depth > 0; !inside || t.Depth > 0 {
			continue
		}
		c := &sqltext.Cursor{Tokens: d.Tokens, At: i}
		to := &charset
		if !c.Take("charset") && !c.Take("character", "set") {
			if !c.Take("collate") {
				continue
			}
			to = &collation
		}
		if c.Peek().Text == "=" {
			c.At++
		}
		*to = lowerName(c)
	}
	for i, col := range d.Columns {
		if col.Charset == "" && col.Collation == "" {
			d.Columns[i].Charset, d.Columns[i].Collation = charset, collation
		}
	}
}

// isRule reports whether an element is a rule of the rows, or a period: no column and no key.
func isRule(tokens []sqltext.Token) bool {
	c := &sqltext.Cursor{Tokens: tokens}
	if c.Take("constraint") && !c.Peek().Spells("check") {
		c.Name()
	}
	return c.Take("check") || c.Take("period", "for") || c.Take("exclude")
}

func (d *Definition) alter() error {
	for _, it := range d.Actions() {
		c := &sqltext.Cursor{Tokens: it.Tokens}
		if !c.Take("add") {
			d.Other = append(d.Other, it)
			continue
		}
		if k, ok := KeyOf(it.Tokens[c.At:]); ok {
			d.Keys = append(d.Keys, k)
			continue
		}
		d.Other = append(d.Other, it)
	}
	return nil
}

func (d *Definition) index() error {
	k := Key{Name: d.Index}
	if d.Unique {
		k.Sort = Unique
	}
	if !k.rest(&sqltext.Cursor{Tokens: d.Tokens, At: d.rest}) {
		return fmt.Errorf("the columns of index %s are not read", d.Index)
	}
	d.Keys = []Key{k}
	return nil
}
