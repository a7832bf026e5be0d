package accesslog

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// prove checks the share of bad lines of each file, and that lines are left to
// count.
func (r *reading) prove() error {
	var all intake
	for i := range r.files {
		in := &r.files[i]
		if err := r.proven(i); err != nil {
			return err
		}
		all.lines += in.lines
		all.left += in.left
		all.bad += in.bad
	}
	switch {
	case all.lines == 0:
		return r.empty()
	case all.left+all.bad == all.lines:
		return &EmptyError{Why: fmt.Sprintf("no line of %d meets the conditions", all.lines-all.bad),
			hints: []string{"--where, --since and --until exclude all of them"}}
	}
	return nil
}

func (r *reading) proven(file int) error {
	name, f, in := r.inputs[file].Name, r.formats[file], &r.files[file]
	if in.bad == 0 || float64(in.bad) <= r.opt.MaxBad*float64(in.lines) {
		return nil
	}
	e := &UnprovenError{file: file, Name: name, Format: f.name(), Lines: in.lines, Bad: in.bad, MaxBad: r.opt.MaxBad}
	for _, b := range r.badLines(in) {
		e.Examples = append(e.Examples, fmt.Sprintf("line %d: %s: %s", b.Line, b.Why, b.Text))
	}
	return e
}

// empty names the logs that have no lines.
func (r *reading) empty() error {
	var names []string
	from := false
	for _, in := range r.inputs {
		names = append(names, in.Name)
		from = from || in.Start() > 0
	}
	e := &EmptyError{Why: strings.Join(names, ", ") + " has no lines"}
	if from {
		e.Why, e.NothingNew = strings.Join(names, ", ")+" has no new lines", true
	}
	return e
}

// badLines returns the first bad lines of a file with their line numbers.
func (r *reading) badLines(in *intake) (all []iikanji.BadLine) {
	slices.SortFunc(in.badLines, func(a, b badLine) int {
		if a.at.before(b.at) {
			return -1
		}
		return 1
	})
	for _, b := range in.badLines[:min(len(in.badLines), tally.MaxBadLines)] {
		file, line := r.where(b.at)
		all = append(all, iikanji.BadLine{File: file, Line: line, Text: b.text, Why: b.why})
	}
	return all
}

// where returns the file and line number of a place.
func (r *reading) where(p place) (string, int64) {
	in := r.inputs[p.file]
	before, _ := in.LinesBefore() // an error here only makes the line number wrong
	return in.Name, before + r.reader.Line(int(p.file), int(p.seq), int64(p.line))
}

// profile builds the result.
func (r *reading) profile() (*iikanji.Profile, error) {
	p := &iikanji.Profile{Version: iikanji.ProfileVersion, Source: iikanji.Access, Notes: r.notes()}
	counted := span{math.MaxInt64, noTime}
	var names, formats []string
	for i := range r.files {
		in := &r.files[i]
		changes := r.changes(i)
		names = append(names, r.inputs[i].Name)
		if f := r.formats[i]; f != (blank{}) && !slices.Contains(formats, r.formatName(i)) {
			formats = append(formats, r.formatName(i))
		}
		p.Intake.Lines += in.lines
		p.Intake.Bytes += iikanji.Bytes(in.bytes)
		p.Intake.Bad += in.bad
		p.Intake.Left += in.left
		p.Intake.BadLines = append(p.Intake.BadLines, r.badLines(in)...)
		if in.last != noTime {
			p.Intake.First, p.Intake.Last = earlier(p.Intake.First, in.first), later(p.Intake.Last, in.last)
		}
		if in.other > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: %d other lines are messages and not requests", r.inputs[i].Name, in.other))
		}
		if in.unfinished {
			p.Notes = append(p.Notes, r.inputs[i].Name+": the last line is unfinished and is not counted")
		}
		p.Notes = append(p.Notes, changes...)
		counted = span{min(counted.first, in.counted.first), max(counted.last, in.counted.last)}
		if err := r.inputs[i].Failed(); err != nil {
			p.Notes = append(p.Notes, err.Error()+": the lines before are counted")
		}
	}
	p.Intake.Files, p.Intake.Format, p.Target = names, strings.Join(formats, ", "), strings.Join(names, ", ")
	p.Intake.BadLines = p.Intake.BadLines[:min(len(p.Intake.BadLines), tally.MaxBadLines)]
	if p.First, p.Last = p.Intake.First, p.Intake.Last; counted.last != noTime {
		p.First, p.Last = asTime(counted.first), asTime(counted.last)
	}
	r.rows(p)
	r.filterRows(p)
	tally.SortRows(p.Rows)
	tally.Share(p.Rows)
	if len(p.Rows) == 0 {
		return nil, &EmptyError{Why: "no route meets the conditions"}
	}
	p.Notes = append(p.Notes, openConnections(p.Rows)...)
	return p, nil
}

// longOpen is the mean time from which on answers 1xx are connections that stay open.
const longOpen = 5 * time.Second

// openConnections notes the rows of WebSockets: their time is how long the connections
// were open, not work, and makes the shares of all other rows small.
func openConnections(rows []iikanji.Row) (notes []string) {
	for _, r := range rows {
		if r.Web != nil && 2*r.Web.Status[1] >= r.Count && r.Mean >= longOpen {
			notes = append(notes, fmt.Sprintf("%s: its time is how long %d connections were open (status 101, WebSocket): --where 'status!=101' leaves them out", r.Key, r.Count))
		}
	}
	return notes
}

func earlier(t time.Time, at int64) time.Time {
	if u := asTime(at); t.IsZero() || u.Before(t) {
		return u
	}
	return t
}

func later(t time.Time, at int64) time.Time {
	if u := asTime(at); u.After(t) {
		return u
	}
	return t
}

// Keys of the rows that are not routes.
const (
	otherKey   = "(other routes)"
	nothingKey = "(no request)"
)

// rows adds the rows to a profile.
func (r *reading) rows(p *iikanji.Profile) {
	p.Slowest = r.slowest.sightings(r.where, r.text)
	add := func(key string, m string, w *row) {
		out := iikanji.Row{Key: key}
		w.fill(&out, r.opt.Ticks, r.where)
		out.Web.Method, out.Example.Text = m, r.text(out.Example.Text)
		p.Rows = append(p.Rows, out)
	}
	if r.table != nil {
		r.table.Settle()
		for key, w := range r.table.All() {
			add(r.text(strings.ToValidUTF8(string(key), "\uFFFD")), "", w)
		}
		if w, ok := r.table.Overflow(); ok {
			add("(others)", "", w)
			p.Notes = append(p.Notes, fmt.Sprintf("only %d keys are kept: the others are counted in (others)", maxRoutes))
		}
		return
	}
	for _, k := range r.routeRows() {
		add(k.key, k.method, k.row)
	}
	if r.nothing.count > 0 {
		add(nothingKey, "", r.nothing)
	}
	if r.overflow != nil {
		add(otherKey, "", r.overflow)
		p.Notes = append(p.Notes, fmt.Sprintf("there are more than %d routes: %d requests of the others are counted in %s; --route patterns would name them",
			maxRoutes, r.overflow.count, otherKey))
	}
}

// A keyedRow is a row of a route.
type keyedRow struct {
	key, method string
	row         *row
}

// routeRows lists the rows of routes. Routes that have the same text when they
// are decoded are one.
func (r *reading) routeRows() (all []keyedRow) {
	at := map[string]int{}
	r.tree.walk(func(segs []shape, b *branch) {
		for _, rows := range b.rows {
			key := r.text(routeKey(rows.method, segs))
			if i, ok := at[key]; ok && r.opt.DecodeURI {
				all[i].row.merge(rows.sides[0])
				continue
			}
			at[key] = len(all)
			all = append(all, keyedRow{key, methodName(rows.method, segs), rows.sides[0]})
		}
	})
	return all
}

// text decodes percent-encoded text if Options.DecodeURI is set and the result
// is printable.
func (r *reading) text(s string) string {
	if !r.opt.DecodeURI || strings.IndexByte(s, '%') < 0 {
		return s
	}
	decoded, err := url.PathUnescape(s)
	if err != nil || !utf8.ValidString(decoded) || strings.ContainsFunc(decoded, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return s
	}
	return decoded
}

// filterRows applies the conditions on routes.
func (r *reading) filterRows(p *iikanji.Profile) {
	for _, w := range r.opt.Where {
		if !w.ofRoute() {
			continue
		}
		p.Rows = slices.DeleteFunc(p.Rows, func(row iikanji.Row) bool {
			if w.holdsRow(&row) {
				return false
			}
			p.Intake.Left += row.Count
			return true
		})
	}
}
