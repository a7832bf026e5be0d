package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

var sample = Table{
	Columns: []Column{{Name: "route", Left: true, Shrink: true}, {Name: "count"}},
	Rows: [][]string{
		{"GET /椅子/<id>", "1,234"},
		{"GET /\x1b[31mevil\n|<b>", "5"},
	},
}

func TestTableFormats(t *testing.T) {
	f := func(format Format, want string) {
		t.Helper()
		var b bytes.Buffer
		if err := sample.Write(&b, format, 80); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s:\n%q\nwant\n%q", format, b.String(), want)
		}
	}
	f(Text, "route                count\nGET /椅子/<id>       1,234\nGET /·[31mevil |<b>      5\n")
	f(TSV, "route\tcount\nGET /椅子/<id>\t1,234\nGET /·[31mevil |<b>\t5\n")
	f(CSV, "route,count\nGET /椅子/<id>,\"1,234\"\nGET /·[31mevil |<b>,5\n")
	f(Markdown, "| route | count |\n| :-- | --: |\n| GET /椅子/&lt;id> | 1,234 |\n| GET /·[31mevil \\|&lt;b> | 5 |\n")
	var b bytes.Buffer
	if err := sample.Write(&b, JSON, 0); err != nil {
		t.Fatal(err)
	}
	var back []map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back[1]["route"] != sample.Rows[1][0] {
		t.Errorf("reading the JSON again: %v %v", err, back)
	}
	if err := sample.Write(&b, "xml", 0); err == nil {
		t.Error("an unknown format was written")
	}
}

// TestTableFits: a table with a shrinking column is never wider than its width.
func TestTableFits(t *testing.T) {
	table := Table{Columns: sample.Columns, Rows: [][]string{
		{strings.Repeat("とても長い道/", 20), "12"}, {strings.Repeat("/very/long", 20), "1"}}}
	for cols := 30; cols <= 120; cols += 7 {
		var b bytes.Buffer
		if err := table.Write(&b, Text, cols); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if w := Width(strings.TrimRight(line, "\n")); w > cols {
				t.Errorf("a line of %d columns in a table of %d: %s", w, cols, line)
			}
		}
	}
}

func TestDuration(t *testing.T) {
	f := func(d time.Duration, want string) {
		t.Helper()
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
	f(0, "0")
	f(999, "999ns")
	f(1500, "1.50µs")
	f(12345678, "12.3ms")
	f(999999999, "1000ms")
	f(4560*time.Millisecond, "4.56s")
	f(-2*time.Second, "-2.00s")
	f(1745*time.Second, "29m05s")
	f(3725*time.Second, "1h02m")
}

func TestCountAndPercent(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -123: "-123"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Percent(0.1234); got != "12.3%" {
		t.Errorf("Percent = %q", got)
	}
}
