package patch

import "fmt"

// A DiffError says which line of a diff does not fit, and why.
type DiffError struct {
	Line int // of the diff, from 1
	Why  string
	// Hint is what is there instead, or what to do; "" when there is nothing to add.
	Hint string
}

func (e *DiffError) Error() string { return fmt.Sprintf("line %d of the diff: %s", e.Line, e.Why) }

// Hints shows what is there, or what to do.
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

// shown quotes a line for an error: nothing in it can reach a terminal raw.
func shown(line string) string {
	if len(line) > maxShown {
		return fmt.Sprintf("%q…", line[:maxShown])
	}
	return fmt.Sprintf("%q", line)
}
