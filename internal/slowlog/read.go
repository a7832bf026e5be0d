package slowlog

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lines"
)

// Options select the entries to count. The zero value selects all.
type Options struct {
	Since, Until time.Time         // only entries of [Since, Until); zero for no limit. Entries without a time count
	Where        func(*Entry) bool // only entries for which it is true; nil for all; see ParseWhere
	Workers      int               // 0: one per usable core
	BlockSize    int               // of package lines; 0 for its default
	Done         *atomic.Int64     // counts the bytes read so far, to show progress; may be nil
	FoldTables   bool              // numbered tables, as in tenant_1, count as one
	PerSecond    bool              // rows have their counts by second

	since, until int64
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
	opt.since, opt.until = -1<<63, 1<<63-1
	if !opt.Since.IsZero() {
		opt.since = opt.Since.UnixNano()
	}
	if !opt.Until.IsZero() {
		opt.until = opt.Until.UnixNano()
	}
	c := newCollector(opt)
	for _, in := range inputs {
		if err := c.read(ctx, in); err != nil {
			return nil, err
		}
	}
	p := c.profile()
	p.Intake.Format = strings.Join(c.formats, ", ")
	p.Target = strings.Join(p.Intake.Files, ", ")
	return p, c.prove(p)
}

// read reads one log.
func (c *collector) read(ctx context.Context, in *lines.Input) error {
	head, err := in.Head(256 << 10)
	if err != nil {
		return err
	}
	c.begin(in.Name)
	format := detect(head)
	if !contains(c.formats, format) {
		c.formats = append(c.formats, format)
	}
	switch format {
	case "":
		return unknown(in.Name, head)
	case formatTrace:
		return c.traces(ctx, in)
	case formatDigests:
		return c.digestTSV(ctx, in)
	case formatGeneral:
		return c.generalLog(ctx, in)
	case formatPostgres:
		return c.postgres(ctx, in, postgresBoundary, func() pgScanner { return stderrScanner{} })
	case formatCSVLog:
		return c.postgres(ctx, in, csvBoundary, func() pgScanner { return new(csvScanner) })
	case formatJSONLog:
		return c.postgres(ctx, in, lines.Lines, func() pgScanner { return jsonScanner{} })
	default:
		return c.slowLog(ctx, in)
	}
}

// slowLog reads a slow log block by block.
func (c *collector) slowLog(ctx context.Context, in *lines.Input) error {
	opt := lines.Options{Workers: c.opt.Workers, BlockSize: c.opt.BlockSize, MaxRecord: 16 << 20, Boundary: boundary, Partial: true}
	return c.blocks(ctx, in, opt, func() func(*batch, *lines.Block) {
		p := &parser{fp: Fingerprinter{FoldTables: c.opt.FoldTables}}
		return func(b *batch, blk *lines.Block) { b.parse(blk, p, blk.Offset == 0) }
	})
}

// blocks parses the blocks of a log in parallel and collects them in order.
func (c *collector) blocks(ctx context.Context, in *lines.Input, opt lines.Options, newParse func() func(*batch, *lines.Block)) error {
	r := lines.NewReader([]*lines.Input{in}, opt)
	s := &sequencer{waiting: map[int64]*batch{}, take: c.add}
	err := r.Run(ctx, func(int) lines.Work {
		parse, b := newParse(), new(batch)
		return func(blk *lines.Block) error {
			n := len(blk.Data) // blk must not be used after put
			parse(b, blk)
			b = s.put(b)
			if c.opt.Done != nil {
				c.opt.Done.Add(int64(n))
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	if len(s.waiting) > 0 {
		panic(fmt.Sprintf("BUG: %d blocks of %s are missing", len(s.waiting), in.Name))
	}
	if c.cutEnd {
		c.edges++
	}
	if err := in.Failed(); err != nil {
		c.cutOff = append(c.cutOff, err.Error())
	}
	return nil
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
			e.Advice = append(e.Advice, fmt.Sprintf("%s:%d: %s: %q", b.File, b.Line, b.Why, clip(b.Text, 60)))
		}
		return e
	case in.Left == in.Lines:
		return &Error{Text: fmt.Sprintf("all %d entries are left out by the filter or the times", in.Lines), Advice: window(c)}
	}
	return nil
}

// window returns the times of the log as advice.
func window(c *collector) []string {
	if c.allLast == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the log covers %s to %s", unixTime(c.allFirst).Format(time.RFC3339), unixTime(c.allLast).Format(time.RFC3339))}
}
