package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Explain reads the server's query plan for a statement without running it. The plan of
// a write is that of its [Reading].
func (s *Server) Explain(ctx context.Context, sql string) (catalog.QueryPlan, error) {
	return s.queryPlan(ctx, "EXPLAIN FORMAT=JSON ", sql)
}

// Analyze runs a SELECT, read-only and under the connection's time limit, and
// reads its query plan with measured numbers: by ANALYZE FORMAT=JSON of MariaDB, or
// EXPLAIN ANALYZE of MySQL from 8.0.21. It only explains the statement on older
// servers, if it is not a SELECT, or if it has a time limit of its own.
func (s *Server) Analyze(ctx context.Context, sql string) (catalog.QueryPlan, error) {
	switch {
	case !isSelect(sql) || endless(sql):
		return s.Explain(ctx, sql)
	case s.dialect.Product == "mariadb":
		return s.queryPlan(ctx, "ANALYZE FORMAT=JSON ", sql)
	case s.dialect.Product == "mysql" && s.dialect.AtLeast(8, 0, 21):
		return s.analyzeTree(ctx, sql)
	}
	return s.Explain(ctx, sql)
}

// Use selects the default schema, for names without a schema.
func (s *Server) Use(ctx context.Context, schema string) error {
	if _, err := s.conn.ExecContext(ctx, "USE "+sqltext.MySQL.Quote(schema)); err != nil {
		return fmt.Errorf("turning to schema %s: %w", schema, err)
	}
	return nil
}

func (s *Server) queryPlan(ctx context.Context, how, sql string) (catalog.QueryPlan, error) {
	reading, err := Reading(sql)
	if err != nil {
		return catalog.QueryPlan{}, err
	}
	var text string
	if err := s.conn.QueryRowContext(ctx, how+reading).Scan(&text); err != nil {
		return catalog.QueryPlan{}, fmt.Errorf("explaining %.80s: %w", reading, err)
	}
	p, err := ParseQueryPlan([]byte(text))
	if err != nil {
		return catalog.QueryPlan{}, fmt.Errorf("explaining %.80s: %w", reading, err)
	}
	p.SQL, p.Ran = sql, strings.HasPrefix(how, "ANALYZE")
	if reading != sql && !isSelect(sql) {
		p.Notes = append(p.Notes, "planned through "+reading)
	}
	return p, nil
}

// Reading is a SELECT that finds the rows that a statement reads: a SELECT itself,
// SELECT 1 with the same tables and WHERE for UPDATE and DELETE, the inner SELECT
// for INSERT … SELECT. It is an error for other statements, and for a SELECT that
// does more than read rows.
func Reading(sql string) (string, error) {
	reading, err := readingOf(sql)
	if err != nil {
		return "", err
	}
	if why := acts(reading); why != "" {
		return "", fmt.Errorf("planning %.60s: %s", reading, why)
	}
	return reading, nil
}

func readingOf(sql string) (string, error) {
	sql = strings.TrimRight(strings.TrimSpace(sql), "; \t\n")
	words := scan(sql)
	if len(words) == 0 {
		return "", fmt.Errorf("planning a statement: it is empty")
	}
	if first(words, ";") >= 0 || strings.Contains(sql, "/*!") || strings.Contains(sql, "/*M!") {
		return "", fmt.Errorf("planning %.60s: more than one statement, or a comment that the server runs", sql)
	}
	cut := func(w int) string { return sql[words[w].at:] }
	switch words[0].text {
	case "select", "with", "(":
		return sql, nil
	case "insert", "replace":
		if i := first(words, "select"); i > 0 {
			return cut(i), nil
		}
	case "delete":
		if i := first(words, "from"); i > 0 {
			return "SELECT 1 " + cut(i), nil
		}
	case "update":
		return updateReading(sql, words)
	}
	return "", fmt.Errorf("planning %.60s: nothing in it reads rows", sql)
}

func updateReading(sql string, words []word) (string, error) {
	set := first(words, "set")
	if set < 0 {
		return "", fmt.Errorf("planning %.60s: an UPDATE without SET", sql)
	}
	tables := strings.TrimSpace(sql[words[0].at+len("update") : words[set].at])
	for _, w := range []string{"low_priority", "ignore"} {
		if len(tables) > len(w) && strings.EqualFold(tables[:len(w)], w) {
			tables = strings.TrimSpace(tables[len(w):])
		}
	}
	rest := ""
	for _, clause := range []string{"where", "order", "limit"} {
		if i := first(words, clause); i > set {
			rest = " " + sql[words[i].at:]
			break
		}
	}
	return "SELECT 1 FROM " + tables + rest, nil
}

// A word is a keyword or name outside strings and comments.
type word struct {
	text   string // lower case
	at     int
	depth  int  // number of enclosing parentheses
	member bool // follows a name and a dot, so it is a name even if it looks like a keyword
	called bool // followed by a parenthesis
}

func first(words []word, text string) int {
	for i, w := range words {
		if w.text == text {
			return i
		}
	}
	return -1
}

// scan lists the words at the top level of a statement.
func scan(sql string) []word {
	return slices.DeleteFunc(scanAll(sql), func(w word) bool { return w.depth > 0 })
}

// scanAll lists all words of a statement, and a parenthesis that begins it.
func scanAll(sql string) []word {
	var out []word
	named, dotted := false, false // the last token was a name; the last two were a name and a dot
	for l := (sqltext.Lexer{Dialect: sqltext.MySQL, SQL: sql}); l.At < len(sql); {
		t := l.Next()
		if t.Kind == sqltext.Space || t.Kind == sqltext.Comment {
			continue
		}
		wasNamed, wasDotted := named, dotted
		named, dotted = t.IsName(), t.Text == "." && wasNamed
		switch {
		case t.Text == "(" && len(out) == 0 && t.Depth == 0:
			out = append(out, word{text: "(", at: t.Start})
		case t.Text == "(" && wasNamed && len(out) > 0:
			out[len(out)-1].called = true
		case t.Text == ";":
			out = append(out, word{text: ";", at: t.Start})
		case t.Kind == sqltext.Word:
			out = append(out, word{text: strings.ToLower(t.Text), at: t.Start, depth: t.Depth, member: wasDotted})
		}
	}
	return out
}

func isSelect(sql string) bool {
	w := scan(sql)
	return len(w) > 0 && (w[0].text == "select" || w[0].text == "with" || w[0].text == "(")
}

// ParseQueryPlan parses EXPLAIN or ANALYZE FORMAT=JSON of MariaDB and MySQL. The nesting
// of tables differs between versions, so every object under the key "table" that
// has an access type counts as a table.
func ParseQueryPlan(text []byte) (catalog.QueryPlan, error) {
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return catalog.QueryPlan{}, fmt.Errorf("reading a query plan: %w", err)
	}
	var p catalog.QueryPlan
	walkQueryPlan(tree, "", &p)
	return p, nil
}

// walkQueryPlan visits the tree in a fixed order.
func walkQueryPlan(node any, key string, p *catalog.QueryPlan) {
	switch n := node.(type) {
	case []any:
		for _, x := range n {
			walkQueryPlan(x, key, p)
		}
	case map[string]any:
		if key == "table" {
			p.Steps = append(p.Steps, queryStep(n))
		}
		for _, k := range sortedKeys(n) {
			switch k {
			case "filesort", "read_sorted_file":
				p.Sort = true
			case "temporary_table":
				p.Temp = true
			case "using_filesort":
				p.Sort = p.Sort || n[k] == true
			case "using_temporary_table":
				p.Temp = p.Temp || n[k] == true
			case "message":
				if s, ok := n[k].(string); ok {
					p.Notes = append(p.Notes, s)
				}
			}
			walkQueryPlan(n[k], k, p)
		}
	}
}

func queryStep(n map[string]any) catalog.QueryStep {
	s := catalog.QueryStep{Table: str(n["table_name"]), Access: str(n["access_type"]), Key: str(n["key"]), Loops: num(n["r_loops"])}
	s.KeyParts, s.Possible = strs(n["used_key_parts"]), strs(n["possible_keys"])
	for _, k := range []string{"r_rows", "rows", "rows_examined_per_scan"} {
		if v, ok := n[k]; ok && v != nil {
			s.Rows = num(v)
			break
		}
	}
	if n["r_rows"] != nil {
		s.Foreseen = num(n["rows"])
	}
	for _, k := range []string{"r_filtered", "filtered"} {
		if v, ok := n[k]; ok && v != nil {
			s.Filtered = num(v)
			break
		}
	}
	s.Covering = n["using_index"] == true
	return s
}

func str(v any) string { s, _ := v.(string); return s }

func strs(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, x := range list {
		out = append(out, str(x))
	}
	return out
}

// num reads a number. MySQL writes some numbers as text.
func num(v any) float64 {
	switch x := v.(type) {
	case float64:
		return x
	case string:
		f, _ := strconv.ParseFloat(x, 64)
		return f
	}
	return 0
}
