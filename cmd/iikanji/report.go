package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
)

type reportCmd struct {
	Target string `arg:"" help:"Target to report on, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`

	Out      string `help:"File or folder to write: its ending .html, .md or .json, or a slash at its end for a folder of TSV tables, is the form; - is standard output." default:"report.html" placeholder:"FILE"`
	Format   string `help:"html, markdown or json, where the name does not tell it." enum:",html,markdown,json" default:"" placeholder:"FORM"`
	Day      bool   `help:"The day of a team instead: runs, edits, turns, people, what was proven and what was left (day.md)."`
	Literals bool   `help:"Keep literals of statements, and what may be a secret; by default they are redacted."`
	placeFlags
}

// Help returns the long help of the command.
func (reportCmd) Help() string {
	return `Writes a report of all that was measured and changed, from the history alone: the
headline ratio, the score over time with every trial, where the time goes before
and after, each change with its evidence, diff and verdict, what remains, the
proofs of the sensors, the machine and the commands. The HTML form is one file
below 1 MB without script and without requests; it can be printed.

With --day it is what a team did, for the talk afterwards: each run with who made it
and what was edited since the one before, turns, the longest times without a run, what
iikanji work prove has shown, and the causes that the last diagnose found.

Examples:
  iikanji report isucondition
  iikanji report isucondition --out report.md
  iikanji report isucondition --out - --format json
  iikanji report isucondition --out tables/
  iikanji report isucondition --day --out day.md

Exit status: 0 written, 1 failed to run (also: there is no history), 2 usage.`
}

// defaultReport is the default of --out.
const defaultReport = "report.html"

// Run runs the command.
func (c *reportCmd) Run(_ context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	form, err := c.form()
	if err != nil {
		return err
	}
	h, err := c.open(e, c.Target)
	if err != nil {
		return err
	}
	defer h.Close()
	s, err := summary.Load(h, a.Name)
	if err != nil {
		return err
	}
	if a.file != nil {
		s.Name = a.file.Site
	}
	if c.Day {
		return c.writeDay(e, a, h, s, form)
	}
	if !c.Literals {
		redact.Document(s)
	}
	if form == "tsv" {
		return c.tsv(e, s)
	}
	write := func(w io.Writer) error {
		switch form {
		case "markdown":
			return document.Markdown(w, s)
		case "json":
			return document.JSON(w, s)
		}
		return document.HTML(w, s, e.Now())
	}
	if c.Out == "-" {
		return write(e.Stdout)
	}
	if err := writeWhole(c.Out, write); err != nil {
		return err
	}
	return c.wrote(e, s, c.Out)
}

// form is the form of the output: html, markdown, json or tsv.
func (c *reportCmd) form() (string, error) {
	info, err := os.Stat(c.Out)
	isFolder := strings.HasSuffix(c.Out, "/") || err == nil && info.IsDir()
	switch ext := strings.ToLower(filepath.Ext(c.Out)); {
	case isFolder && c.Format != "":
		return "", usageError("--out %s is a folder of TSV tables: --format is for a file", c.Out)
	case isFolder:
		return "tsv", nil
	case c.Format != "":
		return c.Format, nil
	case ext == ".html" || ext == ".htm":
		return "html", nil
	case ext == ".md" || ext == ".markdown" || c.Out == "-":
		return "markdown", nil
	case ext == ".json":
		return "json", nil
	}
	return "", usageError("--out %s: want a name that ends in .html, .md, .json or a slash, or --format", c.Out)
}

// tsv writes a folder of tables.
func (c *reportCmd) tsv(e *env, s *summary.Summary) error {
	files, err := document.TSV(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the folder of tables: %w", err)
	}
	for name, data := range files {
		if err := writeWhole(filepath.Join(c.Out, name), func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
			return err
		}
	}
	return c.wrote(e, s, c.Out)
}

func (c *reportCmd) wrote(e *env, s *summary.Summary, name string) error {
	_, err := fmt.Fprintf(e.Stdout, "%s: %s, %s, %s\n", report.Clean(name), report.Number(len(s.Runs), "run"), report.Number(len(s.Trials), "trial"), report.Number(len(s.Changes), "change"))
	return err
}
