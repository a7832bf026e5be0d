package ddl

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// load makes the table in the scratch database by the statements of a file,
// under the settings that the file makes for its session, and says how it is
// defined. all are the file's statements, own those that define the table, and
// others those of further files.
func (s *scratch) load(ctx context.Context, all []statement, own, others []tableStatement) (string, error) {
	for _, d := range slices.Concat(own, others) {
		if w := d.strays(); w != "" {
			return "", fmt.Errorf("%s is not tried: it could reach another table or a file", w)
		}
	}
	if len(own) == 0 {
		return "", fmt.Errorf("nothing creates the table")
	}
	// The client of initialize has the server's own mode.
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
	// The definition is read under the mode under which the table's own was.
	if _, err := s.conn.ExecContext(ctx, "SET NAMES utf8mb4"); err != nil {
		return "", err
	}
	if _, err := s.conn.ExecContext(ctx, strict+", sql_quote_show_create = 1", s.mode); err != nil {
		return "", err
	}
	return s.shown(ctx)
}

// on is a statement with another table's name.
func (d tableStatement) on(name string) string {
	return d.sql[d.start:d.from] + name + d.sql[d.to:d.end]
}

// cut is a statement for an error.
func cut(stmt string) string {
	if s := []rune(stmt); len(s) > 80 {
		return string(s[:80]) + "…"
	}
	return stmt
}

// harmless are the variables of a session by which a file may change what a
// CREATE TABLE makes.
var harmless = []string{"sql_mode", "foreign_key_checks", "unique_checks", "default_storage_engine", "storage_engine", "time_zone",
	"character_set_client", "character_set_results", "character_set_connection", "collation_connection", "sql_notes",
	"explicit_defaults_for_timestamp", "innodb_strict_mode", "names"}

// sets says whether a statement sets a session's variables and nothing else.
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
			if c.peek().is("(", "select") { // could do anything
				return false
			}
			c.i++
		}
		c.take(",")
	}
	return true
}

// reaching are words by which a statement on one table touches another one, a
// file or another server.
var reaching = []string{"directory", "tablespace", "connection", "union", "exchange", "federated", "connect", "spider"}

// strays names a word by which a statement could reach beyond the table.
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
