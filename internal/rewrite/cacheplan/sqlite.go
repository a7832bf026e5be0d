package cacheplan

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	// The plan asks SQLite what each statement reads and writes.
	_ "modernc.org/sqlite"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
)

// explainLimit bounds the time that the definitions and the statements of an app take in
// an empty database.
const explainLimit = 30 * time.Second

// BuildSQLite makes the plan for an app with files of SQLite: from the text of its SQL
// files, and from its statements. Which tables a statement reads and writes is what
// SQLite itself answers in an empty database with these tables; rows are told apart
// where the statement is in the part of the language that MySQL has, too.
func BuildSQLite(ctx context.Context, definitions string, texts []string) (sqlcache.Plan, []Reason, error) {
	ctx, cancel := context.WithTimeout(ctx, explainLimit)
	defer cancel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return sqlcache.Plan{}, nil, fmt.Errorf("opening a database in memory: %w", err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return sqlcache.Plan{}, nil, fmt.Errorf("opening a database in memory: %w", err)
	}
	defer conn.Close()
	file := &tableFile{conn: conn}
	schema, err := file.readSchema(ctx, fileDefinitions(definitions))
	if err != nil {
		return sqlcache.Plan{}, nil, err
	}
	b := &builder{schema: schema, file: true, keys: map[string]map[string]bool{}}
	for folded, text := range distinct(sqlcache.SQLite, texts) {
		if err := b.readFile(ctx, file, text, folded); err != nil {
			return sqlcache.Plan{}, nil, err
		}
	}
	plan, reasons := b.plan()
	return plan, reasons, nil
}

// readFile notes a statement, if a plan may have it.
func (b *builder) readFile(ctx context.Context, file *tableFile, text, folded string) error {
	leave := func(why string) error {
		b.reasons = append(b.reasons, Reason{text, why})
		return nil
	}
	marked, args, ok := sqlcache.Markers(sqlcache.SQLite, text)
	if !ok {
		return leave("it has a comment, several statements, or placeholders out of order")
	}
	words := statementTokens(text)
	if len(words) == 0 || !words[0].Is("SELECT", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE") {
		return leave("it is no SELECT, INSERT, UPDATE or DELETE: it empties the cache")
	}
	most := 0
	for _, a := range args {
		most = max(most, a+1)
	}
	a, err := file.explain(ctx, text, most)
	if err != nil {
		return fmt.Errorf("asking SQLite about a statement: %w", err)
	}
	switch {
	case a.refused != "":
		return leave(a.refused)
	case len(a.writes) > 0:
	case a.impure != "":
		return leave(a.impure + "() may give another result each time")
	case len(a.reads) == 0:
		return leave("it reads no table")
	case slices.Contains(a.reads, sequences):
		return leave("it reads a table of SQLite")
	}
	p := &parsed{text: text, folded: folded, args: args, groups: groupsOf(sqlcache.SQLite, text), access: a}
	p.node = parseCommon(marked)
	if len(a.writes) == 0 {
		p.reads = b.fileReads(p)
	}
	b.parsed = append(b.parsed, p)
	return nil
}

// parseCommon parses a statement that SQLite and MySQL understand alike; nil for others.
func parseCommon(text string) ast.StmtNode {
	text, ok := common(text)
	if !ok {
		return nil
	}
	p := parser.New()
	p.SetSQLMode(mysql.ModeANSIQuotes | mysql.ModePipesAsConcat | mysql.ModeNoBackslashEscapes)
	node, err := p.ParseOneStmt(text, "", "")
	if err != nil {
		return nil
	}
	number(node)
	return node
}

// fileReads are the tables that a SELECT reads, whole where its conditions are not
// understood.
func (b *builder) fileReads(p *parsed) []tableRead {
	if q, ok := p.node.(*ast.SelectStmt); ok {
		reads, why := b.selectReads(p, q)
		all := why == ""
		for _, t := range p.access.reads {
			all = all && slices.ContainsFunc(reads, func(r tableRead) bool { return r.table == t })
		}
		if all {
			return reads
		}
	}
	var reads []tableRead
	for _, t := range p.access.reads {
		reads = append(reads, tableRead{table: t})
	}
	return reads
}

// fileStatement gives the plan's entry.
func (b *builder) fileStatement(p *parsed) *sqlcache.Statement {
	st := &sqlcache.Statement{Text: p.folded}
	if len(p.access.writes) == 0 {
		st.Keep = true
		for _, r := range p.reads {
			t := sqlcache.Touch{Table: r.table}
			if name := b.bestKey(r); name != "" {
				t.Keys = []sqlcache.Key{r.keys[name]}
			}
			st.Reads = append(st.Reads, t)
		}
		return st
	}
	own, ok := b.confinedWrite(p)
	for _, t := range p.access.writes {
		if t == sequences {
			continue // no kept statement reads it
		}
		if ok && own.Table == t {
			st.Writes = append(st.Writes, own)
			continue
		}
		st.Writes = append(st.Writes, sqlcache.Touch{Table: t})
	}
	return st
}

// confinedWrite is the table that a statement names, with the keys of the rows that it
// writes. ok is false if they are not known.
func (b *builder) confinedWrite(p *parsed) (_ sqlcache.Touch, ok bool) {
	v := &visitor{builder: b}
	if p.node != nil {
		p.node.Accept(v)
	}
	var touches []sqlcache.Touch
	why := v.why
	switch n := p.node.(type) {
	case *ast.InsertStmt:
		touches, why = b.insert(p, n)
	case *ast.UpdateStmt:
		if slices.ContainsFunc(n.List, func(a *ast.Assignment) bool { return rowid(a.Column.Name.L) }) {
			return sqlcache.Touch{}, false // another name of a key column
		}
		touches, why = b.update(p, n, v.tables)
	case *ast.DeleteStmt:
		touches, why = b.delete(p, n, v.tables)
	}
	if why != "" || v.why != "" || len(touches) != 1 || b.schema.Triggers[touches[0].Table] {
		return sqlcache.Touch{}, false
	}
	return touches[0], true
}

// sequences is the table in which SQLite counts for AUTOINCREMENT.
const sequences = "sqlite_sequence"

// rowid reports whether a name stands for the number of a row.
func rowid(name string) bool { return name == "rowid" || name == "_rowid_" || name == "oid" }
