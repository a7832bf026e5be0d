package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// TablePlace is the place of an op on a table: "service/schema.table".
func TablePlace(service, schema, table string) string { return service + "/" + schema + "." + table }

// Errors of the server: ER_NO_SUCH_TABLE and ER_LOCK_WAIT_TIMEOUT.
const (
	noSuchTable = 1146
	lockTimeout = 1205
)

// onTable runs a statement (none if "") on the table of a place and returns the
// table's definition; without a statement, "" if there is no such table.
//
// It takes the table's write lock first. A statement whose client was killed
// may still be running; SHOW CREATE TABLE would show the table as it was
// before it, and only the lock waits for its end.
func (s *Site) onTable(ctx context.Context, place, stmt string) (string, error) {
	service, rest, _ := strings.Cut(place, "/")
	schema, table, ok := strings.Cut(rest, ".")
	db := s.Services[service].DB()
	if !ok || db == nil {
		return "", fmt.Errorf("%s is not a table of a database", place)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return "", fmt.Errorf("connecting to %s: %w", service, err)
	}
	defer conn.Close()
	t := &heldTable{conn: conn, name: sqltext.MySQL.Quote(schema) + "." + sqltext.MySQL.Quote(table)}
	if err := t.bound(ctx); err != nil {
		return "", fmt.Errorf("waiting for %s: %w", place, err)
	}
	defer t.unbound(ctx)
	var refused *mysql.MySQLError
	if err := t.lock(ctx); errors.As(err, &refused) && refused.Number == noSuchTable && stmt == "" {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("waiting for %s: %w", place, err)
	}
	if stmt != "" {
		if err := t.patiently(ctx, func() error { return alter(ctx, conn, stmt) }); err != nil {
			return "", fmt.Errorf("altering %s: %w", place, err)
		}
		// Without fresh statistics the optimizer may ignore a new index.
		if err := t.patiently(ctx, func() error { return drain(conn.QueryContext(ctx, "ANALYZE TABLE "+t.name)) }); err != nil {
			return "", fmt.Errorf("analysing %s: %w", place, err)
		}
	}
	var text string
	err = t.patiently(ctx, func() (err error) { text, err = TableDefinition(ctx, conn, t.name); return err })
	return text, err
}

// Online are the clauses of an ALTER TABLE that the server either does while
// other connections write, or refuses.
var Online = []string{"ALGORITHM=INPLACE", "LOCK=NONE"}

// NotOnline reports whether the server refused a statement because of Online
// (ER_ALTER_OPERATION_NOT_SUPPORTED, and with a reason).
func NotOnline(err *mysql.MySQLError) bool { return err.Number == 1845 || err.Number == 1846 }

// alter runs a statement. If the server refuses to do it online, alter runs it
// without Online: a table whose rows an older server wrote may need a copy, which
// the kind's trial on an empty table does not show.
func alter(ctx context.Context, conn *sql.Conn, stmt string) error {
	_, err := conn.ExecContext(ctx, stmt)
	plain, asked := strings.CutSuffix(stmt, ", "+strings.Join(Online, ", "))
	var refused *mysql.MySQLError
	if asked && errors.As(err, &refused) && NotOnline(refused) {
		_, err = conn.ExecContext(ctx, plain)
	}
	return err
}

// drain reads a statement's rows to their end.
func drain(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// counter is the part of a definition that inserts change.
var counter = regexp.MustCompile(` AUTO_INCREMENT=[0-9]+`)

// TableDefinition is SHOW CREATE TABLE of a quoted name, without the counter
// of AUTO_INCREMENT, which every insert moves.
func TableDefinition(ctx context.Context, conn *sql.Conn, name string) (string, error) {
	var got, text string
	if err := conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+name).Scan(&got, &text); err != nil {
		return "", fmt.Errorf("reading the definition of %s: %w", name, err)
	}
	return counter.ReplaceAllString(text, "") + "\n", nil
}
