package mysqlconf

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-sql-driver/mysql"
)

// variables reads the server's global variables.
func variables(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, fmt.Errorf("reading the server's variables: %w", err)
	}
	defer rows.Close()
	vars := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("reading the server's variables: %w", err)
		}
		vars[name] = value
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the server's variables: %w", err)
	}
	return vars, nil
}

// A trait holds the server's own description of a variable.
type trait struct {
	dynamic bool // SET GLOBAL also changes it for existing connections
	number  bool
	min     uint64
	max     uint64
	step    uint64 // values are rounded down to a multiple of it; 0 for none
}

const traitsQuery = `SELECT LOWER(VARIABLE_NAME), READ_ONLY = 'NO' AND VARIABLE_SCOPE = 'GLOBAL',
	IF(VARIABLE_TYPE LIKE '%INT%', NUMERIC_MIN_VALUE, NULL), NUMERIC_MAX_VALUE, NUMERIC_BLOCK_SIZE FROM information_schema.SYSTEM_VARIABLES`

// traits reads the traits. MariaDB has a table of them; MySQL has none, so the
// result is nil.
func traits(ctx context.Context, db *sql.DB) (map[string]trait, error) {
	rows, err := db.QueryContext(ctx, traitsQuery)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && slices.Contains([]uint16{1109, 1146}, refused.Number) { // unknown table
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading what the server's variables are: %w", err)
	}
	defer rows.Close()
	all := map[string]trait{}
	for rows.Next() {
		var name string
		var dynamic bool
		var lo, hi, step sql.NullString
		if err := rows.Scan(&name, &dynamic, &lo, &hi, &step); err != nil {
			return nil, fmt.Errorf("reading what the server's variables are: %w", err)
		}
		t := trait{dynamic: dynamic}
		if lo.Valid {
			var bad error
			t.min, t.number = unsigned(lo.String, &bad), true
			t.max, t.step = unsigned(hi.String, &bad), unsigned(step.String, &bad)
			t.number = bad == nil
		}
		all[name] = t
	}
	return all, rows.Err()
}

func unsigned(s string, bad *error) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		*bad = err
	}
	return n
}

// exact returns the value that the server will store: rounded to the step. It
// refuses a value that the server would change to its bound. File, SET GLOBAL
// and restart then give the same value.
func (t trait) exact(name, wanted string) (string, error) {
	n, ok := bytesOf(wanted)
	if !t.number || !ok {
		return wanted, nil
	}
	v := uint64(n)
	if v < t.min || v > t.max {
		return "", fmt.Errorf("%s = %s: the server takes %d to %d", name, wanted, t.min, t.max)
	}
	if t.step < 2 || v%t.step == 0 {
		return wanted, nil
	}
	if v -= v % t.step; v < t.min {
		return "", fmt.Errorf("%s = %s: the server takes multiples of %d", name, wanted, t.step)
	}
	return strconv.FormatUint(v, 10), nil
}

// accountsByName reports whether an account of the server has a host's name, if
// that matters for the wanted values. Without the right to read the accounts it
// counts as so.
func accountsByName(ctx context.Context, db *sql.DB, wanted map[string]string) (bool, error) {
	if _, asked := wanted["skip_name_resolve"]; !asked {
		return false, nil
	}
	var n int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM mysql.user WHERE User <> '' AND Host NOT IN ('', '%', 'localhost') AND Host NOT REGEXP '^[0-9.%_/]+$' AND Host NOT LIKE '%:%'").Scan(&n)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return true, nil
	} else if err != nil {
		return false, fmt.Errorf("reading the accounts: %w", err)
	}
	return n > 0, nil
}

// setByStatement are the variables whose present value a statement has set, by MariaDB's own
// record; MySQL 8 has none that a user without further rights may read.
func setByStatement(ctx context.Context, db *sql.DB) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, "SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES WHERE GLOBAL_VALUE_ORIGIN = 'SQL'")
	var refused *mysql.MySQLError
	if errors.As(err, &refused) { // unknown table or column
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading who set the server's variables: %w", err)
	}
	defer rows.Close()
	all := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("reading who set the server's variables: %w", err)
		}
		all[name] = true
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading who set the server's variables: %w", err)
	}
	return all, nil
}
