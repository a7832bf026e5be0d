package gocode

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/rewrite/cacheplan"
)

// cacheSchema reads from the site's only database what a query cache must know: the
// definitions of the tables, and what writes besides statements. It refuses a
// database with which other programs work.
func cacheSchema(ctx context.Context, s *change.Site) (*cacheplan.Schema, error) {
	var name string
	var db *sql.DB
	for _, svc := range s.Target.Services {
		if pool := s.Services[svc.Name].DB(); pool != nil && svc.Engine.MySQLFamily() {
			if db != nil {
				return nil, &UnsafeError{"there are several databases"}
			}
			name, db = svc.Name, pool
		}
	}
	if db == nil {
		return nil, &UnsafeError{"there is no MySQL or MariaDB to read the tables from"}
	}
	ctx, cancel := context.WithTimeout(ctx, schemaLimit)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", name, err)
	}
	defer conn.Close()
	svc, _ := s.Target.Service(name)
	r := &schemaReader{conn: conn, schema: svc.Schema}
	out, err := r.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", name, err)
	}
	return out, nil
}

// A schemaReader reads the definitions of one schema over one connection.
type schemaReader struct {
	conn   *sql.Conn
	schema string
}

func (r *schemaReader) read(ctx context.Context) (*cacheplan.Schema, error) {
	if r.schema == "" {
		if err := r.conn.QueryRowContext(ctx, "SELECT COALESCE(DATABASE(), '')").Scan(&r.schema); err != nil {
			return nil, err
		}
	}
	if err := r.alone(ctx); err != nil {
		return nil, err
	}
	// Answers of tables without transactions, or whose rows end with the server, are
	// not kept: tables that the plan does not know.
	tables, err := r.words(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE = 'BASE TABLE' AND ENGINE = 'InnoDB'", r.schema)
	if err != nil {
		return nil, err
	}
	var creates []string
	for _, t := range tables {
		var table, text string
		if err := r.conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+sqltext.MySQL.Quote(r.schema)+"."+sqltext.MySQL.Quote(t)).Scan(&table, &text); err != nil {
			return nil, err
		}
		creates = append(creates, text)
	}
	out, err := cacheplan.ReadSchema(creates)
	if err != nil {
		return nil, err
	}
	triggers, err := r.words(ctx, "SELECT DISTINCT EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ?", r.schema)
	if err != nil {
		return nil, err
	}
	for _, t := range triggers {
		out.Triggers[strings.ToLower(t)] = true
	}
	routines, err := r.words(ctx, "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ?", r.schema)
	if err != nil {
		return nil, err
	}
	mode, err := r.words(ctx, "SELECT @@GLOBAL.sql_mode")
	if err != nil {
		return nil, err
	}
	out.Routines = len(routines) > 0
	out.Strict = len(mode) > 0 && strings.Contains(mode[0], "STRICT_TRANS_TABLES") || strings.Contains(mode[0], "STRICT_ALL_TABLES")
	return out, nil
}

// alone refuses a server that other users are connected to, or that runs events.
func (r *schemaReader) alone(ctx context.Context) error {
	users, err := r.words(ctx, `SELECT DISTINCT USER FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()
		AND USER NOT IN ('system user', 'event_scheduler', '') AND USER <> SUBSTRING_INDEX(CURRENT_USER(), '@', 1)`)
	if err != nil {
		return err
	}
	if len(users) > 1 {
		return &UnsafeError{fmt.Sprintf("the users %s are connected to the database, and only the app may write", strings.Join(users, " and "))}
	}
	if err := r.snapshots(ctx); err != nil {
		return err
	}
	events, err := r.words(ctx, "SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = ? AND STATUS = 'ENABLED' AND @@GLOBAL.event_scheduler = 'ON'", r.schema)
	if err != nil {
		return err
	}
	if len(events) > 0 {
		return &UnsafeError{"the event " + events[0] + " of the database may write"}
	}
	return nil
}

// snapshots refuses a server whose transactions are serializable unless they say otherwise:
// a read that the cache answered would take no lock.
func (r *schemaReader) snapshots(ctx context.Context) error {
	var name, level string // of MariaDB before 11.1, and of MySQL and later ones
	err := r.conn.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')").Scan(&name, &level)
	if err != nil {
		return err
	}
	if strings.EqualFold(level, "SERIALIZABLE") {
		return &UnsafeError{"transactions are serializable (" + name + "), and a read from memory takes no lock"}
	}
	return nil
}

// words are the values of the only column of a query.
func (r *schemaReader) words(ctx context.Context, query string, args ...any) (out []string, err error) {
	rows, err := r.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var w string
		if err := rows.Scan(&w); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, rows.Err()
}
