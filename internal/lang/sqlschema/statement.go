// Package sqlschema is the one reader of statements that define tables: CREATE TABLE, ALTER
// TABLE, CREATE INDEX and DROP INDEX, in the dialects of package sqltext. It reads texts only:
// what a server made of them is in the facts.
package sqlschema

import "github.com/iikanji/iikanji/internal/lang/sqltext"

// A Verb is the effect of a statement on a table's definition.
type Verb uint8

const (
	CreateTable Verb = iota // CREATE TABLE t …
	AlterTable              // ALTER TABLE t …
	CreateIndex             // CREATE INDEX i ON t …
	DropIndex               // DROP INDEX i ON t
)

// A Statement is a statement of a file that defines a table.
type Statement struct {
	sqltext.Statement
	Verb     Verb
	Schema   string // "" if the name is not qualified
	Table    string
	Index    string // of CreateIndex and DropIndex
	Unique   bool   // of CreateIndex
	From, To int    // offsets of the table's name in the file

	rest int // index of the token after the name
}

// Of finds the table whose definition a statement changes, and how.
func Of(s sqltext.Statement) (Statement, bool) {
	c, t := &sqltext.Cursor{Tokens: s.Tokens}, Statement{Statement: s}
	switch {
	case c.Take("create"):
		c.Take("or", "replace")
		if c.Take("table") {
			t.Verb = CreateTable
			c.Take("if", "not", "exists")
			break
		}
		t.Unique = c.Take("unique")
		c.Any("fulltext", "spatial")
		if !c.Take("index") {
			return t, false
		}
		t.Verb = CreateIndex
		c.Take("if", "not", "exists")
		t.Index, _ = c.Name()
		if c.Take("using") {
			c.Name()
		}
		if !c.Take("on") {
			return t, false
		}
	case c.Take("alter"):
		t.Verb = AlterTable
		c.Take("online")
		c.Take("ignore")
		if !c.Take("table") {
			return t, false
		}
		c.Take("if", "exists")
	case c.Take("drop", "index"):
		t.Verb = DropIndex
		c.Take("if", "exists")
		t.Index, _ = c.Name()
		if !c.Take("on") {
			return t, false
		}
	default:
		return t, false
	}
	return t, t.named(c)
}

// named reads the table's name.
func (t *Statement) named(c *sqltext.Cursor) (ok bool) {
	t.From = c.Peek().Start
	if t.Table, ok = c.Name(); !ok {
		return false
	}
	if c.Take(".") {
		t.Schema = t.Table
		if t.Table, ok = c.Name(); !ok {
			return false
		}
	}
	t.To, t.rest = c.Tokens[c.At-1].End, c.At
	return true
}

// An Item is an item of a list with commas: an element of a table, or an action
// of an ALTER.
type Item struct {
	Tokens     []sqltext.Token
	Start, End int
	Comma      int // the offset of the comma after it, or -1
}

// items cuts a list at its commas, except those inside brackets.
func items(tokens []sqltext.Token) []Item {
	var all []Item
	depth, from := 0, 0
	for i, t := range tokens {
		switch {
		case t.Spells("("):
			depth++
		case t.Spells(")"):
			depth--
		case t.Spells(",") && depth == 0:
			all = append(all, itemOf(tokens[from:i], t.Start))
			from = i + 1
		}
	}
	return append(all, itemOf(tokens[from:], -1))
}

func itemOf(tokens []sqltext.Token, comma int) Item {
	it := Item{Tokens: tokens, Comma: comma}
	if len(tokens) > 0 {
		it.Start, it.End = tokens[0].Start, tokens[len(tokens)-1].End
	}
	return it
}

// Elements returns the elements that CREATE TABLE lists; false if it makes the
// table in another way (LIKE, SELECT).
func (t Statement) Elements() ([]Item, bool) {
	c := &sqltext.Cursor{Tokens: t.Tokens, At: t.rest}
	if t.Verb != CreateTable || !c.Take("(") || c.Peek().Spells("like", "select", "with", "(") {
		return nil, false
	}
	c.At = t.rest
	inside, ok := c.Brackets()
	if !ok {
		return nil, false
	}
	all := items(inside)
	for _, it := range all {
		if len(it.Tokens) == 0 {
			return nil, false
		}
	}
	return all, true
}

// Actions returns the actions of an ALTER.
func (t Statement) Actions() []Item {
	if t.Verb != AlterTable || t.rest >= len(t.Tokens) {
		return nil
	}
	return items(t.Tokens[t.rest:])
}

// Options returns the tokens that do not describe columns and indexes.
func (t Statement) Options() []sqltext.Token {
	if all, ok := t.Elements(); ok {
		last := all[len(all)-1].End
		for i, x := range t.Tokens {
			if x.Start >= last && x.Spells(")") {
				return t.Tokens[i+1:]
			}
		}
	}
	return t.Tokens[t.rest:]
}
