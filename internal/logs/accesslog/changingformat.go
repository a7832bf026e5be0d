package accesslog

import (
	"fmt"
	"slices"
	"strings"
)

// changing is a log whose format changes: lines are read in the format of the
// line before, or in the first other format that fits.
type changing struct{ formats []format }

type changingParser struct {
	parsers []parser
	current int // index of the format of the last line
}

func (f *changing) name() string {
	var names []string
	for _, g := range f.formats {
		if n := g.name(); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", then ")
}

func (f *changing) explain(why reason) string { return f.formats[len(f.formats)-1].explain(why) }

func (f *changing) has(want field) bool {
	return slices.ContainsFunc(f.formats, func(g format) bool { return g.has(want) })
}

func (f *changing) notes() (all []string) {
	timed := 0
	for _, g := range f.formats {
		all = append(all, g.notes()...)
		if g.has(took) {
			timed++
		}
	}
	if timed > 0 && timed < len(f.formats) {
		all = append(all, "a part of the log has no times: sums and percentiles are of the other lines")
	}
	return all
}

func (f *changing) parser(needs fieldSet) parser {
	p := &changingParser{}
	for _, g := range f.formats {
		p.parsers = append(p.parsers, g.parser(needs))
	}
	return p
}

func (p *changingParser) parse(line []byte, rec *record) reason {
	rec.clear() // parsers of texts keep fields that their format lacks
	why := p.parsers[p.current].parse(line, rec)
	if why <= 0 {
		return why
	}
	for i, other := range p.parsers {
		if i == p.current {
			continue
		}
		rec.clear()
		if why = other.parse(line, rec); why <= 0 {
			p.current = i
			return why
		}
	}
	return why
}

const (
	// maxFormats is how many formats one log may have.
	maxFormats = 4
	// maxBadSample and maxBadText bound the bad lines that are kept to find
	// another format.
	maxBadSample = 200
	maxBadText   = 4 << 10
)

// anotherFormat looks for a format of the bad lines of a log that did not pass.
// It returns false if there is none.
func (r *reading) anotherFormat(file int, overrides []override) (bool, error) {
	in := &r.files[file]
	old := []format{r.formats[file]}
	if c, ok := r.formats[file].(*changing); ok {
		old = c.formats
	}
	slices.SortFunc(in.badSample, func(a, b badLine) int { return a.at.compare(b.at) })
	var sample [][]byte
	for _, b := range in.badSample[:min(len(in.badSample), maxBadSample)] {
		sample = append(sample, []byte(b.text))
	}
	if len(sample) < 2 || len(old) == maxFormats || r.opt.Format != "" {
		return false, nil
	}
	var next format
	if r.opt.Nginx != nil {
		f, err := configuredFormat(r.opt.Nginx, r.inputs[file].Name, sample)
		if err != nil {
			return false, nil // the configuration has no other format
		}
		next = f
	} else {
		next = detect(sample, overrides)
	}
	if next == nil || readable(next, sample)*10 < 9*len(sample) {
		return false, nil
	}
	r.formats[file] = &changing{append(slices.Clone(old), next)}
	return true, nil
}

// changes lists where the formats of a log begin, and orders the formats so.
func (r *reading) changes(file int) (notes []string) {
	c, ok := r.formats[file].(*changing)
	if !ok {
		return nil
	}
	begins := r.files[file].begins
	order := make([]int, len(c.formats))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return begins[a].place.compare(begins[b].place) })
	sorted := &changing{}
	for _, i := range order {
		if !begins[i].seen {
			continue
		}
		if sorted.formats = append(sorted.formats, c.formats[i]); len(sorted.formats) > 1 {
			_, line := r.where(begins[i].place)
			notes = append(notes, fmt.Sprintf("%s: the format changes to %s at line %d", r.inputs[file].Name, c.formats[i].name(), line))
		}
	}
	r.formats[file] = sorted
	return notes
}

// A beginning is the first line of a format.
type beginning struct {
	place place
	seen  bool
}

// begin notes the format of a line.
func (in *intake) begin(format int, at place) {
	if b := &in.begins[format]; !b.seen || at.before(b.place) {
		*b = beginning{at, true}
	}
}
