package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxLine bounds what one event may hold; a longer line is bad, not an event.
const maxLine = 4 << 20

// A BadLine is a line of the journal that is no event: damaged, or edited by hand.
type BadLine struct {
	Line int    // from 1
	Text string // its first bytes, valid UTF-8
	Why  string
}

// A reading is what a journal holds.
type reading struct {
	events []Event
	bad    []BadLine
	whole  int64  // bytes of whole lines: where the next event goes
	torn   []byte // first bytes of what follows, if anything
}

// readJournal reads every event. What follows the last newline is a line that
// was being written when the power went: it was never acknowledged, so it is
// torn, not bad. The only error besides I/O is a newer version.
func readJournal(r io.Reader) (*reading, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	var rd reading
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if !ended {
			rd.torn = line
			break
		}
		rd.whole += int64(len(line)) + 1
		data = rest
		if err := rd.add(line, n); err != nil {
			return nil, fmt.Errorf("reading the journal: line %d: %w", n, err)
		}
	}
	return &rd, nil
}

// add takes one whole line. Empty lines are nothing (a hand edit, a merge).
func (rd *reading) add(line []byte, n int) error {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var e Event
	err := error(errTooLong)
	if len(line) <= maxLine {
		e, err = parseEvent(line)
	}
	var newer *newerError
	switch {
	case err == nil:
		rd.events = append(rd.events, e)
	case errors.As(err, &newer):
		return err
	default:
		rd.bad = append(rd.bad, BadLine{Line: n, Text: quote(line), Why: err.Error()})
	}
	return nil
}

var errTooLong = fmt.Errorf("longer than %d bytes", maxLine)

// quote cuts the first bytes of hostile text for a message.
func quote(b []byte) string {
	const most = 80
	s := string(b[:min(len(b), most)])
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(b) > most {
		s += "…"
	}
	return s
}

// A journal is the open file of a writer.
type journal struct {
	path string
	f    *os.File
	size int64 // where the next line goes
	// broken is set once the file could not be brought back to whole lines.
	broken error
}

// openJournal creates the journal where there is none, reads it and cuts off a torn line.
func openJournal(path string) (*journal, *reading, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the journal: %w", err)
	}
	rd, err := readJournal(f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	j := &journal{path: path, f: f, size: rd.whole}
	if len(rd.torn) > 0 {
		if err := j.cut(); err != nil {
			f.Close()
			return nil, nil, fmt.Errorf("cutting off the torn last line of the journal: %w", err)
		}
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		f.Close()
		return nil, nil, err
	}
	return j, rd, nil
}

// cut brings the file back to its whole lines.
func (j *journal) cut() error {
	if err := j.f.Truncate(j.size); err != nil {
		return err
	}
	return j.f.Sync()
}

// append writes one line and syncs it. When that fails (a full disk), the
// part that was written is taken away again.
func (j *journal) append(line []byte) error {
	if j.broken != nil {
		return fmt.Errorf("writing the journal: it is in an unknown state since: %w", j.broken)
	}
	if err := j.unmoved(); err != nil {
		return err
	}
	_, err := j.f.WriteAt(line, j.size)
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		if cut := j.cut(); cut != nil {
			j.broken = err
		}
		return spaceHint(fmt.Errorf("writing the journal: %w", err))
	}
	j.size += int64(len(line))
	return nil
}

// unmoved refuses a journal that somebody replaced or edited under us, as git
// checkout does: events written to the old file would be lost in silence.
func (j *journal) unmoved() error {
	now, err := os.Stat(j.path)
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	was, err := j.f.Stat()
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	if !os.SameFile(now, was) || was.Size() != j.size {
		return &hintError{fmt.Errorf("writing the journal: %s was changed by somebody else", j.path),
			[]string{"leave the history folder alone while iikanji runs (git checkout, editors)"}}
	}
	return nil
}
