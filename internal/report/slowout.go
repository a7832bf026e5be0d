package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// An out writes a report of several tables and remembers the first error.
type out struct {
	w   io.Writer
	err error
}

func (o *out) line(format string, args ...any) {
	if o.err == nil {
		_, o.err = io.WriteString(o.w, Clean(fmt.Sprintf(format, args...))+"\n")
	}
}

func (o *out) blank() {
	if o.err == nil {
		_, o.err = io.WriteString(o.w, "\n")
	}
}

// section sets a table off from what is before it.
func (o *out) section(f Format, title string) {
	o.blank()
	switch {
	case title == "":
	case f == Markdown:
		o.line("### %s", title)
		o.blank()
	default:
		o.line("%s", title)
	}
}

func (o *out) table(t *Table, f Format, cols int) {
	if o.err == nil {
		o.err = t.Write(o.w, f, cols)
	}
}

func (o *out) more(n int) {
	if n > 0 {
		o.line("… and %s more", Count(int64(n)))
	}
}

// SlowIntake writes what was read, for formats that have no place for it.
func SlowIntake(w io.Writer, p *iikanji.Profile) error {
	o := &out{w: w}
	intake(o, p, Text)
	return o.err
}

// intake writes what was read, so that nobody takes a part for the whole.
func intake(o *out, p *iikanji.Profile, f Format) {
	in := &p.Intake
	item := ""
	if f == Markdown {
		item = "- "
	}
	s := fmt.Sprintf("%s%s: %s, %s", item, in.Format, Number(in.Lines, "entry"), in.Bytes)
	if !in.First.IsZero() {
		s += fmt.Sprintf(", %s to %s", in.First.UTC().Format(time.RFC3339), in.Last.UTC().Format(time.RFC3339))
	}
	o.line("%s", s)
	if in.Left > 0 {
		o.line("%s%s left out by --where, --since or --until", item, Number(in.Left, "entry"))
	}
	if in.Bad > 0 {
		o.line("%s%s could not be read:", item, Number(in.Bad, "entry"))
		for _, b := range in.BadLines {
			o.line("%s  %s:%d: %s: %s", item, b.File, b.Line, b.Why, Shorten(strings.TrimSpace(b.Text), 40))
		}
	}
	for _, n := range p.Notes {
		o.line("%snote: %s", item, n)
	}
}
