package sqlitefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// MaxFiles bounds the files of one folder: more are not the files of a site that can
// be read within seconds.
const MaxFiles = 10_000

// magic begins every database file. An empty database has a file of 0 bytes.
var magic = []byte("SQLite format 3\x00")

// A File is a database file with what its first 100 bytes contain.
type File struct {
	Path     string
	Folder   string        // the folder that was searched
	Size     iikanji.Bytes // with its write-ahead log
	PageSize iikanji.Bytes
	WAL      bool // its journal mode is WAL, which is a property of the file
}

// ErrElsewhere is the error of files on another host: SQLite opens local files only.
var ErrElsewhere = errors.New("SQLite files on another host cannot be opened")

// Find lists the database files below folders of a host, sorted by path. A folder that
// does not exist has none. Hidden names, symbolic links and empty files are left out.
func Find(ctx context.Context, h host.Host, folders ...string) ([]File, error) {
	if h.Name() != "" {
		return nil, ErrElsewhere
	}
	var out []File
	for _, dir := range folders {
		dir = filepath.Clean(dir)
		err := h.Walk(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // removed at this moment
				return nil
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case path != dir && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case !d.Type().IsRegular() || slices.ContainsFunc(out, func(f File) bool { return f.Path == path }):
				return nil
			}
			f, ok, err := look(h, path)
			if err != nil || !ok {
				return err
			}
			if len(out) == MaxFiles {
				return fmt.Errorf("more than %d database files", MaxFiles)
			}
			f.Folder = dir
			out = append(out, f)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("looking for database files below %s: %w", dir, err)
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// IsDatabase reports whether a file is a database: whether it has the header of one.
func IsDatabase(h host.Host, path string) (bool, error) {
	_, ok, err := look(h, path)
	return ok, err
}

// look reads the first bytes of a file. ok is false if it is not a database.
func look(h host.Host, path string) (f File, ok bool, err error) {
	if info, err := h.Stat(path); err == nil && !info.Mode().IsRegular() {
		return f, false, nil // a pipe blocks whoever opens it until somebody writes
	}
	in, err := h.Open(path)
	if gone(err) {
		return f, false, nil
	}
	if err != nil {
		return f, false, err
	}
	defer in.Close()
	head := make([]byte, 100)
	if _, err := io.ReadFull(in, head); err != nil || !bytes.HasPrefix(head, magic) {
		return f, false, nil // shorter than a header, or another format
	}
	info, err := in.Stat()
	if err != nil {
		return f, false, err
	}
	size := info.Size()
	if log, err := h.Stat(path + "-wal"); err == nil { // rows that are not in the file itself yet
		size += log.Size()
	}
	return File{Path: path, Size: iikanji.Bytes(size), PageSize: pageSize(head), WAL: head[18] == 2}, true, nil
}

// pageSize is the size of a page in a header; 1 means 65,536.
func pageSize(head []byte) iikanji.Bytes {
	n := iikanji.Bytes(binary.BigEndian.Uint16(head[16:]))
	if n == 1 {
		return 65536
	}
	return n
}
