package portalbench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A tail reads the lines that are appended to a log. It follows a log that is rotated or
// cut, and waits for one that does not exist yet.
type tail struct {
	host host.Host
	path string
	file host.File // nil while there is none
	at   int64
	rest []byte
}

// maxRest is the longest line that is kept until its end arrives, in bytes.
const maxRest = 1 << 20

// openTail begins at the end of the log.
func openTail(h host.Host, path string) (*tail, error) {
	t := &tail{host: h, path: path}
	if err := t.open(true); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("watching the access log: %w", err)
	}
	return t, nil
}

func (t *tail) open(atEnd bool) error {
	f, err := t.host.Open(t.path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if t.file, t.at, t.rest = f, 0, nil; atEnd {
		t.at = info.Size()
	}
	return nil
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
}

// read counts the lines since the last call.
func (t *tail) read() (Batch, error) {
	var b Batch
	if t.file == nil {
		if err := t.open(false); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return b, nil
			}
			return b, fmt.Errorf("watching the access log: %w", err)
		}
	}
	if err := t.drain(&b); err != nil {
		return b, err
	}
	now, err := t.host.Stat(t.path)
	was, err2 := t.file.Stat()
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was moved, and is not made anew yet
		return b, nil
	case err != nil || err2 != nil:
		return b, fmt.Errorf("watching the access log: %w", errors.Join(err, err2))
	case !os.SameFile(now, was):
		t.close()
		if err := t.open(false); err != nil {
			return b, fmt.Errorf("watching the access log: %w", err)
		}
		return b, t.drain(&b)
	case now.Size() < t.at: // it was cut
		t.at, t.rest = 0, nil
	}
	return b, nil
}

// drain counts the whole lines until the end of the file.
func (t *tail) drain(b *Batch) error {
	buf := make([]byte, 256<<10)
	for {
		n, err := t.file.ReadAt(buf, t.at)
		t.at += int64(n)
		t.count(b, buf[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("watching the access log: %w", err)
		}
	}
}

func (t *tail) count(b *Batch, text []byte) {
	if t.rest = append(t.rest, text...); len(t.rest) > maxRest {
		if i := bytes.LastIndexByte(t.rest, '\n'); i < 0 {
			t.rest = t.rest[len(t.rest)-maxRest:]
		}
	}
	for {
		i := bytes.IndexByte(t.rest, '\n')
		if i < 0 {
			t.rest = bytes.Clone(t.rest) // give the read part back
			return
		}
		switch line := t.rest[:i]; {
		case len(line) == 0:
		case scenario.Resets(line):
			b.Inits++
			b.Before, b.After = b.Before+b.After, 0
		case b.Inits > 0:
			b.After++
		default:
			b.Before++
		}
		t.rest = t.rest[i+1:]
	}
}
