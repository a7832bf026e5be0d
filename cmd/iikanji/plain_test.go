package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/summary"
	"github.com/iikanji/iikanji/internal/summary/summarytest"
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
