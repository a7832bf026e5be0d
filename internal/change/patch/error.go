package patch

import "fmt"

// A DiffError is a mistake in a line of a diff, or a line that does not match
// its file.
type DiffError struct {
	Line int // of the diff, from 1
	Why  string
	Hint string // what to do; may be ""
}

func (e *DiffError) Error() string { return fmt.Sprintf("line %d of the diff: %s", e.Line, e.Why) }

// Hints returns what to do about the error.
func (e *DiffError) Hints() []string {
	if e.Hint == "" {
		return nil
	}
	return []string{e.Hint}
}

func wrong(line int, format string, args ...any) *DiffError {
	return &DiffError{Line: line, Why: fmt.Sprintf(format, args...)}
}

func (e *DiffError) hint(format string, args ...any) *DiffError {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// maxShown is how many bytes of a line errors show.
const maxShown = 120

// shown quotes a line for an error, so that no control character reaches a terminal.
func shown(line string) string {
	if len(line) > maxShown {
		return fmt.Sprintf("%q…", line[:maxShown])
	}
	return fmt.Sprintf("%q", line)
}
