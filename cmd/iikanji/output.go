package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/target"
)

// An output writes lines to standard output. After the first error it writes
// nothing more and keeps that error.
type output struct {
	w     io.Writer
	color bool
	err   error
}

func (p *output) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// diff writes a diff, indented, with added and removed lines in colours.
func (p *output) diff(text string) {
	for line := range strings.Lines(text) {
		line = "  " + strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
		line = strings.TrimRight(report.Clean(line), " ")
		switch {
		case !p.color || strings.HasPrefix(line, "  +++") || strings.HasPrefix(line, "  ---"):
		case strings.HasPrefix(line, "  +"):
			line = "\x1b[32m" + line + "\x1b[0m"
		case strings.HasPrefix(line, "  -"):
			line = "\x1b[31m" + line + "\x1b[0m"
		}
		p.line("%s", line)
	}
}

// table writes a table for a terminal of the given width.
func (p *output) table(t *report.Table, cols int) {
	if p.err == nil {
		p.err = t.Write(p.w, report.Text, cols)
	}
}

// wrapped writes a sentence over lines of at most cols columns.
func (p *output) wrapped(text string, cols int) {
	var b strings.Builder
	writeWrapped(&b, report.Clean(text), cols)
	for line := range strings.Lines(b.String()) {
		p.line("%s", strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "  "))
	}
}

// limits writes what is not done for parts of a site, before everything else.
func (p *output) limits(all []target.Limit, cols int) {
	for _, text := range limitNotes(all) {
		p.wrapped(text, cols)
	}
	if len(all) > 0 {
		p.line("")
	}
}

// notSupported begins a sentence on what is not done for a part of a site.
const notSupported = "NOT SUPPORTED: "

// limitNotes are the sentences on what is not done for parts of a site.
func limitNotes(all []target.Limit) []string {
	var out []string
	for _, l := range all {
		out = append(out, notSupported+l.Text())
	}
	return out
}
