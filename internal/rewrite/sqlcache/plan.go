package sqlcache

import (
	"fmt"
	"strings"
)

// A Dialect is what differs between databases: quoting, and what is known of a
// statement whose answer did not arrive.
type Dialect uint8

const (
	MySQL  Dialect = iota // MySQL and MariaDB
	SQLite                // in this process: a statement has ended when the driver returns
)

// A Kind is how values of a key column compare.
type Kind uint8

const (
	// Integer columns. Arguments are integers, or texts of decimal digits.
	Integer Kind = iota
	// Text columns whose collation is on the list of package cacheplan. Arguments are texts; those of
	// printable ASCII are told apart, without regard to case and to spaces at the
	// end: these collations take no more of them for equal.
	Text
)

// A Plan is what is known of a schema and of an app's statements.
type Plan struct {
	Dialect    Dialect
	Tables     []Table
	Statements []Statement
	// Batches are the children of loops: see Batch.
	Batches []Batch
	// Targets are the tables of the schema, for writes that the plan does not list.
	Targets []Target
	// SelectsOnlyRead: no stored function writes, so that a SELECT that the plan
	// does not list changes nothing.
	SelectsOnlyRead bool
	// Isolation allows reads from the cache in a transaction before its first
	// write. They then see what is committed, and not the transaction's snapshot.
	Isolation bool
}

// A Table is a table that kept statements read, with the columns by which they
// select rows.
type Table struct {
	Name    string
	Columns []Column
}

// A Column is a key column of a table.
type Column struct {
	Name string
	Kind Kind
}

// A Statement is a text of the app, as Fold prints it.
type Statement struct {
	Text string
	// Keep: the answer depends on nothing but the tables of Reads and the
	// arguments, so that it may be kept.
	Keep   bool
	Reads  []Touch
	Writes []Touch
}

// A Touch is a table that a statement reads or writes. Every row that a read
// gives, and every row that a write changes, before and after the change, has in
// each of Keys' columns one of the key's values. A read without keys reads the
// whole table.
type Touch struct {
	Table string
	Keys  []Key
}

// A Key is the values of a column in a statement: the arguments of placeholders,
// counted in the folded text, and literals.
type Key struct {
	Column   string
	Groups   []int
	Literals []interface{} // int64 or string
}

// compiled is a plan by numbers.
type compiled struct {
	plan   Plan
	tables map[string]int
	byText map[string]*Statement
	// batches are those of each child, by its text without white space around it.
	batches map[string][]*batch
	targets map[string][]string // see Target
}

// compile checks a plan. Its errors name the table, column or statement.
func compile(p Plan) (*compiled, error) {
	c := &compiled{plan: p, tables: map[string]int{}, byText: map[string]*Statement{}, batches: map[string][]*batch{}, targets: map[string][]string{}}
	for _, t := range p.Targets {
		c.targets[strings.ToLower(t.Table)] = t.Changes
	}
	for i, t := range p.Tables {
		name := strings.ToLower(t.Name)
		if _, twice := c.tables[name]; twice {
			return nil, fmt.Errorf("sqlcache: table %s is in the plan twice", t.Name)
		}
		c.tables[name] = i
	}
	for i := range p.Statements {
		s := &p.Statements[i]
		if err := c.check(s); err != nil {
			return nil, fmt.Errorf("sqlcache: statement %q: %w", s.Text, err)
		}
		c.byText[s.Text] = s
	}
	for _, b := range p.Batches {
		if err := c.addBatch(b); err != nil {
			return nil, fmt.Errorf("sqlcache: batch of %q: %w", b.Child, err)
		}
	}
	return c, nil
}

func (c *compiled) addBatch(b Batch) error {
	child := fold(c.plan.Dialect, b.Child)
	if s := c.byText[child.text]; s == nil || !s.Keep {
		return fmt.Errorf("its answer cannot be kept")
	}
	if b.Key < 0 || b.Key >= child.args || b.Kind > Text {
		return fmt.Errorf("it has no argument %d", b.Key)
	}
	state := &batch{Batch: b}
	for _, parent := range b.Parents {
		state.links.list = append(state.links.list, &link{parent: parent.Text, column: parent.Column})
	}
	text := strings.TrimSpace(b.Child)
	c.batches[text] = append(c.batches[text], state)
	return nil
}

func (c *compiled) check(s *Statement) error {
	if s.Keep && len(s.Writes) > 0 {
		return fmt.Errorf("it writes, so its answer cannot be kept")
	}
	if s.Keep && len(s.Reads) == 0 {
		return fmt.Errorf("it reads no table of the plan, so its answer cannot be kept")
	}
	for _, r := range s.Reads {
		if _, ok := c.tables[strings.ToLower(r.Table)]; !ok && s.Keep {
			return fmt.Errorf("it reads %s, which is not in the plan", r.Table)
		}
	}
	for _, t := range append(append([]Touch{}, s.Reads...), s.Writes...) {
		for _, k := range t.Keys {
			if _, _, ok := c.column(t.Table, k.Column); !ok && s.Keep {
				return fmt.Errorf("%s.%s is not a key column of the plan", t.Table, k.Column)
			}
		}
	}
	return nil
}

// column finds a key column of a table.
func (c *compiled) column(table, column string) (int, Column, bool) {
	t, ok := c.tables[strings.ToLower(table)]
	if !ok {
		return 0, Column{}, false
	}
	for i, col := range c.plan.Tables[t].Columns {
		if strings.EqualFold(col.Name, column) {
			return i, col, true
		}
	}
	return 0, Column{}, false
}
