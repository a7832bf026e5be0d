package ddl

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// load creates the table in the scratch database with the statements of a file,
// under the session settings that the file makes, and returns the definition.
// all are the file's statements, own are those that define the table, and others
// are statements from further files.
func (s *scratch) load(ctx context.Context, all []statement, own, others []tableStatement) (string, error) {
	for _, d := range slices.Concat(own, others) {
		if w := d.strays(); w != "" {
			return "", fmt.Errorf("%s is not tried: it could reach another table or a file", w)
		}
	}
	if len(own) == 0 {
		return "", fmt.Errorf("nothing creates the table")
	}
	// The client that initialize runs has the server's global sql_mode.
	run := []string{"DROP TABLE IF EXISTS " + s.scratch, "SET SESSION sql_mode = @@GLOBAL.sql_mode, foreign_key_checks = 0"}
	next := 0
	for _, st := range all { // in the order of the file
		if next < len(own) && st.start == own[next].start {
			run = append(run, own[next].on(s.scratch))
			next++
		} else if next < len(own) && st.sets() {
			run = append(run, st.sql[st.start:st.end])
		}
	}
	for _, d := range others {
		run = append(run, d.on(s.scratch))
	}
	for _, stmt := range run {
		if err := s.exec(ctx, stmt); err != nil {
			return "", fmt.Errorf("%s: %w", cut(stmt), err)
		}
	}
	// The definition is read under the same sql_mode as that of the real table.
	if _, err := s.conn.ExecContext(ctx, "SET NAMES utf8mb4"); err != nil {
		return "", err
	}
	if _, err := s.conn.ExecContext(ctx, strict+", sql_quote_show_create = 1", s.mode); err != nil {
		return "", err
	}
	return s.shown(ctx)
}

// on returns the statement with another table name.
func (d tableStatement) on(name string) string {
	return d.sql[d.start:d.from] + name + d.sql[d.to:d.end]
}

// cut shortens a statement for an error.
func cut(stmt string) string {
	if s := []rune(stmt); len(s) > 80 {
		return string(s[:80]) + "…"
	}
	return stmt
}

// harmless are the session variables by which a file may change the result of a
// CREATE TABLE.
var harmless = []string{"sql_mode", "foreign_key_checks", "unique_checks", "default_storage_engine", "storage_engine", "time_zone",
	"character_set_client", "character_set_results", "character_set_connection", "collation_connection", "sql_notes",
	"explicit_defaults_for_timestamp", "innodb_strict_mode", "names"}

// sets reports whether a statement sets session variables and does nothing else.
func (st statement) sets() bool {
	c := &cursor{tokens: st.tokens}
	if !c.take("set") {
		return false
	}
	for c.peek().kind != mark {
		c.any("session", "local")
		user := false
		if c.take("@") {
			user = !c.take("@")
			if !user && c.any("session", "local") {
				c.take(".")
			}
		}
		name, ok := c.name()
		if !ok || !user && !slices.Contains(harmless, strings.ToLower(name)) {
			return false
		}
		for !c.peek().is(",") && c.peek().kind != mark {
			if c.peek().is("(", "select") { // can have any effect
				return false
			}
			c.i++
		}
		c.take(",")
	}
	return true
}

// reaching are the words by which a statement on one table affects another
// table, a file or another server.
var reaching = []string{"directory", "tablespace", "connection", "union", "exchange", "federated", "connect", "spider"}

// strays returns a word by which a statement could affect more than the table,
// "" without one.
func (d tableStatement) strays() string {
	options := d.options()
	for i, t := range options {
		c := &cursor{tokens: options, i: i + 1}
		switch {
		case t.is(reaching...),
			t.is("rename") && !c.any("index", "key", "column"),
			t.is("convert") && c.any("table", "partition"):
			return strings.ToUpper(t.spelling)
		}
	}
	return ""
}
