package slowlog

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/filter"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/logs/unwrap"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// Options select the entries to count. The zero value selects all.
type Options struct {
	Since, Until filter.When      // only entries of [Since, Until); zero for no limit. Entries without a time count
	Where        Where            // only entries that meet it
	By           By               // what the rows are about
	Workers      int              // 0: one per usable core
	BlockSize    int              // of package lines; 0 for its default
	Done         *atomic.Int64    // counts the bytes read so far, to show progress; may be nil
	FoldTables   bool             // numbered tables, as in tenant_1, count as one
	PerSecond    bool             // rows have their counts by second
	Ticks        *tally.Window    // rows have their counts by tick; nil for none
	Each         func(*Execution) // is called for each counted entry, in the order of the log; may be nil
}

// An Error is a log that cannot be read, with advice.
type Error struct {
	Text   string
	Advice []string
}

func (e *Error) Error() string   { return e.Text }
func (e *Error) Hints() []string { return e.Advice }

const (
	whyLead = "the log begins inside an entry"
	whyCut  = "the entry is cut off"
	whyNone = "there is no statement"
)

// Read reads statement logs, detects the format of each, and returns one profile
// of all. It returns an *Error if less than 99 % of the entries can be read. An
// entry cut off at an end of a log does not count as unreadable.
func Read(ctx context.Context, inputs []*lines.Input, opt Options) (*iikanji.Profile, error) {
	formats := make([]string, len(inputs))
	for i, in := range inputs {
		var err error
		if formats[i], err = recognise(in); err != nil {
			return nil, err
		}
	}
	c := newCollector(opt)
	if err := c.resolveRange(inputs, formats); err != nil {
		return nil, err
	}
	for i, in := range inputs {
		if err := c.read(ctx, in, formats[i]); err != nil {
			return nil, err
		}
	}
	p := c.profile()
	p.Intake.Format = strings.Join(c.formats, ", ")
	p.Target = strings.Join(p.Intake.Files, ", ")
	return p, c.prove(p)
}

// recognise finds what carries a log, lets the input remove it, and returns the format
// of the log.
func recognise(in *lines.Input) (format string, err error) {
	head, err := in.Beginning(headSize)
	if err != nil {
		return "", err
	}
	c := unwrap.Find(head)
	text := c.Apply(head)
	format = detect(text)
	for _, possible := range c.Possible(head) {
		if format != "" {
			break
		}
		if format = detect(possible.Apply(head)); format != "" {
			c = possible
		}
	}
	if format == "" {
		return "", unknown(in.Name, text)
	}
	return format, in.Unwrap(c)
}

// prove returns an error if too many entries could not be read.
func (c *collector) prove(p *iikanji.Profile) error {
	in := &p.Intake
	bad := in.Bad - c.edges
	switch {
	case in.Lines == 0 && in.Bad == 0:
		return c.noStatements()
	case in.Lines == 0 || bad*100 > in.Lines+bad:
		e := &Error{Text: fmt.Sprintf("%d of %d entries could not be read", in.Bad, in.Bad+in.Lines)}
		for _, b := range in.BadLines {
			e.Advice = append(e.Advice, fmt.Sprintf("%s:%d: %s: %q", b.File, b.Line, b.Why, plain.CutBytes(b.Text, 60)))
		}
		return e
	case in.Left == in.Lines:
		return &Error{Text: fmt.Sprintf("all %d entries are left out by the filter or the times", in.Lines), Advice: window(c)}
	}
	return nil
}
