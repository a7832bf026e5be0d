package observe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// A PartialLogError is a slow log that does not contain every statement.
type PartialLogError struct{ Why string }

func (e *PartialLogError) Error() string {
	return "the slow log does not contain every statement: " + e.Why
}

// ownSlowLog finds the slow log that a server writes already, for an observation
// that must change no setting. It is an error if the server logs only some
// statements.
func ownSlowLog(ctx context.Context, db *sql.DB) (*slowSwitch, error) {
	var on bool
	var output, file, folder string
	var limit float64
	err := db.QueryRowContext(ctx, "SELECT @@GLOBAL.slow_query_log, @@GLOBAL.log_output, @@GLOBAL.slow_query_log_file, @@GLOBAL.datadir, @@GLOBAL.long_query_time").
		Scan(&on, &output, &file, &folder, &limit)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading how the slow log is written: %w", err)
	case !on:
		return nil, &PartialLogError{"it is off"}
	case !strings.Contains(strings.ToUpper(output), "FILE"):
		return nil, &PartialLogError{"log_output is " + output}
	case limit > 0:
		return nil, &PartialLogError{fmt.Sprintf("long_query_time is %g s", limit)}
	case file == "":
		return nil, errors.New("the server names no slow log")
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(folder, file)
	}
	return &slowSwitch{path: file, own: true}, nil
}
