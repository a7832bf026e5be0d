package sqlcache

import (
	"context"
	"database/sql/driver"
	"os"
	"sync/atomic"
)

// A program may put another file in the place of one that is open: remove it and copy
// it again, or rename another one. Connections that were open before go on with the
// file that has lost its name, and later ones have the new file. Their answers must not
// meet. So each file that a path has led to has a number, and a connection whose number
// is not the newest goes past the cache. The path is looked at when a connection is
// opened and when an announced program has ended.

// replaced is the number of a connection whose file is not known: it never equals the
// number of a space.
const replaced = -1

// stat describes the file at the path of a space; nil if the path has no file.
func (s *space) stat() os.FileInfo {
	info, err := os.Stat(s.path)
	if err != nil {
		return nil
	}
	return info
}

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b)
}

// look notes the file that the path leads to now.
func (s *space) look() {
	if s.path != "" {
		s.see(s.stat())
	}
}

// see notes a file. If it is another one than before, no kept answer is valid any more.
// It returns the number of the file.
func (s *space) see(info os.FileInfo) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !sameFile(s.file, info) {
		s.file = info
		atomic.AddInt64(&s.number, 1) // before the version moves: see lookup
		s.everything.doubt()
		s.everything.settle()
	}
	return atomic.LoadInt64(&s.number)
}

// openFile makes a connection to a file. SQLite opens the file at once, so that the path
// led to it between the two looks at the path, if both are of one file. A file that the
// connection has made is the one behind the path if no program ran meanwhile.
func (c *connector) openFile(ctx context.Context) (driver.Conn, error) {
	state, before := c.space.everything.load(), c.space.stat()
	base, err := c.base.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if path, known := fileOf(c.name); !known || path != c.space.path {
		c.cache.disable() // a link leads to another file than when the pool was opened
	}
	after := c.space.stat()
	certain := sameFile(before, after)
	if before == nil {
		certain = !inDoubt(state) && c.space.everything.load() == state
	}
	k := &conn{base: base, connector: c, cache: c.cache, file: c.space.see(after)}
	if !certain {
		k.file = replaced
	}
	return k, nil
}
