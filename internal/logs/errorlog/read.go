package errorlog

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/unwrap"
)

// Options describe the logs. The zero value is the output of any program.
type Options struct {
	Form    Form
	Target  string // the service that wrote them
	Workers int    // 0: one per usable core
}

// headSize is how many bytes of a log decide on what carries it.
const headSize = 64 << 10

const (
	// maxMessages limits the distinct messages of one worker. Further messages
	// share one row.
	maxMessages = 2000
	maxRoutes   = 50  // of one message
	maxExample  = 300 // bytes
	maxBadLines = 3
)

// other is the message of the row for everything beyond maxMessages.
const other = "(other messages)"

// Read counts the messages of logs. An empty log gives an empty profile and no
// error, because most services log no errors. Lines that do not have the log's
// form count as bad, and also have rows.
func Read(ctx context.Context, inputs []*lines.Input, opt Options) (*iikanji.Profile, error) {
	for _, in := range inputs {
		head, err := in.Beginning(headSize)
		if err == nil {
			err = in.Unwrap(unwrap.Find(head))
		}
		if err != nil {
			return nil, err
		}
	}
	reader := lines.NewReader(inputs, lines.Options{Workers: opt.Workers, Whole: true})
	workers := make([]*counter, reader.Workers())
	err := reader.Run(ctx, func(w int) lines.Work {
		workers[w] = &counter{form: opt.Form, rows: map[string]*row{}}
		return workers[w].block
	})
	if err != nil {
		return nil, err
	}
	all := &counter{rows: map[string]*row{}}
	for _, w := range workers {
		if w != nil {
			all.merge(w)
		}
	}
	p := all.profile(func(at place) (string, int64) {
		in := inputs[at.file]
		before, _ := in.LinesBefore() // the number is for display only: an error here must not fail the reading
		return in.Name, before + reader.Line(at.file, at.seq, at.line)
	})
	p.Target = opt.Target
	for _, in := range inputs {
		p.Intake.Files = append(p.Intake.Files, in.Name)
	}
	p.Intake.Format = [...]string{"text", "nginx", "mariadb"}[opt.Form]
	return p, nil
}

// A place is a line of an input, counted from the beginning of its block.
type place struct {
	file, seq int
	line      int64
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.file, o.file), cmp.Compare(p.seq, o.seq), cmp.Compare(p.line, o.line))
}

// A sighting is a line and its place.
type sighting struct {
	text string
	at   place
}

// A row is what one worker counts of one message.
type row struct {
	level, kind, message string
	count, bytes         int64
	routes               map[string]int64
	first                sighting
}

// A counter is one worker.
type counter struct {
	form  Form
	rows  map[string]*row
	key   []byte
	lines int64
	bytes int64
	bad   int64
	seen  []sighting // the first few bad lines
}

func (c *counter) block(b *lines.Block) error {
	data := b.Data
	for n := int64(0); len(data) > 0; n++ {
		line := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			line, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		b.Records++
		c.bytes += int64(len(line)) + 1
		c.lines++
		if blank(line) {
			continue
		}
		c.add(line, place{b.File, b.Seq, n})
	}
	return nil
}

// add counts one line.
func (c *counter) add(line []byte, at place) {
	p := c.form.parse(lines.View(line))
	if p.bad {
		c.bad++
		if len(c.seen) < maxBadLines {
			c.seen = append(c.seen, sighting{clip(line), at})
		}
	}
	r := c.row(p)
	if r.count == 0 || at.compare(r.first.at) < 0 {
		r.first = sighting{clip(line), at}
	}
	r.count++
	r.bytes += int64(len(line)) + 1
	if route := routeOf(p.request); route != "" {
		r.route(route, 1)
	}
}

// row returns the row of a line. All continuation lines share one row, because
// their number and bytes matter, not their text.
func (c *counter) row(p parsed) *row {
	if p.cont {
		p = parsed{message: "(continuation lines)"}
	}
	kind := kindOf(p)
	if kind == Request {
		p.message = requestLine
	}
	c.key = fold(append(append(append(c.key[:0], p.level...), ' '), kind...), " "+p.message)
	r := c.rows[string(c.key)]
	if r != nil {
		return r
	}
	if len(c.rows) >= maxMessages && p.message != other {
		return c.row(parsed{message: other})
	}
	r = &row{level: p.level, kind: kind, message: strings.TrimSpace(printable(string(c.key[len(p.level)+1+len(kind):])))}
	if p.message == other || p.message == requestLine {
		r.message = p.message
	}
	c.rows[string(c.key)] = r
	return r
}

func (r *row) route(name string, n int64) {
	if r.routes == nil {
		r.routes = map[string]int64{}
	}
	if _, known := r.routes[name]; known || len(r.routes) < maxRoutes {
		r.routes[name] += n
	}
}

func clip(line []byte) string {
	return printable(string(line[:min(len(line), maxExample)]))
}

func (c *counter) merge(o *counter) {
	c.lines, c.bytes, c.bad = c.lines+o.lines, c.bytes+o.bytes, c.bad+o.bad
	c.seen = append(c.seen, o.seen...)
	for key, from := range o.rows {
		into := c.rows[key]
		if into == nil {
			c.rows[key] = from
			continue
		}
		if from.first.at.compare(into.first.at) < 0 {
			into.first = from.first
		}
		into.count, into.bytes = into.count+from.count, into.bytes+from.bytes
		for name, n := range from.routes {
			into.route(name, n)
		}
	}
}

// profile builds the profile, with the most frequent rows first.
func (c *counter) profile(where func(place) (string, int64)) *iikanji.Profile {
	p := &iikanji.Profile{Version: iikanji.ProfileVersion, Source: iikanji.Errors,
		Intake: iikanji.Intake{Lines: c.lines, Bytes: iikanji.Bytes(c.bytes), Bad: c.bad}}
	for _, key := range slices.Sorted(maps.Keys(c.rows)) {
		r := c.rows[key]
		out := iikanji.Row{Key: r.message, Count: r.count, Untimed: true, Log: &iikanji.LogRow{Level: r.level, Kind: r.kind, Message: r.message, Bytes: iikanji.Bytes(r.bytes)}}
		if c.lines > 0 {
			out.Share = float64(r.count) / float64(c.lines)
		}
		out.Example.Text = r.first.text
		out.Example.File, out.Example.Line = where(r.first.at)
		for _, name := range slices.Sorted(maps.Keys(r.routes)) {
			out.Log.Routes = append(out.Log.Routes, iikanji.Named{Name: name, Count: r.routes[name]})
		}
		slices.SortStableFunc(out.Log.Routes, func(a, b iikanji.Named) int { return cmp.Compare(b.Count, a.Count) })
		p.Rows = append(p.Rows, out)
	}
	slices.SortStableFunc(p.Rows, func(a, b iikanji.Row) int { return cmp.Compare(b.Count, a.Count) })
	slices.SortFunc(c.seen, func(a, b sighting) int { return a.at.compare(b.at) })
	for _, s := range c.seen[:min(len(c.seen), maxBadLines)] {
		file, line := where(s.at)
		p.Intake.BadLines = append(p.Intake.BadLines, iikanji.BadLine{File: file, Line: line, Text: s.text, Why: "it does not have the log's form"})
	}
	return p
}
