package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manPage is the manual page iikanji(1), in roff with the macros of package man. It is made
// from the command line's own description, as the help texts and the completions are.
func manPage(ctx context.Context, e *env) string {
	root := newParser(ctx, e).Model.Node
	v := versionOf()
	m := &roff{}
	m.macro("TH", "IIKANJI", "1", v.Date, "iikanji "+v.Version, "User Commands")
	m.macro("SH", "NAME")
	m.line("iikanji - makes a web stack fast, and proves it")
	m.macro("SH", "SYNOPSIS")
	m.line("iikanji COMMAND [flags] [arguments]")
	m.macro("SH", "DESCRIPTION")
	m.text(root.Help)
	m.text("A target is the name of an arena (iikanji arena lists them), or a folder with an iikanji.toml. Every command has --help with examples. " +
		"The pages of iikanji help explain findings and topics without a network.")
	m.macro("SH", "COMMANDS")
	for _, n := range root.Children {
		m.command(n)
	}
	m.macro("SH", "SEE ALSO")
	m.text("iikanji help, iikanji help DB101, nginx(8), mariadbd(8)")
	return m.b.String()
}

// A roff is a manual page that is being written.
type roff struct{ b strings.Builder }

// escaped makes a text safe in a line of roff: backslashes, hyphens that are minus signs,
// quotes, and a control character at the begin of the line.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

func (m *roff) line(text string) { m.b.WriteString(escaped(text) + "\n") }

// macro writes a macro with its arguments, each in quotes.
func (m *roff) macro(name string, args ...string) {
	m.b.WriteString("." + name)
	for _, a := range args {
		fmt.Fprintf(&m.b, ` "%s"`, strings.ReplaceAll(strings.ReplaceAll(a, `\`, `\e`), `"`, `\(dq`))
	}
	m.b.WriteString("\n")
}

// text writes paragraphs. Lines that begin with a blank stay as they are.
func (m *roff) text(text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		m.macro("PP")
		literal := false
		for line := range strings.Lines(strings.Trim(paragraph, "\n")) {
			line = strings.TrimRight(line, " \n")
			if is := strings.HasPrefix(line, " "); is != literal {
				m.literal(is)
				literal = is
			}
			m.line(line)
		}
		if literal {
			m.literal(false)
		}
	}
}

// literal begins or ends lines that are not filled.
func (m *roff) literal(begin bool) {
	if begin {
		m.macro("EX")
	} else {
		m.macro("EE")
	}
}

// command writes a command and all commands below it.
func (m *roff) command(n *kong.Node) {
	if n.Hidden {
		return
	}
	m.macro("SS", "iikanji "+strings.TrimSuffix(strings.TrimPrefix(n.Summary(), "iikanji "), " [flags]"))
	m.text(n.Help)
	if n.Detail != "" {
		m.text(n.Detail)
	}
	if n.Parent == nil {
		return
	}
	for _, p := range n.Positional {
		m.item(p.Summary(), p.Help)
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			m.item(flagForms(f), f.Help)
		}
	}
	for _, child := range n.Children {
		m.command(child)
	}
}

// item writes an argument or a flag with its meaning.
func (m *roff) item(name, help string) {
	m.macro("TP")
	m.b.WriteString(".B " + escaped(name) + "\n")
	m.line(strings.Join(strings.Fields(help), " "))
}

// flagForms is a flag as it is typed, with the name of its value.
func flagForms(f *kong.Flag) string {
	text := "--" + f.Name
	if f.Short != 0 {
		text = "-" + string(f.Short) + ", " + text
	}
	if !f.IsBool() {
		text += " " + f.FormatPlaceHolder()
	}
	return text
}
