package ladder

import "fmt"

// An Error is a mistake in a file of a ladder.
type Error struct {
	File string
	Line int // from 1
	Err  error
	Hint string // what to do; may be ""
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the error without its place.
func (e *Error) Unwrap() error { return e.Err }

// Hints are shown below the error.
func (e *Error) Hints() []string {
	if e.Hint == "" {
		return nil
	}
	return []string{e.Hint}
}

// mistake is an Error whose file is added by its caller.
func mistake(line int, format string, args ...any) *Error {
	return &Error{Line: line, Err: fmt.Errorf(format, args...)}
}

func (e *Error) hint(text string) *Error {
	e.Hint = text
	return e
}
