package cacheplan

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// An access is what a statement of SQLite reads and writes, as the program that SQLite
// makes of it shows: also by views, triggers and foreign keys.
type access struct {
	reads, writes []string // tables in lower case
	impure        string   // a function that may give another result each time
	refused       string   // why no plan may have the statement
}

// pureInFile are functions of SQLite whose result depends on their arguments only. Those
// of dates are missing: they take 'now'.
var pureInFile = []string{
	"abs", "ceil", "ceiling", "char", "coalesce", "concat", "concat_ws", "floor", "format", "glob", "hex", "ifnull", "iif", "instr", "length", "like",
	"lower", "ltrim", "max", "min", "mod", "nullif", "octet_length", "pow", "power", "printf", "quote", "replace", "round", "rtrim", "sign", "sqrt",
	"substr", "substring", "trim", "trunc", "typeof", "unhex", "unicode", "upper",
	"avg", "count", "group_concat", "string_agg", "sum", "total",
	"row_number", "rank", "dense_rank", "ntile", "lag", "lead", "first_value", "last_value", "nth_value",
	"json", "json_array", "json_array_length", "json_extract", "json_object", "json_type", "json_valid", "json_group_array", "json_group_object", "->", "->>",
}

// A tableFile is an empty database with the app's schema.
type tableFile struct {
	conn  *sql.Conn
	roots map[int64]string // table of each root page, also of its indexes
}

// explain asks SQLite for the program of a statement. Its error is that of the context.
func (f *tableFile) explain(ctx context.Context, text string, args int) (*access, error) {
	values := make([]any, args)
	rows, err := f.conn.QueryContext(ctx, "EXPLAIN "+text, values...)
	if err != nil {
		return &access{refused: "SQLite refuses it: " + err.Error()}, ctx.Err()
	}
	defer rows.Close()
	a := &access{}
	for rows.Next() {
		var op operation
		var at, p5 int64
		var comment any
		if err := rows.Scan(&at, &op.name, &op.p1, &op.p2, &op.p3, &op.p4, &p5, &comment); err != nil {
			return nil, fmt.Errorf("reading the program of a statement: %w", err)
		}
		f.step(a, op)
	}
	return a, rows.Err()
}

// An operation is one step of a program of SQLite.
type operation struct {
	name       string
	p1, p2, p3 int64
	p4         sql.NullString
}

// harmlessOpens are operations that open what no other statement reaches.
var harmlessOpens = []string{"OpenEphemeral", "OpenAutoindex", "OpenPseudo", "OpenDup", "SorterOpen"}

func (f *tableFile) step(a *access, op operation) {
	switch {
	case op.name == "OpenRead" || op.name == "ReopenIdx":
		f.touch(a, &a.reads, op.p2, op.p3)
	case op.name == "OpenWrite":
		f.touch(a, &a.writes, op.p2, op.p3)
	case op.name == "Clear":
		f.touch(a, &a.writes, op.p1, op.p2)
	case slices.Contains(harmlessOpens, op.name):
	case strings.Contains(op.name, "Open") || op.name == "Destroy" || op.name == "ParseSchema" || op.name == "SqlExec" || op.name == "CreateBtree" ||
		op.name == "SetCookie" || op.name == "VUpdate" || op.name == "Vacuum" || op.name == "JournalMode" || op.name == "AutoCommit" || op.name == "Savepoint":
		a.refused = "it does more than to read and write rows of tables"
	case op.name == "Function" || op.name == "PureFunc" || strings.HasPrefix(op.name, "Agg"):
		name, _, _ := strings.Cut(op.p4.String, "(")
		if !slices.Contains(pureInFile, strings.ToLower(name)) {
			a.impure = name
		}
	}
}

// touch notes the table of a root page. The number of the main database is 0.
func (f *tableFile) touch(a *access, list *[]string, root, database int64) {
	table := f.roots[root]
	if database != 0 || table == "" {
		a.refused = "it reaches a table that is not of the schema"
		return
	}
	if !slices.Contains(*list, table) {
		*list = append(*list, table)
	}
}
