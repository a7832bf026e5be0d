package report

import (
	"fmt"
	"io"
	"strings"
)

// An out writes the parts of a report and remembers the writer's first error.
type out struct {
	w   io.Writer
	err error
}

// line writes one line, made safe for a terminal.
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

// wrapped writes text over several lines of at most cols columns. The first one
// begins with first; the others are indented by its width.
func (o *out) wrapped(first, text string, cols int) {
	for _, line := range Wrap(first, strings.Repeat(" ", Width(first)), text, cols) {
		o.line("%s", line)
	}
}

// section separates a table from the text before it.
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

// more writes how many rows were left out.
func (o *out) more(n int) {
	if n > 0 {
		o.line("… and %s more", Count(int64(n)))
	}
}
