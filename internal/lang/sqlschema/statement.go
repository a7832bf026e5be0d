package ddl

import "strings"

// A verb is the effect of a statement on a table's definition.
type verb uint8

const (
	noVerb      verb = iota
	createTable      // CREATE TABLE t …
	alterTable       // ALTER TABLE t …
	createIndex      // CREATE INDEX i ON t …
	dropIndexOn      // DROP INDEX i ON t
)

// A tableStatement is a statement of a file that defines a table.
type tableStatement struct {
	statement
	verb   verb
	schema string // "" if the name is not qualified
	table  string
	index  string // of createIndex and dropIndexOn
	from   int    // offsets of the table's name in the file
	to     int
	rest   int // index of the token after the name
}

// A cursor reads a statement's tokens without the marks.
type cursor struct {
	tokens []token
	i      int
}

func (c *cursor) peek() token {
	for c.i < len(c.tokens) && c.tokens[c.i].kind == mark {
		c.i++
	}
	if c.i == len(c.tokens) {
		return token{kind: mark}
	}
	return c.tokens[c.i]
}

// take moves past a sequence of words if all of them follow.
func (c *cursor) take(words ...string) bool {
	was := c.i
	for _, w := range words {
		if !c.peek().is(w) {
			c.i = was
			return false
		}
		c.i++
	}
	return true
}

// any moves past one of these words if it follows.
func (c *cursor) any(words ...string) bool {
	if !c.peek().is(words...) {
		return false
	}
	c.i++
	return true
}

func (c *cursor) name() (string, bool) {
	n, ok := c.peek().name()
	if ok {
		c.i++
	}
	return n, ok
}

// defines finds the table whose definition a statement changes, and how.
func defines(s statement) (tableStatement, bool) {
	c, t := &cursor{tokens: s.tokens}, tableStatement{statement: s}
	switch {
	case c.take("create"):
		c.take("or", "replace")
		if c.take("table") {
			t.verb = createTable
			c.take("if", "not", "exists")
			break
		}
		c.any("unique", "fulltext", "spatial")
		if !c.take("index") {
			return t, false
		}
		t.verb = createIndex
		c.take("if", "not", "exists")
		t.index, _ = c.name()
		if c.take("using") {
			c.name()
		}
		if !c.take("on") {
			return t, false
		}
	case c.take("alter"):
		t.verb = alterTable
		c.take("online")
		c.take("ignore")
		if !c.take("table") {
			return t, false
		}
		c.take("if", "exists")
	case c.take("drop", "index"):
		t.verb = dropIndexOn
		c.take("if", "exists")
		t.index, _ = c.name()
		if !c.take("on") {
			return t, false
		}
	default:
		return t, false
	}
	return t, t.named(c)
}

// named reads the table's name.
func (t *tableStatement) named(c *cursor) (ok bool) {
	t.from = c.peek().start
	if t.table, ok = c.name(); !ok {
		return false
	}
	if c.take(".") {
		t.schema = t.table
		if t.table, ok = c.name(); !ok {
			return false
		}
	}
	t.to, t.rest = c.tokens[c.i-1].end, c.i
	return true
}

// An item is an item of a list with commas: an element of a table, or an action
// of an ALTER.
type item struct {
	tokens []token
	start  int
	end    int
	comma  int // the offset of the comma after it, or -1
}

// items cuts a list at its commas, except those inside brackets.
func items(tokens []token) []item {
	var all []item
	depth, from := 0, 0
	for i, t := range tokens {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 0:
			all = append(all, newItem(tokens[from:i], t.start))
			from = i + 1
		}
	}
	return append(all, newItem(tokens[from:], -1))
}

func newItem(tokens []token, comma int) item {
	it := item{tokens: tokens, comma: comma}
	if len(tokens) > 0 {
		it.start, it.end = tokens[0].start, tokens[len(tokens)-1].end
	}
	return it
}

// elements returns the elements that CREATE TABLE lists; false if it makes the
// table in another way (LIKE, SELECT).
func (t tableStatement) elements() ([]item, bool) {
	c := &cursor{tokens: t.tokens, i: t.rest}
	if t.verb != createTable || !c.take("(") || c.peek().is("like", "select", "with", "(") {
		return nil, false
	}
	all := inBrackets(t.tokens[t.rest:])
	for _, it := range all {
		if len(it.tokens) == 0 {
			return nil, false
		}
	}
	return all, len(all) > 0
}

// inBrackets returns the items between the first bracket, which must be the
// first token except for marks, and its end; none if it does not end.
func inBrackets(tokens []token) []item {
	depth, from := 0, 0
	for i, t := range tokens {
		switch {
		case t.is("("):
			if depth++; depth == 1 {
				from = i + 1
			}
		case t.is(")"):
			depth--
		}
		if depth == 0 && from > 0 {
			return items(tokens[from:i])
		}
	}
	return nil
}

// actions returns the actions of an ALTER.
func (t tableStatement) actions() []item {
	if t.verb != alterTable || t.rest >= len(t.tokens) {
		return nil
	}
	return items(t.tokens[t.rest:])
}

// options returns the tokens that do not describe columns and indexes.
func (t tableStatement) options() []token {
	if all, ok := t.elements(); ok {
		last := all[len(all)-1].end
		for i, x := range t.tokens {
			if x.start >= last && x.is(")") {
				return t.tokens[i+1:]
			}
		}
	}
	return t.tokens[t.rest:]
}

// indexOf parses an element as an index and returns its name. For an index
// without a name it returns the first column: the server names the index after
// it, with a number if the name is taken.
func indexOf(c *cursor) (name string, named, ok bool) {
	if c.take("constraint") && !c.peek().is("unique") {
		name, named = c.name()
	}
	switch {
	case c.any("unique", "fulltext", "spatial"):
		c.any("index", "key")
	case !c.any("index", "key"):
		return "", false, false
	}
	c.take("if", "not", "exists")
	if !c.peek().is("(", "using") {
		name, named = c.name()
	}
	if c.take("using") {
		c.name()
	}
	if !c.take("(") {
		return "", false, false
	}
	first, ok := c.name()
	if !named {
		name = first
	}
	return name, named, ok
}

// makes returns how surely an element makes the index of a name: 2 by its name,
// 1 by its first column, 0 not at all.
func makes(c *cursor, index string) int {
	name, named, ok := indexOf(c)
	switch {
	case !ok:
		return 0
	case named && strings.EqualFold(name, index):
		return 2
	case !named && len(index) >= len(name) && strings.EqualFold(index[:len(name)], name) && strings.Trim(index[len(name):], "_0123456789") == "":
		return 1
	}
	return 0
}
