package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"time"
)

// busyWait is how long a statement waits for a lock of another connection.
const busyWait = 2 * time.Second

// ErrNotPlain is the error of a path that is not a regular file, as a symbolic link. The
// account of an app may write to the folder: a link could lead to any other file.
var ErrNotPlain = errors.New("it is not a regular file")

// A mode is how a file is opened.
type mode struct {
	write   bool
	recover bool // roll a journal back that a killed process left, and only read
	wait    time.Duration
}

// open opens a file with one connection. Functions in a hostile schema are not
// trusted (trusted_schema).
func open(ctx context.Context, path string, m mode) (*sql.DB, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("opening %s: %w", path, ErrNotPlain)
	}
	q := url.Values{"_pragma": {"busy_timeout(" + strconv.FormatInt(m.wait.Milliseconds(), 10) + ")", "trusted_schema(0)", "cell_size_check(1)"}}
	if m.write {
		q.Set("mode", "rw")
		q.Set("_txlock", "immediate")
	} else {
		q.Set("mode", "ro")
		if m.recover {
			q.Set("mode", "rw")
		}
		q.Add("_pragma", "query_only(1)")
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), db.Close())
	}
	return db, nil
}

// memory opens an empty database that exists in memory only.
func memory() (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, fmt.Errorf("opening a database in memory: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// gone reports whether a file does not exist any more: the app or its initialize may
// remove a file at any time.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
