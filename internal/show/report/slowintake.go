package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// SlowIntake writes what was read, for formats that cannot hold it.
func SlowIntake(w io.Writer, p *iikanji.Profile) error {
	o := &out{w: w}
	intake(o, p, Text)
	return o.err
}

// intake writes what was read: how much, what was left out and what was bad.
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
