package rewrite

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A rowInsert is an INSERT or REPLACE of one row.
type rowInsert struct {
	table      string // in lower case
	columns    []string
	tuple      string // "(?, ?)" as written
	start, end int    // of the tuple
	params     int    // placeholders in the tuple
	numbers    []int  // the argument of each of them, from 0; nil for question marks
	tail       bool   // more than a comment or a space follows the tuple
}

// A forbidden finds parts of an INSERT whose value depends on the statement before.
type forbidden struct{ found bool }

func (f *forbidden) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.FuncCallExpr:
		f.found = f.found || slices.Contains([]string{"last_insert_id", "row_count", "found_rows", "sleep", "get_lock"}, n.FnName.L)
	case *ast.SubqueryExpr, *ast.VariableExpr:
		f.found = true
	}
	return n, f.found
}

func (f *forbidden) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// insertOf reads an INSERT of one row with placeholders in its tuple only.
func insertOf(sql string) (rowInsert, bool) {
	s, err := parseInsert(sql)
	if err != nil {
		return rowInsert{}, false
	}
	n, ok := s.node.(*ast.InsertStmt)
	if !ok || len(n.Lists) != 1 || n.Select != nil || n.Setlist || n.Table == nil {
		return rowInsert{}, false
	}
	f := &forbidden{}
	n.Accept(f)
	if f.found {
		return rowInsert{}, false
	}
	out := rowInsert{}
	if src, ok := n.Table.TableRefs.Left.(*ast.TableSource); ok {
		if name, ok := src.Source.(*ast.TableName); ok {
			out.table = name.Name.L
		}
	}
	for _, c := range n.Columns {
		out.columns = append(out.columns, c.Name.L)
	}
	return out, out.locate(s) && out.params > 0
}

// parseInsert parses an INSERT, also one of PostgreSQL or SQLite that leaves out rows which are
// there: rows of one statement are then left out as those of several are.
func parseInsert(sql string) (*statement, error) {
	s, err := parse(sql)
	if err == nil {
		return s, nil
	}
	tokens, ok := sqltext.Unknown.Tokens(sql)
	on := sqltext.Find(tokens, 0, "ON")
	n := len(tokens)
	if !ok || on < 0 || n < on+4 || !tokens[on+1].Is("CONFLICT") || !tokens[n-2].Is("DO") || !tokens[n-1].Is("NOTHING") {
		return nil, err
	}
	cut, err := parse(sql[:tokens[on].Start])
	if err != nil {
		return nil, err
	}
	return &statement{sql: sql, tokens: tokens, node: cut.node}, nil
}

// locate finds the tuple.
func (r *rowInsert) locate(s *statement) bool {
	values := sqltext.Find(s.tokens, 0, "VALUES", "VALUE")
	if values < 0 || values+1 >= len(s.tokens) || s.tokens[values+1].Text != "(" {
		return false
	}
	r.start = s.tokens[values+1].Start
	closing := values + 2
	for ; closing < len(s.tokens) && (s.tokens[closing].Text != ")" || s.tokens[closing].Depth > 0); closing++ {
		if s.tokens[closing].Kind == sqltext.Placeholder {
			r.params++
		}
	}
	if closing >= len(s.tokens) || r.params != sqltext.Placeholders(s.tokens) {
		return false
	}
	args, ok := positions(s.tokens)
	if !ok && !slices.ContainsFunc(s.tokens, func(t sqltext.Token) bool { return strings.HasPrefix(t.Text, ":") }) {
		return false // other placeholders; those with names are those of a named statement
	}
	if dollared(s.tokens) {
		r.numbers = args
	}
	r.end = s.tokens[closing].End
	r.tuple = strings.Join(strings.Fields(s.sql[r.start:r.end]), " ")
	r.tail = closing+1 < len(s.tokens)
	return true
}

const (
	// maxPlaceholders is the limit of a statement of SQLite since 3.32; MySQL takes
	// 65,535 in a prepared statement.
	maxPlaceholders = 32766
	// maxRows bounds a statement whose rows have no known length: 16 KiB per row are
	// maxPacket.
	maxRows = 1000
	// maxTextRows does so for rows with a TEXT or BLOB, which have up to 64 KiB.
	maxTextRows = 200
	// maxPacket is the usual max_allowed_packet of 16 MiB, less the statement's text.
	maxPacket = 16<<20 - 64<<10
)

// chunkRows is the number of rows of one statement; 0 if a row has no bound.
func (r *rowInsert) chunkRows(t Table) int {
	n := min(maxRows, maxPlaceholders/r.params)
	columns := r.columns
	if len(columns) == 0 {
		columns = slices.Sorted(maps.Keys(t.Columns))
	}
	size := 1
	for _, c := range columns {
		kind, length, _ := strings.Cut(t.Columns[c].Type, "(")
		switch kind {
		case "mediumblob", "longblob", "mediumtext", "longtext", "json":
			return 0
		case "blob", "text":
			n = min(n, maxTextRows)
		}
		size += columnBytes(kind, length)
	}
	return min(n, maxPacket/size)
}

// columnBytes is the greatest length of a value of a column in a packet. A character
// has up to four bytes.
func columnBytes(kind, length string) int {
	switch kind {
	case "blob", "text":
		return 1<<16 + 3
	case "varchar", "char", "varbinary", "binary":
		length, _, _ = strings.Cut(length, ")")
		if n, err := strconv.Atoi(strings.TrimSpace(length)); err == nil && n <= 1<<16 {
			return 4*n + 3
		}
	}
	return 64 // numbers and times as text, or unknown
}
