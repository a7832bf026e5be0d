package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/show/summary/summarytest"
)

// TestPlainOutput: what is printed into a pipe has no control characters, whatever
// the history holds, and tables fit 80 columns.
func TestPlainOutput(t *testing.T) {
	dir := summarytest.Make(t)
	h, err := history.View(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	s, err := summary.Load(h, "isucondition")
	if err != nil {
		t.Fatal(err)
	}
	first, last := fmt.Sprint(s.Observed[0].Run), fmt.Sprint(s.Observed[len(s.Observed)-1].Run)
	for _, args := range [][]string{
		{"history", "isucondition"}, {"history", "isucondition", "--runs"}, {"history", "show", "isucondition", first}, {"history", "show", "isucondition", "3"},
		{"history", "diff", "isucondition", first, last}, {"history", "diff", "isucondition", "1", last}, {"history", "replay", "isucondition", "1", "--dry-run"},
	} {
		out, errs, status := invoke(t, append(args, "--history", dir)...)
		if status != exitDone || out == "" {
			t.Errorf("%q: status %d, %s", args, status, errs)
		}
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
				t.Errorf("%q prints control characters: %q", args, line)
			}
			if strings.HasPrefix(line, "    (") || args[1] == "replay" {
				continue // sentences
			}
			if w := report.Width(line); w > 80 {
				t.Errorf("%q prints %d columns: %s", args, w, line)
			}
		}
	}
}

// TestPlainTables: the tables of the commands have one style in a pipe: no control
// characters, at most 80 columns, numbers aligned to the right below their names.
func TestPlainTables(t *testing.T) {
	dir := summarytest.Make(t)
	logs := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(logs, name)
		if err := os.WriteFile(path, []byte(sampleFiles[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	h, err := history.View(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	s, err := summary.Load(h, "isucondition")
	if err != nil {
		t.Fatal(err)
	}
	observed := fmt.Sprint(s.Observed[0].Run)
	for _, c := range []struct {
		args   []string
		column string // a column of numbers
	}{
		{[]string{"access", file("access.log")}, "count"}, {[]string{"slow", file("slow.log")}, "count"},
		{[]string{"diagnose", "isucondition", "--run", observed, "--history", dir}, ""}, {[]string{"history", "isucondition", "--runs", "--history", dir}, "score"},
		{[]string{"top", "--every", "100ms", "--count", "1"}, ""},
	} {
		out, errs, status := invoke(t, c.args...)
		if status != exitDone || out == "" {
			t.Errorf("%q: status %d, %s", c.args, status, errs)
		}
		end, table := -1, false // the end of the column's name; whether the line is one of its table
		for line := range strings.Lines(out + errs) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsFunc(line, unicode.IsControl) {
				t.Errorf("%q prints control characters: %q", c.args, line)
			}
			if w := report.Width(line); w > 80 && (c.column == "" || table) {
				t.Errorf("%q prints %d columns: %s", c.args, w, line)
			}
			if i := strings.Index(line, c.column); end < 0 && c.column != "" && i >= 0 {
				end, table = i+len(c.column), true
			} else if table = table && line != "" && !unicode.IsLetter(rune(line[0])); table && len(line) > end && strings.TrimSpace(line[:end]) != "" && report.Width(line[:end]) == end && (line[end] != ' ' || line[end-1] == ' ') {
				t.Errorf("%q: a number does not end below %q: %s", c.args, c.column, line)
			}
		}
		if c.column != "" && end < 0 {
			t.Errorf("%q has no column %q:\n%s", c.args, c.column, out)
		}
	}
}

// TestTornHistory: a journal that was cut off in the middle of a write loses that
// entry only, and the next command that writes prints it.
func TestTornHistory(t *testing.T) {
	dir := summarytest.Make(t)
	whole, _, _ := invoke(t, "history", "isucondition", "--runs", "--history", dir, "--format", "tsv")
	journal := dir + "/journal.jsonl"
	data, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, journal, string(data[:len(data)-9])) // in the middle of the last event, a note
	out, errs, status := invoke(t, "history", "isucondition", "--runs", "--history", dir, "--format", "tsv")
	if status != exitDone || out != whole {
		t.Errorf("status %d, %s\n%s", status, errs, out)
	}
	out, errs, status = invoke(t, "history", "note", "isucondition", "3", "after the cut", "--history", dir)
	if status != exitDone {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if !strings.Contains(errs, "ended in the middle of a line") {
		t.Errorf("nothing was printed about the torn line: %q", errs)
	}
	out, _, _ = invoke(t, "report", "isucondition", "--history", dir, "--out", "-")
	if !strings.Contains(out, "after the cut") || strings.Contains(out, "メモ") {
		t.Error("the notes in the report differ from those of the journal")
	}
}
