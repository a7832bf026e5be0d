package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// systemSchemas are those that a server makes for itself.
const systemSchemas = "'mysql', 'information_schema', 'performance_schema', 'sys'"

// Queries about the objects of all schemas: schema, name, and what else is asked.
const (
	tablesQuery  = "SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_schema NOT IN (" + systemSchemas + ")"
	columnsQuery = "SELECT table_schema, table_name, column_name FROM information_schema.columns WHERE table_schema NOT IN (" + systemSchemas + ") ORDER BY table_schema, table_name, ordinal_position"
	othersQuery  = "SELECT routine_schema, routine_name, routine_type FROM information_schema.routines WHERE routine_schema NOT IN (" + systemSchemas + ")" +
		" UNION ALL SELECT trigger_schema, trigger_name, 'trigger' FROM information_schema.triggers WHERE trigger_schema NOT IN (" + systemSchemas + ")" +
		" UNION ALL SELECT event_schema, event_name, 'event' FROM information_schema.events WHERE event_schema NOT IN (" + systemSchemas + ")"
)

// An object is a table or another thing of a schema.
type object struct{ schema, name string }

func (o object) sql() string    { return ident(o.schema) + "." + ident(o.name) }
func (o object) String() string { return o.schema + "." + o.name }

// dataDigests are the digests of all tables of a server with the MySQL protocol, by
// "schema.table": their rows in any order, as servers of different versions tell them; and the
// names of its views, sequences, routines, triggers and events.
func dataDigests(ctx context.Context, db *sql.DB) (_ map[string]string, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SET SESSION time_zone = '+00:00'"); err != nil {
		return nil, err
	}
	all := map[string]string{}
	err = eachObject(ctx, conn, othersQuery, func(o object, what string) { all[o.String()+" "+what] = what })
	if err != nil {
		return nil, fmt.Errorf("listing routines, triggers and events: %w", err)
	}
	of := map[object][]string{}
	err = eachObject(ctx, conn, columnsQuery, func(o object, column string) {
		of[o] = append(of[o], "IFNULL(HEX(CAST("+ident(column)+" AS BINARY)), '-')")
	})
	if err != nil {
		return nil, fmt.Errorf("listing the columns: %w", err)
	}
	var tables []object
	err = eachObject(ctx, conn, tablesQuery, func(o object, what string) {
		if all[o.String()] = what; what == "BASE TABLE" || what == "SYSTEM VERSIONED" {
			tables = append(tables, o)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("listing the tables: %w", err)
	}
	for _, t := range tables {
		sum, err := textLines(conn.QueryContext(ctx, "SELECT CONCAT(COUNT(*), ' rows, sum ', COALESCE(SUM(CRC32(CONCAT_WS(',', "+strings.Join(of[t], ", ")+"))), 0)) FROM "+t.sql()))
		if err != nil || len(sum) != 1 {
			return nil, errors.Join(err, fmt.Errorf("reading the rows of %s", t))
		}
		all[t.String()] = sum[0]
	}
	return all, nil
}

// eachObject calls fn with each row of one of the queries.
func eachObject(ctx context.Context, conn *sql.Conn, query string, fn func(o object, what string)) error {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o object
		var what string
		if err := rows.Scan(&o.schema, &o.name, &what); err != nil {
			return err
		}
		fn(o, what)
	}
	return rows.Err()
}

// ident is a name as in a statement.
func ident(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
