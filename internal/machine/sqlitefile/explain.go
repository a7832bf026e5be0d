package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Explain reads the query plan of a statement. It executes nothing: EXPLAIN QUERY PLAN
// prepares the statement only, and the file is open for reading only.
func (r *Reader) Explain(ctx context.Context, statement string) (catalog.QueryPlan, error) {
	p := catalog.QueryPlan{SQL: statement}
	text := strings.TrimRight(strings.TrimSpace(statement), "; \t\n")
	if strings.Contains(text, ";") || !plannable.MatchString(text) {
		return p, fmt.Errorf("planning %.60s: it is not one statement that reads rows", text)
	}
	err := each(ctx, r.db, func(row *sql.Rows) error {
		var id, parent, unused int
		var detail string
		if err := row.Scan(&id, &parent, &unused, &detail); err != nil {
			return err
		}
		addDetail(&p, detail)
		return nil
	}, "EXPLAIN QUERY PLAN "+text, arguments(text)...)
	if err != nil {
		return p, fmt.Errorf("planning %.60s: %w", text, err)
	}
	return p, nil
}

var (
	plannable = regexp.MustCompile(`(?i)^(select|with|update|delete|insert|replace)\b`)
	// access matches a line of a query plan: "SCAN t", "SEARCH t USING COVERING INDEX
	// x (a=? AND b>?)", "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)".
	access   = regexp.MustCompile(`^(SCAN|SEARCH) (\S+)(?: USING (.*))?$`)
	byIndex  = regexp.MustCompile(`^(AUTOMATIC )?(?:PARTIAL )?(COVERING )?INDEX (\S+)?(?: ?\((.*)\))?`)
	keyParts = regexp.MustCompile(`([^ ()]+?)(?:=\?|>\?|<\?| IS \?)`)
)

// mostArguments is the limit of SQLite (SQLITE_MAX_VARIABLE_NUMBER).
const mostArguments = 32766

// arguments are the arguments that a statement needs. Their values are NULL in a query plan,
// which depends on no value without the statistics of ANALYZE on samples (sqlite_stat4).
func arguments(text string) (args []any) {
	names := map[string]bool{}
	for l := (sqltext.Lexer{Dialect: sqltext.SQLite, SQL: text}); l.At < len(text); {
		t := l.Next()
		switch {
		case t.Kind != sqltext.Placeholder:
		case t.Text == "?":
			args = append(args, nil)
		case t.Text[0] == '?': // ?NNN is argument NNN
			number, _ := strconv.Atoi(t.Text[1:])
			for len(args) < min(number, mostArguments) {
				args = append(args, nil)
			}
		case !names[t.Text]:
			names[t.Text] = true
			args = append(args, sql.Named(t.Text[1:], nil))
		}
	}
	return args
}

// addDetail adds one line of a query plan to p.
func addDetail(p *catalog.QueryPlan, detail string) {
	m := access.FindStringSubmatch(detail)
	if m == nil {
		switch {
		case strings.HasPrefix(detail, "USE TEMP B-TREE FOR ORDER BY"), strings.HasPrefix(detail, "USE TEMP B-TREE FOR RIGHT PART"), strings.HasPrefix(detail, "USE TEMP B-TREE FOR LAST"):
			p.Sort = true
		case strings.HasPrefix(detail, "USE TEMP B-TREE"):
			p.Temp = true
		default:
			p.Notes = append(p.Notes, detail)
		}
		return
	}
	s := catalog.QueryStep{Table: m[2], Access: "ALL"}
	switch ix := byIndex.FindStringSubmatch(m[3]); {
	case ix != nil:
		s.Key, s.Covering = ix[3], ix[2] != ""
		if ix[1] != "" {
			s.Key = "automatic index"
			p.Notes = append(p.Notes, "SQLite builds an index on "+m[2]+" for this statement alone")
		}
		s.Access = "index"
		if m[1] == "SEARCH" {
			s.Access = "ref"
		}
		for _, part := range keyParts.FindAllStringSubmatch(ix[4], -1) {
			s.KeyParts = append(s.KeyParts, part[1])
			if !strings.HasSuffix(part[0], "=?") {
				s.Access = "range"
			}
		}
	case strings.HasPrefix(m[3], "INTEGER PRIMARY KEY"), strings.HasPrefix(m[3], "PRIMARY KEY"):
		s.Key, s.Access = "primary key", "eq_ref"
		if !strings.Contains(m[3], "=?") {
			s.Access = "range"
		}
	}
	p.Steps = append(p.Steps, s)
}
