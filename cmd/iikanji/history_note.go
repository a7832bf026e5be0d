package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/report"
)

type historyNoteCmd struct {
	Target string `arg:"" help:"Target whose history to add to, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	Number int    `arg:"" name:"run" help:"Number of the run, or 0 for a note about the whole history."`
	Text   string `arg:"" help:"The note."`

	placeFlags
}

// Help returns the long help of the command.
func (historyNoteCmd) Help() string {
	return `Adds a note to a run, or to the whole history. Notes are in the journal, in
iikanji history show and in the report; they are never removed.

Examples:
  iikanji history note isucondition 7 "cache warmed by hand"
  iikanji history note isucondition 0 "team day 2"

Exit status: 0 added, 1 failed to run (also: there is no such run), 2 usage.`
}

// maxNote is the longest note, in bytes.
const maxNote = 10_000

// Run runs the command.
func (c *historyNoteCmd) Run(ctx context.Context, e *env) error {
	text := strings.TrimSpace(c.Text)
	switch {
	case text == "":
		return usageError("the note is empty")
	case len(text) > maxNote:
		return usageError("the note has %d bytes, %d are allowed", len(text), maxNote)
	case !utf8.ValidString(text):
		return usageError("the note is not valid UTF-8")
	case c.Number < 0:
		return usageError("run %d: want the number of a run, or 0", c.Number)
	}
	h, err := c.openToWrite(ctx, e, c.Target)
	if err != nil {
		return err
	}
	defer h.Close()
	if c.Number > 0 {
		if _, err := detailOf(h, c.Number); err != nil {
			return err
		}
	}
	if err := h.Append(history.Event{What: history.Noted, Run: iikanji.RunID(c.Number), Text: text}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "noted: %s\n", report.Clean(text))
	return err
}

// openToWrite opens the history of a target, which must exist, and prints its damage.
func (f placeFlags) openToWrite(ctx context.Context, e *env, target string) (*history.History, error) {
	a, err := findTarget(target)
	if err != nil {
		return nil, err
	}
	dir, hist, err := f.folders(a)
	if err != nil {
		return nil, err
	}
	h, err := openExisting(ctx, e, a, dir, hist, acting{})
	if err == nil {
		printDamage(e, h)
	}
	return h, err
}
