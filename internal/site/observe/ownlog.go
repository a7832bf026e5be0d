package observe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/host"
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

// A tailFile is a part of a file, from a byte on: to another byte, or to its end if that is
// 0.
type tailFile struct {
	host.File
	from, to int64
	at       int64
}

// openTail opens a log of a host from a byte on, as long as it is now.
func openTail(h host.Host, path string, from int64) (*lines.Input, error) {
	f, err := h.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	if from == 0 {
		return lines.File(path, f)
	}
	return lines.File(path, &tailFile{File: f, from: from})
}

// ReadAt implements io.ReaderAt.
func (t *tailFile) ReadAt(b []byte, off int64) (int, error) {
	if left := t.to - t.from - off; t.to > 0 && left < int64(len(b)) {
		n, err := t.File.ReadAt(b[:max(left, 0)], t.from+off)
		if err == nil {
			err = io.EOF
		}
		return n, err
	}
	return t.File.ReadAt(b, t.from+off)
}

// Read implements io.Reader.
func (t *tailFile) Read(b []byte) (int, error) {
	n, err := t.ReadAt(b, t.at)
	t.at += int64(n)
	return n, err
}

// Stat implements lines.OpenFile: the size is that of the end. A log that became
// shorter was replaced.
func (t *tailFile) Stat() (fs.FileInfo, error) {
	info, err := t.File.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < max(t.from, t.to) {
		return nil, fmt.Errorf("%s became shorter", info.Name())
	}
	end := info.Size()
	if t.to > 0 {
		end = t.to
	}
	return tailInfo{info, end - t.from}, nil
}

type tailInfo struct {
	fs.FileInfo
	size int64
}

// Size implements fs.FileInfo.
func (i tailInfo) Size() int64 { return i.size }
