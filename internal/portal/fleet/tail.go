package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// mostRead is how much of a log one part has at most, in bytes.
	mostRead = 8 << 20
	// mostRecord is how long a record may be: a statement has at most 16 MiB, as servers are set.
	mostRecord = 32 << 20
	// mostPieces is how many parts of a log one minute has at most.
	mostPieces = 16
)

// A tail is a log that is followed, also when it is renamed and made anew.
type tail struct {
	log   Log
	state string // the file with the position
	open  *os.File
	base  string // names the open file
	id    string // the same, with how often it was emptied
	at    int64  // the first byte that is in no part
	moved bool   // the path was another file in the window before
}

// A piece is a part of a log, as whole records.
type piece struct {
	file     string
	from, to int64
	text     []byte
}

// A position is what is kept of a tail.
type position struct {
	Path string `json:"path"`
	File string `json:"file"`
	At   int64  `json:"at"`
}

// openTail begins to follow a log: at its kept position, or else at its end.
func openTail(l Log, dir string) (*tail, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the agent's folder: %w", err)
	}
	path, err := filepath.Abs(l.Path)
	if err != nil {
		return nil, err
	}
	l.Path = path
	sum := sha256.Sum256([]byte(l.Kind + "\x00" + path))
	t := &tail{log: l, state: filepath.Join(dir, hex.EncodeToString(sum[:8])+".json")}
	var was position
	text, err := os.ReadFile(t.state)
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	known := err == nil
	if err := t.reopen(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return t, nil // it may come
		}
		return nil, err
	}
	switch {
	case known && (was.File == t.base || strings.HasPrefix(was.File, t.base+"+")):
		t.id, t.at = was.File, was.At
	case !known:
		if t.at, err = t.open.Seek(0, io.SeekEnd); err != nil {
			return nil, fmt.Errorf("finding the end of %s: %w", l.Path, err)
		}
	}
	return t, t.keep(piece{file: t.id, to: t.at})
}

// reopen opens the log by its path.
func (t *tail) reopen() error {
	f, err := os.Open(t.log.Path)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	id, err := fileID(f)
	if err != nil {
		f.Close()
		return err
	}
	if t.open != nil {
		t.open.Close()
	}
	t.open, t.base, t.id, t.at, t.moved = f, id, id, 0, false
	return nil
}

// fileID names a file as long as it exists: by device, inode, and the time of its birth where the
// file system tells it.
func fileID(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("reading the log: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", f.Name())
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", errors.New("this system has no inodes")
	}
	return fmt.Sprintf("%x-%x-%x", st.Dev, st.Ino, birth(f)), nil
}

// birth is when a file was made, in nanoseconds; 0 where the file system does not tell it.
func birth(f *os.File) int64 {
	var st unix.Statx_t
	if err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}

// read reads what was added, as whole records. A log that was renamed is read for one more window
// before the new one: its writer may not have opened the new one yet. One that was made shorter is
// read from its begin.
func (t *tail) read() (out []piece, err error) {
	if t.open == nil {
		if err := t.reopen(); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
	at, renamed := t.at, t.renamed()
	last := renamed && t.moved
	t.moved = renamed
	for range mostPieces {
		p, err := t.next(at, last)
		if err != nil {
			return out, err
		}
		if p.to > p.from {
			out, at = append(out, p), p.to
		}
		switch {
		case p.to-p.from >= mostRead/2: // there may be more
		case !last:
			return out, nil
		default:
			if err := t.reopen(); err != nil {
				return out, err
			}
			at, last = 0, false
		}
	}
	return out, nil
}

// renamed reports whether the path is another file than the open one.
func (t *tail) renamed() bool {
	f, err := os.Open(t.log.Path)
	if err != nil {
		return false // it may come
	}
	defer f.Close()
	id, err := fileID(f)
	return err == nil && id != t.base
}

// next reads one piece from a byte on. last says that nothing is added any more.
func (t *tail) next(at int64, last bool) (piece, error) {
	p := piece{file: t.id, from: at, to: at}
	info, err := t.open.Stat()
	if err != nil {
		return p, fmt.Errorf("reading the log: %w", err)
	}
	if info.Size() < at { // it was emptied: another file from now on
		return p, t.emptied(info.Size())
	}
	for _, most := range []int64{mostRead, mostRecord} {
		text := make([]byte, min(info.Size()-at, most))
		n, err := t.open.ReadAt(text, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return p, fmt.Errorf("reading the log: %w", err)
		}
		end, full := n, int64(n) == most
		if !last || full {
			end = wholeRecords(text[:n], t.log.Kind)
		}
		if end == 0 && full && most == mostRecord { // it becomes bad lines
			end = n
		}
		if p.text, p.to = text[:end], at+int64(end); end > 0 || !full {
			break
		}
	}
	return p, nil
}

// emptied begins anew with a log that was made shorter: what follows is not what the name of the
// file stood for.
func (t *tail) emptied(size int64) error {
	n := 0
	if text, ok := strings.CutPrefix(t.id, t.base+"+"); ok {
		n, _ = strconv.Atoi(text) // we wrote it
	}
	t.id, t.at = fmt.Sprintf("%s+%d", t.base, n+1), 0
	return fmt.Errorf("%s was made shorter, to %d bytes: what was added before was not read", filepath.Base(t.log.Path), size)
}

// wholeRecords is how many bytes of a text are whole records: lines, or entries of a slow log, which
// end where the next one begins.
func wholeRecords(text []byte, kind string) int {
	end := bytes.LastIndexByte(text, '\n') + 1
	if kind != "slow" {
		return end
	}
	begin := -1
	for _, mark := range []string{"\n# User@Host:", "\n# Time:"} {
		begin = max(begin, bytes.LastIndex(text[:end], []byte(mark)))
	}
	if begin < 0 {
		return 0 // at most one entry, which may go on
	}
	// The time of an entry is the line before its user.
	if line := bytes.LastIndexByte(text[:begin], '\n') + 1; bytes.HasPrefix(text[line:begin], []byte("# Time:")) {
		return line
	}
	return begin + 1
}

// keep writes the position behind a piece, which is spooled.
func (t *tail) keep(p piece) error {
	if p.file == t.id {
		t.at = p.to
	}
	text, err := json.Marshal(position{t.log.Path, p.file, p.to})
	if err == nil {
		err = replace(t.state, text)
	}
	if err != nil {
		return fmt.Errorf("keeping the position in a log: %w", err)
	}
	return nil
}

// replace writes a file whole: after a power cut it is the old or the new one.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
