package change

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// VariablePlace is the place of an op on a global variable of a database:
// "service/@@name".
func VariablePlace(service, name string) string { return service + "/@@" + name }

// SetGlobal is the statement that sets a variable to a value, spelled as the
// server shows it.
func SetGlobal(name, value string) string {
	if !plainValue.MatchString(value) {
		value = "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(value) + "'"
	}
	return "SET GLOBAL " + name + " = " + value
}

// plainValue matches the values that need no quotes: numbers and words.
var plainValue = regexp.MustCompile(`^(?:-?[0-9.]+|[A-Za-z_][A-Za-z0-9_]*)$`)

// onDatabase runs a statement (none if "") on a place of a database, a table or a
// variable, and returns the content of the place.
func (s *Site) onDatabase(ctx context.Context, place, stmt string) (string, error) {
	service, name, ok := strings.Cut(place, "/@@")
	if !ok {
		return s.onTable(ctx, place, stmt)
	}
	return s.onVariable(ctx, service, name, stmt)
}

var variableName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// onVariable runs a statement (none if "") on a global variable and returns its
// value. It is an error if the server sets another value than the statement's (a
// bound, a step): a restart with the configuration file would give another one.
func (s *Site) onVariable(ctx context.Context, service, name, stmt string) (string, error) {
	db := s.Services[service].DB()
	if db == nil || !variableName.MatchString(name) {
		return "", fmt.Errorf("%s is not a variable of a database", VariablePlace(service, name))
	}
	if stmt != "" {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return "", fmt.Errorf("setting %s of %s: %w", name, service, err)
		}
	}
	var shown, value string
	err := db.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name = '"+name+"'").Scan(&shown, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("%s has no variable %s", service, name)
	} else if err != nil {
		return "", fmt.Errorf("reading %s of %s: %w", name, service, err)
	}
	if stmt != "" && stmt != SetGlobal(name, value) {
		return "", fmt.Errorf("%s is %s after %q", name, value, stmt)
	}
	return value + "\n", nil
}
