package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// accessProfile returns a profile whose rows have hostile widths.
func accessProfile(timed bool) *iikanji.Profile {
	p := &iikanji.Profile{Version: 1, Source: iikanji.Access, Notes: []string{"something was inferred"}}
	for i, key := range []string{"GET /a", "POST /" + strings.Repeat("long/", 40) + ":id", "GET /\x1b[31mred", "GET /日本語"} {
		r := iikanji.Row{Key: key, Count: 12_345_678, Time: []byte{1}, Web: &iikanji.WebRow{Status: [6]int64{0, 0, 9_999_999, 9999, 99_999, int64(i)}, Bytes: 1 << 45, MaxBytes: 999}}
		if timed {
			r.Total, r.Share, r.Mean, r.P99, r.Max = time.Duration(40-i)*time.Hour, 0.25, 123*time.Millisecond, 456*time.Millisecond, time.Duration(i)*time.Second
		}
		r.Example = iikanji.Sighting{Text: "GET /slow", File: "a.log", Line: 7}
		p.Rows = append(p.Rows, r)
	}
	at := time.Date(2026, 11, 19, 4, 4, 5, 0, time.UTC)
	p.Intake = iikanji.Intake{Format: "combined", Files: []string{"a.log"}, Lines: 50_000_000, Bytes: 1 << 33, Bad: 2, Left: 3, First: at, Last: at.Add(time.Hour),
		BadLines: []iikanji.BadLine{{File: "a.log", Line: 9, Text: strings.Repeat("x", 500), Why: "no quote"}}}
	return p
}

// TestAccessFits: the table is never wider than the terminal.
func TestAccessFits(t *testing.T) {
	for _, by := range []string{"route", "status", "user-agent"} {
		for _, cols := range []int{80, 100, 120, 131, 170, 250} {
			for _, timed := range []bool{true, false} {
				var b strings.Builder
				if err := AccessView(by).Write(&b, accessProfile(timed), ProfileOptions{Cols: cols}); err != nil {
					t.Fatal(err)
				}
				table, _, _ := strings.Cut(b.String(), "\n\n")
				for line := range strings.Lines(table) {
					if w := Width(strings.TrimSuffix(line, "\n")); w > cols {
						t.Errorf("%d columns of %d: %s", w, cols, line)
					}
				}
				if strings.Contains(b.String(), "\x1b") {
					t.Error("an escape sequence came through")
				}
				if timed != strings.Contains(table, "total") {
					t.Errorf("times %v:\n%s", timed, table)
				}
			}
		}
	}
}

// TestIntakeEverywhere: each format contains what was read, what was bad, what was
// left out and what was inferred.
func TestIntakeEverywhere(t *testing.T) {
	for _, f := range []Format{Text, TSV, CSV, Markdown, JSON} {
		var b strings.Builder
		if err := AccessView("route").Write(&b, accessProfile(true), ProfileOptions{Format: f, Cols: 80, Limit: 1}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"combined", "no quote", "something was inferred", "2026-11-19"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", f, want, b.String())
			}
		}
		if f == JSON {
			var p iikanji.Profile
			if err := json.Unmarshal([]byte(b.String()), &p); err != nil || len(p.Rows) != 1 || p.Rows[0].Time != nil || p.Intake.Left != 3 {
				t.Errorf("%v %+v", err, p)
			}
		} else if !strings.Contains(b.String(), "3 more routes") || !strings.Contains(b.String(), "3 of the lines left out") {
			t.Errorf("%s lacks the rows that are not shown:\n%s", f, b.String())
		}
	}
}

func TestViewSortsAndChooses(t *testing.T) {
	v := AccessView("route")
	write := func(o ProfileOptions) string {
		var b strings.Builder
		o.Format = CSV
		if err := v.Write(&b, accessProfile(true), o); err != nil {
			t.Fatal(err)
		}
		return strings.Split(b.String(), "\n")[1]
	}
	for sort, want := range map[string]string{"": "0,GET /a", "max": "3,GET /日本語", "max:asc": "0,GET /a", "5xx": "3,GET /日本語", "route": "2,GET /\x1b[31mred"} {
		if got := write(ProfileOptions{Sort: sort, Columns: []string{"5xx", "route"}}); got != want && !(sort == "route" && strings.HasPrefix(got, "2,")) {
			t.Errorf("sorted by %q: %q, want %q", sort, got, want)
		}
	}
	for _, c := range v.Columns {
		if c.Help == "" || c.Cell == nil || c.Raw == nil {
			t.Errorf("column %s lacks its help, cell or raw text", c.Name)
		}
	}
	for _, o := range []ProfileOptions{{Sort: "nonsense"}, {Columns: []string{"count", "nonsense"}}} {
		if err := v.Check(o); err == nil || !strings.Contains(err.Error(), `no column "nonsense"; the columns are count`) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if err := v.Check(ProfileOptions{Columns: []string{"all"}, Sort: "p99:asc"}); err != nil {
		t.Error(err)
	}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want string
	}{{0, 0, "0"}, {0, 1, "new"}, {1, 0, "gone"}, {100, 112, "+12.0%"}, {100, 50, "-50.0%"}, {1, 3.4, "×3.40"}, {100, 5, "÷20.0"}, {7, 7, "+0.0%"}} {
		if got := change(c.a, c.b); got != c.want {
			t.Errorf("%v to %v is %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// TestDiffFits: a diff fits its width, also with new and gone rows and hostile keys.
func TestDiffFits(t *testing.T) {
	p := accessProfile(true)
	pairs := []RowPair{{p.Rows[1].Key, &p.Rows[1], nil}, {p.Rows[2].Key, nil, &p.Rows[2]}, {p.Rows[0].Key, &p.Rows[0], &p.Rows[3]}}
	for _, f := range []Format{Text, TSV, CSV, Markdown, JSON} {
		var b strings.Builder
		if err := AccessView("route").WriteDiff(&b, p, p, pairs, ProfileOptions{Format: f, Cols: 80}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "new") || !strings.Contains(b.String(), "gone") {
			t.Errorf("%s:\n%s", f, b.String())
		}
		if f == Text {
			table, _, _ := strings.Cut(b.String(), "\n\n")
			for line := range strings.Lines(table) {
				if w := Width(strings.TrimSuffix(line, "\n")); w > 80 {
					t.Errorf("%d columns: %s", w, line)
				}
			}
		}
		if f == JSON && !json.Valid([]byte(b.String())) {
			t.Error("no JSON")
		}
	}
}

// TestDiffWithoutTimes: a log without times has no times, instead of rows that are gone.
func TestDiffWithoutTimes(t *testing.T) {
	profile := func(total time.Duration) *iikanji.Profile {
		return &iikanji.Profile{Source: iikanji.Access, Rows: []iikanji.Row{{Key: "GET /", Count: 4, Total: total, Mean: total / 4, P99: total / 4, Web: &iikanji.WebRow{}}}}
	}
	before, after := profile(time.Second), profile(0)
	var b strings.Builder
	if err := AccessView("route").WriteDiff(&b, before, after, []RowPair{{"GET /", &before.Rows[0], &after.Rows[0]}}, ProfileOptions{Format: Text, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	row := strings.Fields(strings.Split(b.String(), "\n")[1])
	if got := strings.Join(row, " "); got != "1.00s - - +0.0% - - GET /" || strings.Contains(b.String(), "gone") {
		t.Errorf("%q in\n%s", got, b.String())
	}
}
