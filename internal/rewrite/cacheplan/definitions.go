package cacheplan

import (
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Definitions splits an SQL file: the statements that define tables, and the
// tables with a trigger, in lower case.
func Definitions(text string) (tables, triggers []string) {
	for _, s := range sqltext.MySQL.Statements(text) {
		if d, ok := sqlschema.Of(s); ok && (d.Verb == sqlschema.CreateTable || d.Verb == sqlschema.AlterTable) {
			tables = append(tables, s.Text())
		}
		if table, ok := triggered(s); ok {
			triggers = append(triggers, strings.ToLower(table))
		}
	}
	return tables, triggers
}

// triggered is the table whose trigger a statement defines: CREATE … TRIGGER name BEFORE
// INSERT ON table, with DEFINER = and in the version comments of mysqldump, too.
func triggered(s sqltext.Statement) (table string, ok bool) {
	c := &sqltext.Cursor{Tokens: s.Tokens}
	if !c.Take("create") {
		return "", false
	}
	for !c.Take("trigger") {
		if c.Ended() || c.Peek().Is("TABLE", "PROCEDURE", "FUNCTION", "EVENT", "VIEW", "ON") {
			return "", false
		}
		c.At++
	}
	for !c.Take("on") {
		if c.Ended() {
			return "", false
		}
		c.At++
	}
	table, ok = c.Name()
	for ok && c.Take(".") {
		table, ok = c.Name()
	}
	return table, ok
}

// fileDefinitions splits an SQL file for SQLite and gives the statements that define
// tables, indexes, views and triggers, in order.
func fileDefinitions(text string) (out []string) {
	for _, s := range sqltext.SQLite.Statements(text) {
		if defines(s.Tokens) {
			out = append(out, s.Text())
		}
	}
	return out
}

// defines reports whether a statement belongs to the schema. Virtual and temporary
// tables do not: no plan has them. The tables of SQLite itself come without definition.
func defines(statement []sqltext.Token) bool {
	if len(statement) < 3 || !statement[0].Is("CREATE", "ALTER", "DROP") || statement[1].Is("VIRTUAL", "TEMP", "TEMPORARY") {
		return false
	}
	return !strings.HasPrefix(strings.ToLower(strings.Trim(statement[2].Text, "\"`[]'")), "sqlite_")
}

// common cuts the clauses of SQLite that MySQL does not have: OR IGNORE, ON CONFLICT DO
// NOTHING and RETURNING, which write no further rows. ok is false for other clauses of
// this kind: their rows are not told apart.
func common(text string) (_ string, ok bool) {
	list := statementTokens(text)
	if len(list) < 3 || list[0].Is("SELECT") {
		return text, true
	}
	end := len(text)
	for i, t := range list {
		switch {
		case t.Depth == 0 && t.Is("RETURNING"):
			end = min(end, t.Start)
		case t.Depth == 0 && t.Is("CONFLICT") && list[i-min(i, 1)].Is("ON"):
			end = min(end, list[i-1].Start)
		case t.Is("DO") && i+1 < len(list) && !list[i+1].Is("NOTHING"):
			return "", false
		}
	}
	if !list[1].Is("OR") {
		return text[:end], true
	}
	if !list[0].Is("INSERT") || !list[2].Is("IGNORE") {
		return "", false
	}
	return text[:list[0].End] + text[list[2].End:end], true
}

// statementTokens are the tokens of a statement for SQLite, without comments.
func statementTokens(text string) (out []sqltext.Token) {
	for l := (sqltext.Lexer{Dialect: sqltext.SQLite, SQL: text}); l.At < len(text); {
		if t := l.Next(); t.Kind != sqltext.Space && t.Kind != sqltext.Comment {
			out = append(out, t)
		}
	}
	return out
}
