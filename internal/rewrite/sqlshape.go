package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp/sqlcall"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A shape is a SELECT of whole rows of one table: without grouping, manyToOne,
// LIMIT and locks, so that a further condition only removes rows of the result.
type shape struct {
	text    *sqlcall.Text
	tokens  []sqltext.Token
	table   string // in lower case
	where   int    // index of WHERE, or -1
	order   int    // index of ORDER, or -1
	end     int    // index behind the last token of the WHERE clause
	columns []string
	star    bool
	orders  []string // columns of ORDER BY, in lower case; nil if one is an expression
}

// refused are keywords that make a statement something else than rows of one table.
var refused = []string{"GROUP", "HAVING", "UNION", "LIMIT", "OFFSET", "FETCH", "JOIN", "INTO", "WINDOW", "EXCEPT", "INTERSECT",
	"PROCEDURE", "DISTINCT", "OVER", "STRAIGHT_JOIN", "SQL_CALC_FOUND_ROWS", "PARTITION", "FOR", "LOCK"}

// manyToOne are functions that make one row of many.
var manyToOne = []string{"COUNT", "SUM", "MIN", "MAX", "AVG", "GROUP_CONCAT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "STRING_AGG",
	"ARRAY_AGG", "BIT_AND", "BIT_OR", "BIT_XOR", "STD", "STDDEV", "VARIANCE", "ANY_VALUE"}

// shapeOf reads the statement of a call; nil if it has another form.
func shapeOf(c *sqlcall.Call) *shape {
	if c.Text == nil || c.Text.Expanded || c.Spread || c.Handle.Kind == sqlcall.Stmt {
		return nil
	}
	return shapeWith(c, len(c.Args))
}

// shapeWith reads the statement of a call that has n arguments.
func shapeWith(c *sqlcall.Call, n int) *shape {
	if c.Text == nil || c.Text.Holes > 0 || c.Named {
		return nil
	}
	all, ok := sqltext.Unknown.Tokens(c.Text.SQL)
	if !ok {
		return nil
	}
	s := &shape{text: c.Text, where: -1, order: -1}
	for _, t := range all {
		if t.Kind != sqltext.Comment {
			s.tokens = append(s.tokens, t)
		}
	}
	if len(s.tokens) < 4 || !s.tokens[0].Is("SELECT") || !sqltext.Marked(s.tokens) || sqltext.Placeholders(s.tokens) != n {
		return nil
	}
	for _, t := range s.tokens {
		if t.Depth == 0 && t.Is(refused...) || t.Is("SELECT") && t.Start != s.tokens[0].Start || t.Text == ";" {
			return nil
		}
	}
	if !s.readFrom() || !s.readColumns() || !s.readOrder() {
		return nil
	}
	return s
}

// readFrom finds the table and the clauses.
func (s *shape) readFrom() bool {
	from := sqltext.Find(s.tokens, 1, "FROM")
	if from < 0 || from+1 >= len(s.tokens) {
		return false
	}
	s.where = sqltext.Find(s.tokens, from, "WHERE")
	s.order = sqltext.Find(s.tokens, from, "ORDER")
	s.end = len(s.tokens)
	if s.order >= 0 {
		s.end = s.order
	}
	tables := s.tokens[from+1 : s.end]
	if s.where >= 0 {
		tables = s.tokens[from+1 : s.where]
	}
	// One name, perhaps with an alias; anything else is a join or a database's name.
	for _, t := range tables {
		if t.Kind != sqltext.Word && t.Kind != sqltext.Quoted {
			return false
		}
	}
	if len(tables) == 0 || len(tables) > 3 || len(tables) == 3 && !tables[1].Is("AS") {
		return false
	}
	s.table = strings.ToLower(tables[0].Name())
	return true
}

// readColumns reads the list of columns: a star, or plain names.
func (s *shape) readColumns() bool {
	from := sqltext.Find(s.tokens, 1, "FROM")
	for item := range splitTokens(s.tokens[1:from]) {
		for i, t := range item {
			if t.Is(manyToOne...) && i+1 < len(item) && item[i+1].Text == "(" {
				return false
			}
		}
		last := item[len(item)-1]
		switch {
		case last.Text == "*":
			s.star = true
			s.columns = append(s.columns, "*")
		case len(item) == 1 && (last.Kind == sqltext.Word || last.Kind == sqltext.Quoted), len(item) == 3 && item[1].Text == ".":
			s.columns = append(s.columns, strings.ToLower(last.Name()))
		default:
			s.columns = append(s.columns, "") // an expression
		}
	}
	return len(s.columns) > 0
}

// splitTokens splits a list at its commas outside of parentheses; an empty item
// ends it.
func splitTokens(tokens []sqltext.Token) func(func([]sqltext.Token) bool) {
	return func(yield func([]sqltext.Token) bool) {
		from := 0
		for i := 0; i <= len(tokens); i++ {
			if i < len(tokens) && (tokens[i].Text != "," || tokens[i].Depth > 0) {
				continue
			}
			if i == from || !yield(tokens[from:i]) {
				return
			}
			from = i + 1
		}
	}
}

// readOrder reads the columns of ORDER BY.
func (s *shape) readOrder() bool {
	if s.order < 0 {
		return true
	}
	for item := range splitTokens(s.tokens[min(s.order+2, len(s.tokens)):]) {
		if slices.ContainsFunc(item, func(t sqltext.Token) bool { return t.Kind == sqltext.Placeholder }) {
			return false
		}
		if last := item[len(item)-1]; last.Is("ASC", "DESC") {
			item = item[:len(item)-1]
		}
		if len(item) != 1 && (len(item) != 3 || item[1].Text != ".") {
			s.orders = nil
			return true
		}
		s.orders = append(s.orders, strings.ToLower(item[len(item)-1].Name()))
	}
	return true
}

// and adds a condition to the WHERE clause.
func (s *shape) and(condition string) []sqltext.Edit {
	at := s.tokens[s.end-1].End
	if s.where < 0 {
		return []sqltext.Edit{{Start: at, End: at, New: " " + sqltext.Like(s.tokens, "WHERE") + " " + condition}}
	}
	and := " " + sqltext.Like(s.tokens, "AND") + " "
	if sqltext.Find(s.tokens[:s.end], s.where, "OR", "XOR") < 0 {
		return []sqltext.Edit{{Start: at, End: at, New: and + condition}}
	}
	first := s.tokens[s.where+1].Start
	return []sqltext.Edit{{Start: first, End: first, New: "("}, {Start: at, End: at, New: ")" + and + condition}}
}

// column writes a column as the statement writes it, or quoted like its other
// names. ok is false if the result has no such column of the table, or if its
// name cannot be written.
func (s *shape) column(name string) (text string, ok bool) {
	if !s.star && !slices.Contains(s.columns, strings.ToLower(name)) {
		return "", false
	}
	quotes := false
	for i, t := range s.tokens {
		if (t.Kind == sqltext.Word || t.Kind == sqltext.Quoted) && strings.EqualFold(t.Name(), name) && (i == 0 || !s.tokens[i-1].Is("FROM")) {
			return t.Text, true
		}
		quotes = quotes || t.Kind == sqltext.Quoted && t.Text[0] == '`'
	}
	if quotes && !s.text.Raw() {
		return "`" + name + "`", true
	}
	return name, !slices.Contains(reserved, strings.ToLower(name)) && plainName(name)
}

func plainName(name string) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return name != "" && (name[0] < '0' || name[0] > '9')
}

// total reports whether facts prove that ORDER BY gives one order: some unique key
// is covered by its columns and by the columns that WHERE compares with one value.
func (s *shape) total(f Facts) bool {
	if s.orders == nil {
		return false
	}
	fixed := slices.Clone(s.orders)
	if s.where >= 0 && sqltext.Find(s.tokens[:s.end], s.where, "OR", "XOR", "NOT") < 0 {
		for i := s.where + 1; i+2 < s.end; i++ {
			if s.tokens[i+1].Text == "=" && s.tokens[i].Depth == 0 && s.tokens[i+2].Kind != sqltext.Word && s.tokens[i+2].Kind != sqltext.Quoted {
				fixed = append(fixed, strings.ToLower(s.tokens[i].Name()))
			}
		}
	}
	for _, key := range f.Tables[s.table].Unique {
		covered := len(key) > 0
		for _, c := range key {
			covered = covered && slices.Contains(fixed, strings.ToLower(c))
		}
		if covered {
			return true
		}
	}
	return false
}

// statement turns edits of the statement into edits of the source and adds arguments
// to the call.
func (r *rewrite) statement(c *sqlcall.Call, edits []sqltext.Edit, args ...string) {
	out, ok := c.Text.Edits(edits...)
	if !ok {
		r.failed = true
		return
	}
	for _, e := range out {
		r.put(e.Pos, e.End, string(e.NewText))
	}
	if len(args) > 0 {
		r.arguments(c, args)
	}
}

// arguments adds arguments to a call.
func (r *rewrite) arguments(c *sqlcall.Call, args []string) {
	list := strings.Join(args, ", ")
	switch in := c.Text.In; {
	case in != nil:
		r.insert(in.Args[len(in.Args)-1].End(), ", "+list)
	case len(c.Args) > 0:
		r.insert(c.Args[len(c.Args)-1].End(), ", "+list)
	case c.QueryArg != nil:
		r.insert(c.QueryArg.End(), ", "+list)
	case len(c.Dests) > 0: // of a prepared statement
		r.insert(c.Dests[0].End(), ", "+list)
	case c.Context != nil:
		r.insert(c.Context.End(), ", "+list)
	default:
		r.insert(c.Expr.Rparen, list)
	}
}

// clause writes a condition for a placeholder.
func clause(column, op string) string { return fmt.Sprintf("%s %s ?", column, op) }
