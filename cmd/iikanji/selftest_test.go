package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/selftest"
)

// TestExceededLimits tests that each limit can be exceeded, and only by the judge.
func TestExceededLimits(t *testing.T) {
	cell := func(ours bool, effect, kept, pairs float64) *selftestCell {
		return &selftestCell{Ours: ours, Sigma: 0.05, Effect: effect, Kept: kept, Pairs: pairs, TrialTally: selftest.TrialTally{Trials: 20_000}}
	}
	for _, c := range []struct {
		name string
		cell *selftestCell
		want string
	}{
		{"good no-op", cell(true, 0, 0.047, 6), ""},
		{"no-op by chance", cell(true, 0, 0.053, 6), ""},
		{"bad no-op", cell(true, 0, 0.056, 6), "a no-op is kept in 5.60 %"},
		{"another rule", cell(false, 0, 0.5, 1), ""},
		{"good gain", cell(true, 0.10, 0.93, 4.3), ""},
		{"missed gain", cell(true, 0.10, 0.89, 4.3), "+10 % is kept in 89.0 %"},
		{"slow gain", cell(true, 0.10, 0.93, 4.7), "takes 4.70 pairs"},
	} {
		got := strings.Join(exceededLimits([]*selftestCell{c.cell}), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// figuresShape is a block of figures without the figures: its headings and list, and of each
// row of a table the first cell and the number of cells.
func figuresShape(block string) (shape []string) {
	for line := range strings.Lines(block) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, "- "), strings.HasPrefix(line, "<!--"):
			shape = append(shape, line)
		case strings.HasPrefix(line, "|"):
			cells := strings.Split(strings.Trim(line, "|"), "|")
			shape = append(shape, fmt.Sprintf("%s, %d cells", strings.TrimSpace(cells[0]), len(cells)))
		}
	}
	return shape
}

// TestMethodFigures: the figures of docs/method.md have the shape of what the command prints,
// so that each table there is one that it printed, with every world and goal of today.
func TestMethodFigures(t *testing.T) {
	tier.Slow(t)
	var out bytes.Buffer
	e := &env{Stdout: &out, Stderr: &bytes.Buffer{}, Now: time.Now, Cols: 80}
	c := &selftestCmd{Trials: 100, Searches: 1, Full: true, Scale: 0.001, Seed: 1, Markdown: true}
	_ = c.Run(t.Context(), e) // few trials miss goals
	page, err := os.ReadFile("../../docs/method.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), figuresBegin)
	block, _, found := strings.Cut(block, figuresEnd)
	if !found {
		t.Fatalf("docs/method.md has no lines %s and %s", figuresBegin, figuresEnd)
	}
	want, got := figuresShape(out.String()), figuresShape(figuresBegin+block+figuresEnd)
	if len(want) < 100 {
		t.Fatalf("the command printed %d lines of figures: %s", len(want), out.String())
	}
	for i, line := range want {
		if i >= len(got) || got[i] != line {
			t.Fatalf("figures of docs/method.md: %q, the command prints %q; print them again with that command", append(slices.Clone(got), "")[min(i, len(got))], line)
		}
	}
	if len(got) > len(want) {
		t.Errorf("docs/method.md has further figures: %q", got[len(want)])
	}
}
