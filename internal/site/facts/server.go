package facts

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// A Server is one read-only connection to an SQL server. It is not safe for
// use by several goroutines at once.
type Server struct {
	conn    *sql.Conn
	dialect catalog.Dialect
}

// Connect takes a connection from the pool and makes it read-only. The server ends
// statements that take longer than limit (MariaDB: all statements, MySQL: SELECTs).
func Connect(ctx context.Context, db *sql.DB, limit time.Duration) (*Server, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the SQL server: %w", err)
	}
	s := &Server{conn: conn}
	if err := s.begin(ctx, limit); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) begin(ctx context.Context, limit time.Duration) error {
	var version string
	if err := s.conn.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return fmt.Errorf("asking the SQL server for its version: %w", err)
	}
	d, err := ParseVersion(version)
	if err != nil {
		return err
	}
	s.dialect = d
	set := "SET SESSION max_execution_time = " + strconv.FormatInt(limit.Milliseconds(), 10)
	if d.Product == "mariadb" {
		set = fmt.Sprintf("SET SESSION max_statement_time = %.3f", limit.Seconds())
	}
	// The server must interpret a backslash in the same way as the function
	// quoted, on which the check for harmless statements depends.
	escapes := "SET SESSION sql_mode = REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')"
	// The statements of this connection must not appear in a slow log that is read.
	quiet := "SET SESSION long_query_time = 31536000"
	for _, q := range []string{quiet, set, "SET SESSION TRANSACTION READ ONLY", "SET SESSION group_concat_max_len = 1000000", escapes} {
		if _, err := s.conn.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("making the connection read-only (%s): %w", q, err)
		}
	}
	return nil
}

// Close ends the connection. It is not returned to the pool, because its session
// is read-only.
func (s *Server) Close() error {
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	if err := s.conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}

// Dialect is the product and version of the server.
func (s *Server) Dialect() catalog.Dialect { return s.dialect }

var versionPattern = regexp.MustCompile(`^(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)`)

// ParseVersion parses the result of SELECT VERSION(), as "10.11.6-MariaDB-1" or
// "8.0.36-0ubuntu0.22.04.1". It skips the prefix 5.5.5-, which MariaDB adds for old
// replicas.
func ParseVersion(v string) (catalog.Dialect, error) {
	m := versionPattern.FindStringSubmatch(v)
	if m == nil {
		return catalog.Dialect{}, fmt.Errorf("reading the server's version: %q is none", v)
	}
	d := catalog.Dialect{Product: "mysql"}
	if strings.Contains(strings.ToLower(v), "mariadb") {
		d.Product = "mariadb"
	}
	d.Major, _ = strconv.Atoi(m[1])
	d.Minor, _ = strconv.Atoi(m[2])
	d.Patch, _ = strconv.Atoi(m[3])
	return d, nil
}

// Variables reads all global variables.
func (s *Server) Variables(ctx context.Context) (map[string]string, error) {
	return s.pairs(ctx, "SHOW GLOBAL VARIABLES")
}

// Status reads all global counters.
func (s *Server) Status(ctx context.Context) (map[string]string, error) {
	return s.pairs(ctx, "SHOW GLOBAL STATUS")
}

func (s *Server) pairs(ctx context.Context, query string) (map[string]string, error) {
	rows, err := s.rows(ctx, query)
	if err != nil {
		return nil, err
	}
	m := make(map[string]string, len(rows))
	for _, r := range rows {
		m[strings.ToLower(r["variable_name"])] = r["value"]
	}
	return m, nil
}

// rows reads a whole result, by column name in lower case. NULL is the empty
// string. Values are read by name because the columns of information_schema differ
// between products.
func (s *Server) rows(ctx context.Context, query string, args ...any) ([]map[string]string, error) {
	rs, err := s.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", query, err)
	}
	defer rs.Close()
	names, err := rs.Columns()
	if err != nil {
		return nil, err
	}
	for i := range names {
		names[i] = strings.ToLower(names[i])
	}
	cells := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	var out []map[string]string
	for rs.Next() {
		if err := rs.Scan(into...); err != nil {
			return nil, fmt.Errorf("reading the answer to %s: %w", query, err)
		}
		row := make(map[string]string, len(names))
		for i, n := range names {
			row[n] = cells[i].String
		}
		out = append(out, row)
	}
	if err := rs.Err(); err != nil {
		return nil, fmt.Errorf("reading the answer to %s: %w", query, err)
	}
	return out, nil
}
