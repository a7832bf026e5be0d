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

// maxLine is the longest line of an event, in bytes; a longer line is bad.
const maxLine = 4 << 20

// A badLine is a line of the journal that is not an event: damaged, or edited by hand.
type badLine struct {
	Line int    // from 1
	Text string // its first bytes, valid UTF-8
	Why  string
	at   int // how many events precede it
}

// A journalData is the parsed content of a journal.
type journalData struct {
	events []Event
	bad    []badLine
	whole  int64  // bytes of whole lines: the offset of the next event
	torn   []byte // bytes after the last line feed
}

// readJournal reads every event. Bytes after the last line feed are a line that
// was being written at a power cut: it was never acknowledged, so it is torn,
// not bad. The only error besides those of I/O is a newer version.
func readJournal(r io.Reader, rs roots) (*journalData, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	var rd journalData
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		if !ended {
			rd.torn = line
			break
		}
		rd.whole += int64(len(line)) + 1
		data = rest
		if err := rd.add(rs.decode(line, jsonForm), n); err != nil {
			return nil, fmt.Errorf("reading the journal: line %d: %w", n, err)
		}
	}
	return &rd, nil
}

// add parses line n. Empty lines (from a hand edit or a merge) are ignored.
func (rd *journalData) add(line []byte, n int) error {
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
		rd.bad = append(rd.bad, badLine{Line: n, Text: quote(line), Why: err.Error(), at: len(rd.events)})
	}
	return nil
}

var errTooLong = fmt.Errorf("longer than %d bytes", maxLine)

// quote returns the first bytes of hostile text for a message.
func quote(b []byte) string {
	const most = 80
	s := string(b[:min(len(b), most)])
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(b) > most {
		s += "…"
	}
	return s
}

// A journal is the journal file of a writer.
type journal struct {
	path string
	f    *os.File
	size int64 // the offset of the next line
	// broken is the error after which the file could not be cut to whole lines.
	broken error
}

// openJournal opens or creates the journal, reads it and cuts off a torn line.
func openJournal(path string, rs roots) (*journal, *journalData, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, ownFile)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the journal: %w", err)
	}
	rd, err := readJournal(f, rs)
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

// cut truncates the file to its whole lines.
func (j *journal) cut() error {
	if err := j.f.Truncate(j.size); err != nil {
		return err
	}
	return j.f.Sync()
}

// append writes one line and syncs it. When that fails (a full disk), the part
// that was written is cut off again.
func (j *journal) append(line []byte) error {
	if j.broken != nil {
		return fmt.Errorf("writing the journal: its state is unknown after an earlier error: %w", j.broken)
	}
	if err := j.unchanged(); err != nil {
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

// unchanged returns an error if another process replaced or edited the file, as
// git checkout does. Events written to a replaced file would be lost.
func (j *journal) unchanged() error {
	now, err := os.Stat(j.path)
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	was, err := j.f.Stat()
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	if !os.SameFile(now, was) || was.Size() != j.size {
		return &hintError{fmt.Errorf("writing the journal: %s was changed by another process", j.path),
			[]string{"do not change the history folder while iikanji runs (git checkout, editors)"}}
	}
	return nil
}
