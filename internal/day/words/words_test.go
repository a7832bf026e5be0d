package words

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/iikanji/iikanji"
)

// labelled reads an output of testdata: on each line what it means, a tab, the line.
func labelled(t testing.TB, file string) (labels, lines []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for raw := range strings.Lines(string(text)) {
		label, l, ok := strings.Cut(strings.TrimSuffix(raw, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: a line without a label: %q", file, raw)
		}
		labels, lines = append(labels, label), append(lines, l)
	}
	return labels, lines
}

func outputs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d outputs: %v", len(files), err)
	}
	return files
}

// leastRight is the least share of lines with the right meaning.
const leastRight = 0.95

// TestMeanings: of the lines of outputs of 14 kinds, four of them Japanese, at least 95 % get
// the meaning that they have, and none wrongly that the load did not grow.
func TestMeanings(t *testing.T) {
	right, all, japanese := 0, 0, 0
	for _, file := range outputs(t) {
		if strings.Contains(file, "-ja") {
			japanese++
		}
		labels, lines := labelled(t, file)
		for i, l := range lines {
			got := Read(l, nil)
			if len(got) != 1 {
				t.Errorf("%s:%d: %d messages", file, i+1, len(got))
				continue
			}
			all++
			means := got[0].Means.String()
			if means == labels[i] {
				right++
				continue
			}
			t.Logf("%s:%d: %s, not %s: %s", file, i+1, means, labels[i], l)
			if got[0].Means == iikanji.MeansNoGrowth {
				t.Errorf("%s:%d: wrongly no growth: %s", file, i+1, l)
			}
		}
	}
	if share := float64(right) / float64(all); share < leastRight || japanese < 3 {
		t.Errorf("%d of %d lines are right (%.1f %%); %d outputs are Japanese", right, all, 100*share, japanese)
	} else {
		t.Logf("%d of %d lines are right (%.1f %%)", right, all, 100*share)
	}
}

// TestRead: lines that differ in numbers are one message with its count, times, route and
// numbers.
func TestRead(t *testing.T) {
	_, lines := labelled(t, "testdata/06-shop.txt")
	var still iikanji.Message
	for _, m := range Read(strings.Join(lines, "\n"), nil) {
		if m.Means == iikanji.MeansNoGrowth {
			still = m
		}
	}
	if still.Count != 3 || still.First != 30600*time.Millisecond || still.Last != 50600*time.Millisecond || still.Text != "visitors did not increase (checkout p99 4210 ms)" {
		t.Errorf("no growth: %+v", still)
	}
	for text, want := range map[string]iikanji.Message{
		"initialize finished in 8.1s (limit 20s)":                   {Means: iikanji.MeansInit, Value: 8.1, Limit: 20},
		"Initialization took 26.7 seconds, the limit is 30 seconds": {Means: iikanji.MeansInit, Value: 26.7, Limit: 30},
		"POST /initialize に 24.2 秒かかりました(30秒以内)":                    {Means: iikanji.MeansInit, Route: "POST /initialize", Value: 24.2, Limit: 30},
		"/initialize answered after 950ms":                          {Means: iikanji.MeansInit, Route: "/initialize", Value: 0.95},
		"エラー件数: 42 (上限 100)":                                        {Means: iikanji.MeansMargin, Value: 42, Limit: 100},
		"errors 27 of 30 allowed":                                   {Means: iikanji.MeansMargin, Value: 27, Limit: 30},
		"limit: 1,000 errors, so far 120":                           {Means: iikanji.MeansMargin, Value: 120, Limit: 1000},
		"45 errors; the run fails at the limit of 50":               {Means: iikanji.MeansMargin, Value: 45, Limit: 50},
		"GET /api/users/12/x: timeout":                              {Means: iikanji.MeansTimeout, Route: "GET /api/users/:id/x"},
		`{"msg":"request timed out","route":"GET /api/seats"}`:      {Means: iikanji.MeansTimeout, Route: "GET /api/seats"},
	} {
		got := Read(text, nil)
		if len(got) != 1 || got[0].Means != want.Means || got[0].Route != want.Route || got[0].Value != want.Value || got[0].Limit != want.Limit {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	day := Read("23:59:50 users did not increase\n00:00:05 users did not increase\n", nil)
	if len(day) != 1 || day[0].Last != 15*time.Second {
		t.Errorf("over midnight: %+v", day)
	}
}

// TestRules: a rule of the site's file comes before the table; its groups name route and
// numbers.
func TestRules(t *testing.T) {
	rules := []Rule{{regexp.MustCompile(`^crowd level (?P<value>\d+)/(?P<limit>\d+)`), iikanji.MeansNoGrowth, "GET /api/trend"},
		{regexp.MustCompile(`users did not increase`), iikanji.MeansNothing, ""},
		{regexp.MustCompile(`slow at (?P<route>\S+ \S+)`), iikanji.MeansTimeout, ""}}
	got := Read("crowd level 3/9\nusers did not increase\nslow at GET /x\n", rules)
	if len(got) != 3 || got[0].Means != iikanji.MeansNoGrowth || got[0].Route != "GET /api/trend" || got[0].Value != 3 || got[0].Limit != 9 ||
		got[1].Means != iikanji.MeansNothing || got[2].Route != "GET /x" {
		t.Errorf("%+v", got)
	}
}

// TestMany: an output of any length has a bounded number of messages, and lines without a
// meaning leave room for others.
func TestMany(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString("line " + strings.Repeat("x", i) + "\n")
	}
	b.WriteString("users did not increase\n")
	got := Read(b.String(), nil)
	if len(got) > maxMessages || got[len(got)-1].Means != iikanji.MeansNoGrowth {
		t.Errorf("%d messages, the last: %+v", len(got), got[len(got)-1])
	}
}

// FuzzRead: no output stops the reader; counts add up, and texts are valid and short.
func FuzzRead(f *testing.F) {
	for _, file := range outputs(f) {
		_, lines := labelled(f, file)
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := int64(strings.Count(text, "\n") + strings.Count(text, "\r") + 1)
		for _, m := range Read(text, nil) {
			lines -= m.Count
			if m.Count < 1 || m.First < 0 || m.Last < m.First || !utf8.ValidString(m.Text) || utf8.RuneCountInString(m.Text) > maxText || m.Text == "" || m.Value < 0 || m.Limit < 0 {
				t.Errorf("%+v", m)
			}
		}
		if lines < 0 {
			t.Errorf("more lines are counted than there are, by %d", -lines)
		}
	})
}
