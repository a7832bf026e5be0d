package slowlog

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lines"
)

// Options say what of the logs counts. The zero value takes everything.
type Options struct {
	Since, Until time.Time         // entries of [Since, Until); zero for no limit. Entries without a time count
	Where        func(*Entry) bool // nil for all; see ParseWhere
	Workers      int               // 0: one per usable core
	BlockSize    int               // of package lines; 0 for the usual one
	Done         *atomic.Int64     // counts the bytes read so far, for whoever shows progress; nil for none
	PerSecond    bool              // rows get their counts by second

	since, until int64
}

// An Error says that a log could not be read as what it is, with advice.
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

// Read reads logs of statements, each of a format found by looking, and makes
// one profile of them. Logs that hold no entry, or of which less than 99 % can
// be read, are an *Error; an entry cut off at an end of a log is none.
func Read(ctx context.Context, inputs []*lines.Input, opt Options) (*iikanji.Profile, error) {
	opt.since, opt.until = -1<<63, 1<<63-1
	if !opt.Since.IsZero() {
		opt.since = opt.Since.UnixNano()
	}
	if !opt.Until.IsZero() {
		opt.until = opt.Until.UnixNano()
	}
	f := newFold(opt)
	var names []string
	for _, in := range inputs {
		format, err := f.read(ctx, in)
		if err != nil {
			return nil, err
		}
		if !contains(names, format) {
			names = append(names, format)
		}
	}
	p := f.profile()
	p.Intake.Format = strings.Join(names, ", ")
	p.Target = strings.Join(p.Intake.Files, ", ")
	return p, f.prove(p)
}

// read folds one log and names its format.
func (f *fold) read(ctx context.Context, in *lines.Input) (string, error) {
	head, err := in.Head(256 << 10)
	if err != nil {
		return "", err
	}
	f.begin(in.Name)
	switch format := detect(head); format {
	case "":
		return "", unknown(in.Name, head)
	case formatTrace:
		return format, f.traces(ctx, in)
	case formatDigests:
		return format, f.digestTSV(ctx, in)
	default:
		return format, f.slowLog(ctx, in)
	}
}

// slowLog reads a slow log block by block.
func (f *fold) slowLog(ctx context.Context, in *lines.Input) error {
	opt := lines.Options{Workers: f.opt.Workers, BlockSize: f.opt.BlockSize, MaxRecord: 16 << 20, Boundary: boundary, Partial: true}
	return f.blocks(ctx, in, opt, func() func(*batch, *lines.Block) {
		p := new(parser)
		return func(b *batch, blk *lines.Block) { b.parse(blk, p, blk.Offset == 0) }
	})
}

// blocks parses the blocks of a log in parallel and folds them in order.
func (f *fold) blocks(ctx context.Context, in *lines.Input, opt lines.Options, newParse func() func(*batch, *lines.Block)) error {
	r := lines.NewReader([]*lines.Input{in}, opt)
	s := &sequencer{waiting: map[int64]*batch{}, fold: f.add}
	err := r.Run(ctx, func(int) lines.Work {
		parse, b := newParse(), new(batch)
		return func(blk *lines.Block) error {
			n := len(blk.Data) // put hands the block on
			parse(b, blk)
			b = s.put(b)
			if f.opt.Done != nil {
				f.opt.Done.Add(int64(n))
			}
			return nil
		}
	})
	if err != nil {
		return err
	}
	if len(s.waiting) > 0 {
		panic(fmt.Sprintf("BUG: %d blocks of %s never met", len(s.waiting), in.Name))
	}
	if f.cutEnd {
		f.edges++
	}
	if err := in.Failed(); err != nil {
		f.cutOff = append(f.cutOff, err.Error())
	}
	return nil
}

// Names of formats in an Intake; slow logs are named by their servers.
const (
	formatTrace   = "SQLite trace"
	formatDigests = "performance_schema digests"
)

// detect names the format of a log from its first bytes, "" for none.
func detect(head []byte) string {
	switch {
	case looksLikeTrace(head):
		return formatTrace
	case looksLikeDigests(head):
		return formatDigests
	}
	at := 0
	if !startsEntry(head, 0) {
		if at = findEntry(head, 1); at < 0 {
			return ""
		}
	}
	entry := head[at:]
	if end := findEntry(entry, 1); end > 0 {
		entry = entry[:end]
	}
	has := func(s string) bool { return bytes.Contains(entry, []byte(s)) }
	switch {
	case has("\n# Thread_id: ") && has("QC_hit: "):
		return "MariaDB slow log"
	case has("\n# Schema: "), has("Log_slow_rate_type: "):
		return "Percona Server slow log"
	}
	return "MySQL slow log"
}

func unknown(name string, head []byte) error {
	if len(head) == 0 {
		return &Error{name + " is empty", []string{"is the slow log on? SET GLOBAL slow_query_log=1, long_query_time=0"}}
	}
	return &Error{fmt.Sprintf("%s is no log of statements: it begins with %q", name, clip(string(bytes.ToValidUTF8(head[:min(len(head), 60)], []byte("\uFFFD"))), 60)),
		[]string{"it reads slow logs of MariaDB, MySQL and Percona Server, performance_schema digests as TSV, and SQLite traces as JSON lines"}}
}

// prove fails when too little of the logs could be read to believe the rest.
func (f *fold) prove(p *iikanji.Profile) error {
	in := &p.Intake
	bad := in.Bad - f.edges
	switch {
	case in.Lines == 0 && in.Bad == 0:
		return &Error{Text: strings.Join(in.Files, ", ") + ": no entry in it"}
	case in.Lines == 0 || bad*100 > in.Lines+bad:
		e := &Error{Text: fmt.Sprintf("%d of %d entries could not be read", in.Bad, in.Bad+in.Lines)}
		for _, b := range in.BadLines {
			e.Advice = append(e.Advice, fmt.Sprintf("%s:%d: %s: %q", b.File, b.Line, b.Why, clip(b.Text, 60)))
		}
		return e
	case in.Left == in.Lines:
		return &Error{Text: fmt.Sprintf("all %d entries are outside of what was asked for", in.Lines), Advice: window(f)}
	}
	return nil
}

// window says what times the log has.
func window(f *fold) []string {
	if f.allLast == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the log is of %s to %s", unixTime(f.allFirst).Format(time.RFC3339), unixTime(f.allLast).Format(time.RFC3339))}
}

// notes says what was inferred or must be known to read the numbers.
func (f *fold) notes() []string {
	var out []string
	say := func(n int64, format string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	out = append(out, f.cutOff...)
	say(f.counts[bit(flagRate)], "%d entries are of a server that logs a sample only (log_slow_rate_limit): counts and sums are of the sample")
	say(f.counts[bit(flagRoutine)], "%d statements ran inside stored routines: their time is in the CALL too")
	say(f.counts[bit(flagOpen)], "%d statements end inside a string: cut off, or a string with a line that looks like an entry")
	say(f.over, "%d statements are in one row: the log has more digests than are kept")
	say(f.shapes.unfinished, "%d transactions have no COMMIT or ROLLBACK in the log")
	return out
}

func bit(f flags) int {
	n := 0
	for f > 1 {
		f >>= 1
		n++
	}
	return n
}
