package cacheplan

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"

	// The parser needs a driver for the values of literals.
	_ "github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// A Reason is why a statement's answer is not kept, or why a statement empties
// the cache.
type Reason struct {
	Text string
	Why  string
}

// Build makes the plan for an app's statements. Texts that occur twice count
// once. The reasons are those of the statements that are not kept or listed.
func Build(s *Schema, texts []string) (sqlcache.Plan, []Reason) {
	b := &builder{schema: s, keys: map[string]map[string]bool{}}
	for folded, text := range distinct(sqlcache.MySQL, texts) {
		b.read(text, folded)
	}
	return b.plan()
}

// distinct yields the folded form and the text of each statement, once for each form.
func distinct(d sqlcache.Dialect, texts []string) iter.Seq2[string, string] {
	return func(yield func(folded, text string) bool) {
		seen := map[string]bool{}
		for _, text := range texts {
			folded := sqlcache.Fold(d, text)
			if seen[folded] {
				continue
			}
			seen[folded] = true
			if !yield(folded, text) {
				return
			}
		}
	}
}

// plan makes the plan for the statements that were read.
func (b *builder) plan() (sqlcache.Plan, []Reason) {
	b.chooseKeys()
	plan := sqlcache.Plan{SelectsOnlyRead: !b.schema.Routines, Tables: b.tables()}
	if b.file {
		plan.Dialect = sqlcache.SQLite
	} else {
		plan.Targets = b.targets()
	}
	for _, p := range b.parsed {
		st, why := b.statement(p)
		if why != "" {
			b.reasons = append(b.reasons, Reason{p.text, why})
		}
		if st != nil {
			plan.Statements = append(plan.Statements, *st)
			if st.Keep {
				plan.Batches = append(plan.Batches, b.batches(p)...)
			}
		}
	}
	return plan, b.reasons
}

// targets are the tables of the schema without a trigger, theirs and that of no table that
// changes with them.
func (b *builder) targets() (out []sqlcache.Target) {
	for _, name := range slices.Sorted(maps.Keys(b.schema.Tables)) {
		t := sqlcache.Target{Table: name}
		triggered := false
		for _, w := range b.cascade([]sqlcache.Touch{{Table: name}}) {
			t.Changes = append(t.Changes, w.Table)
			triggered = triggered || b.schema.Triggers[w.Table]
		}
		if !triggered {
			out = append(out, t)
		}
	}
	return out
}

// A parsed statement with the argument positions of its placeholders.
type parsed struct {
	text   string
	folded string
	node   ast.StmtNode
	args   []int       // argument of each placeholder
	groups map[int]int // group of each argument
	access *access     // what a statement of SQLite reads and writes
	// reads are the tables of a SELECT that may be kept.
	reads []tableRead
	why   string // not to be kept
}

// A tableRead is one occurrence of a table in a SELECT.
type tableRead struct {
	table string
	keys  map[string]sqlcache.Key // conditions of equality that every row of the answer meets
}

type builder struct {
	schema  *Schema
	file    bool // the database is a file of SQLite
	parsed  []*parsed
	reasons []Reason
	keys    map[string]map[string]bool // key columns of the plan by table
}

func (b *builder) read(text, folded string) {
	node, err := parser.New().ParseOneStmt(text, "", "")
	if err != nil {
		b.reasons = append(b.reasons, Reason{text, "the statement does not parse"})
		return
	}
	p := &parsed{text: text, folded: folded, node: node, groups: groupsOf(sqlcache.MySQL, text)}
	number(node)
	if q, ok := node.(*ast.SelectStmt); ok {
		p.reads, p.why = b.selectReads(p, q)
	}
	b.parsed = append(b.parsed, p)
}

// groupsOf maps each argument to its placeholder in the folded text.
func groupsOf(d sqlcache.Dialect, text string) map[int]int {
	out := map[int]int{}
	for g, args := range sqlcache.Groups(d, text) {
		for _, a := range args {
			out[a] = g
		}
	}
	return out
}

// chooseKeys picks for each read the column that divides the table best: one
// that is unique, else the first in alphabetical order.
func (b *builder) chooseKeys() {
	for _, p := range b.parsed {
		for i := range p.reads {
			r := &p.reads[i]
			if name := b.bestKey(*r); name != "" {
				if b.keys[r.table] == nil {
					b.keys[r.table] = map[string]bool{}
				}
				b.keys[r.table][name] = true
			}
		}
	}
}

func (b *builder) bestKey(r tableRead) string {
	names := slices.Collect(maps.Keys(r.keys))
	unique := b.schema.Tables[r.table].Unique
	slices.SortFunc(names, func(x, y string) int {
		if unique[x] != unique[y] {
			if unique[x] {
				return -1
			}
			return 1
		}
		return cmp.Compare(x, y)
	})
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// tables are the tables that kept statements read.
func (b *builder) tables() []sqlcache.Table {
	read := map[string]bool{}
	for _, p := range b.parsed {
		for _, r := range p.reads {
			read[r.table] = true
		}
	}
	var out []sqlcache.Table
	for _, name := range slices.Sorted(maps.Keys(read)) {
		t := sqlcache.Table{Name: name}
		for _, c := range slices.Sorted(maps.Keys(b.keys[name])) {
			t.Columns = append(t.Columns, sqlcache.Column{Name: c, Kind: b.schema.Tables[name].Columns[c].Kind})
		}
		out = append(out, t)
	}
	return out
}

// statement gives the plan's entry; nil means that the statement stays out.
func (b *builder) statement(p *parsed) (*sqlcache.Statement, string) {
	if b.file {
		return b.fileStatement(p), ""
	}
	st := &sqlcache.Statement{Text: p.folded}
	switch n := p.node.(type) {
	case *ast.SelectStmt:
		if p.why != "" {
			return nil, p.why
		}
		st.Keep = true
		for _, r := range p.reads {
			t := sqlcache.Touch{Table: r.table}
			if name := b.bestKey(r); name != "" {
				t.Keys = []sqlcache.Key{r.keys[name]}
			}
			st.Reads = append(st.Reads, t)
		}
		return st, ""
	case *ast.SetOprStmt:
		return nil, "it is a UNION"
	case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		writes, why := b.writes(p, n)
		if why != "" {
			return nil, "it empties the cache: " + why
		}
		st.Writes = writes
		return st, ""
	}
	return nil, "it is no SELECT, INSERT, UPDATE or DELETE: it empties the cache"
}
