package ddl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// load creates the table in the scratch database with the statements of a file,
// under the session settings that the file makes, and returns the definition.
// all are the file's statements, own are those that define the table, and others
// are statements from further files.
func (s *scratch) load(ctx context.Context, all []sqltext.Statement, own, others []sqlschema.Statement) (string, error) {
	for _, d := range slices.Concat(own, others) {
		if w := strays(d); w != "" {
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
		if next < len(own) && st.Start == own[next].Start {
			run = append(run, on(own[next], s.scratch))
			next++
		} else if next < len(own) && sets(st) {
			run = append(run, st.Text())
		}
	}
	for _, d := range others {
		run = append(run, on(d, s.scratch))
	}
	for _, stmt := range run {
		if err := s.exec(ctx, stmt); err != nil {
			return "", fmt.Errorf("%s: %w", plain.Cut(stmt, maxShown), err)
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

// on returns a statement with another table name.
func on(d sqlschema.Statement, name string) string {
	return d.File[d.Start:d.From] + name + d.File[d.To:d.End]
}

// maxShown is how many characters of a statement an error shows.
const maxShown = 80

// harmless are the session variables by which a file may change the result of a
// CREATE TABLE.
var harmless = []string{"sql_mode", "foreign_key_checks", "unique_checks", "default_storage_engine", "storage_engine", "time_zone",
	"character_set_client", "character_set_results", "character_set_connection", "collation_connection", "sql_notes",
	"explicit_defaults_for_timestamp", "innodb_strict_mode", "names"}

// sets reports whether a statement sets session variables and does nothing else.
func sets(st sqltext.Statement) bool {
	c := &sqltext.Cursor{Tokens: st.Tokens}
	if !c.Take("set") {
		return false
	}
	for !c.Ended() {
		c.Any("session", "local")
		name, ok := c.Peek().Text, true
		if c.Peek().Kind == sqltext.Variable {
			c.At++
		} else {
			name, ok = c.Name()
		}
		if !ok || !harmlessVariable(strings.ToLower(name)) {
			return false
		}
		for !c.Ended() && !c.Peek().Spells(",") {
			if c.Peek().Spells("(", "select") { // can have any effect
				return false
			}
			c.At++
		}
		c.Take(",")
	}
	return true
}

// harmlessVariable reports whether a file may set a variable: @own, or @@session.sql_mode.
func harmlessVariable(name string) bool {
	system := strings.TrimPrefix(name, "@@")
	for _, scope := range []string{"session.", "local."} {
		system = strings.TrimPrefix(system, scope)
	}
	return slices.Contains(harmless, system) || system == name && strings.HasPrefix(name, "@")
}

// reaching are the words by which a statement on one table affects another
// table, a file or another server.
var reaching = []string{"directory", "tablespace", "connection", "union", "exchange", "federated", "connect", "spider"}

// strays returns a word by which a statement could affect more than the table,
// "" without one.
func strays(d sqlschema.Statement) string {
	options := d.Options()
	for i, t := range options {
		c := &sqltext.Cursor{Tokens: options, At: i + 1}
		switch {
		case t.Spells(reaching...),
			t.Is("RENAME") && !c.Any("index", "key", "column"),
			t.Is("CONVERT") && c.Any("table", "partition"):
			return strings.ToUpper(t.Text)
		}
	}
	return ""
}
