package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/term"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/site/livesite"
)

// An env is the part of the process that a command may use.
type env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	// TTY is true if Stderr is a terminal, where progress lines can be redrawn.
	TTY bool
	// Cols is the width of tables, in terminal columns.
	Cols int
	// Color is true if Stdout shows colours.
	Color bool
	// Rest is the least time between two runs of a search; 0 means
	// field.DefaultRest. Only tests set it.
	Rest time.Duration
	// LeastLoad is the shortest load of runs that tune accepts; 0 means
	// defaultLeastLoad. Only tests set it.
	LeastLoad time.Duration
	// Machine is the machine whose disturbances are watched; nil for this one. Only
	// tests set it.
	Machine host.Host
	// Self is the path of this program for commands that start it again; "" asks the system.
	// Only tests set it.
	Self string
}

func systemEnv() *env {
	e := &env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now, Cols: 80}
	e.TTY = term.IsTerminal(int(os.Stderr.Fd()))
	if term.IsTerminal(int(os.Stdout.Fd())) {
		e.Color = os.Getenv("NO_COLOR") == ""
		if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w >= 40 {
			e.Cols = w
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= 40 {
		e.Cols = n
	}
	return e
}

// width returns the current number of columns: the terminal may have been resized
// since the start.
func (e *env) width() int {
	f, ok := e.Stderr.(*os.File)
	if !ok || !e.TTY {
		return e.Cols
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return e.Cols
}

// Exit statuses; they are listed in every command's help.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitChecks = 3 // checks failed
)

// An exitError ends the process with a status. Err is nil if the message was
// printed already; Hints are printed below Err.
type exitError struct {
	Status int
	Err    error
	Hints  []string
}

func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *exitError) Unwrap() error { return e.Err }

// hinted adds hints to an error: lines with a way out.
func hinted(err error, hints ...string) error {
	return &exitError{Status: exitFailed, Err: err, Hints: hints}
}

// usageError is a mistake on the command line.
func usageError(format string, args ...any) error {
	return &exitError{Status: exitUsage, Err: fmt.Errorf(format, args...)}
}

// A hinter is an error of another package that has hints.
type hinter interface{ Hints() []string }

// explain prints an error with its hints and returns the exit status.
func explain(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	status := exitFailed
	var hints []string
	var h hinter
	if errors.As(err, &h) {
		hints = h.Hints()
	}
	var on *livesite.StillOnError // beside another error, whose hints come first
	if errors.As(err, &on) && !slices.Equal(hints, on.Hints()) {
		hints = append(slices.Clone(hints), on.Hints()...)
	}
	var ee *exitError
	if errors.As(err, &ee) {
		status, hints = ee.Status, append(hints, ee.Hints...)
		if ee.Err == nil {
			return status
		}
	}
	// An error may quote a file or a server: a diff of moved ground has any bytes.
	fmt.Fprintf(w, "iikanji: %s\n", plain.Text(err.Error()))
	for _, h := range hints {
		fmt.Fprintf(w, "hint: %s\n", plain.Text(h))
	}
	return status
}
