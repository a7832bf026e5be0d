package loader

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/site/target"
)

func output(t *testing.T, name string) Output {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return Output{Out: b}
}

// TestTools reads outputs of load tools: score, requests, and whether the run
// passes. Each file of testdata is in the table.
func TestTools(t *testing.T) {
	table := map[string]struct {
		tool     string
		score    float64
		requests int64
		fails    string // part of a reason; "" for a run that passes
	}{
		"wrk-ok.txt":          {"wrk", 91.52, 92, ""},
		"wrk-bad.txt":         {"wrk", 91.81, 92, "neither 2xx nor 3xx: 92"},
		"ab-ok.txt":           {"ab", 5474.80, 200, ""},
		"ab-bad.txt":          {"ab", 4262.76, 200, "not 2xx: 200"},
		"hey-ok.txt":          {"hey", 94.1537, 96, ""},
		"hey-bad.txt":         {"hey", 88.6632, 92, "92 answers with status 500"},
		"hey-refused.txt":     {"hey", 2697.9390, 0, "20 requests failed"},
		"vegeta-ok.txt":       {"vegeta", 48.93, 50, ""},
		"vegeta-bad.txt":      {"vegeta", 0, 50, "success ratio: 0 %"},
		"oha-ok.txt":          {"oha", 98.7930, 95, ""},
		"oha-bad.txt":         {"oha", 98.7930, 95, "5 answers with status 503"},
		"k6-ok.txt":           {"k6", 22.273964, 40, ""},
		"k6-threshold-ok.txt": {"k6", 28.999921, 1740, ""},
		"oha-json-ok.txt":     {"oha", 5012.3456, 50124, ""},
		"vegeta-old-ok.txt":   {"vegeta", 120.10, 1200, ""},
		"k6-bad.txt":          {"k6", 41.517119, 40, "a threshold was crossed"},
		"k6-old-bad.txt":      {"k6", 42.50507, 40, "percent of checks that failed: 100"},
		"gotest-ok.txt":       {"gotest", 1e9 / math.Sqrt(140.8*120.8), 0, ""},
		"gotest-bad.txt":      {"gotest", 1e6, 0, "did not end with PASS"},
		"wrk-refused.txt":     {"", 0, 0, ""}, // no score
		"vegeta-json-ok.txt":  {"vegeta", 48.934, 50, ""},
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != len(table) {
		t.Fatalf("%d files and %d cases, %v", len(files), len(table), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		c := table[name]
		r := Read(&target.Bench{}, output(t, name))
		if r.By != c.tool || r.Scored != (c.tool != "") || math.Abs(r.Score-c.score) > 0.01+1e-4*c.score || r.Requests != c.requests {
			t.Errorf("%s: by %q, score %v, %d requests; want %q, %v, %d", name, r.By, r.Score, r.Requests, c.tool, c.score, c.requests)
		}
		if text := strings.Join(r.Failed, "; "); (text == "") != (c.fails == "") || !strings.Contains(text, c.fails) {
			t.Errorf("%s: fails by %q, want %q", name, text, c.fails)
		}
		if c.tool == "" {
			continue
		}
		if again := Read(&target.Bench{Tool: target.Tool(c.tool)}, output(t, name)); again.Score != r.Score {
			t.Errorf("%s with the tool named: %v, want %v", name, again.Score, r.Score)
		}
		if other := Read(&target.Bench{Tool: target.ToolNone}, output(t, name)); other.Scored {
			t.Errorf("%s with no tool: score %v by %s", name, other.Score, other.By)
		}
	}
}

func pattern(t *testing.T, text string) target.Pattern {
	t.Helper()
	var p target.Pattern
	if text == "" {
		return p
	}
	if err := p.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPatterns(t *testing.T) {
	const out = "12:00 starting {not json}\nscore: 1,200 points\n{\"score\": 5}\n" +
		"{\n  \"result\": {\"score\": \"1500\", \"pass\": true},\n  \"steps\": [{\"n\": 1, \"error\": \"late\"}, {\"n\": 2, \"error\": \"lost\"}],\n  \"messages\": [\"a\", {\"message\": \"b\"}]\n}\nbye\n"
	for name, c := range map[string]struct {
		score, pass, faults string
		want                float64
		scored, fails       bool
		messages            []string
	}{
		"path":             {score: "json:result.score", pass: "json:result.pass", want: 1500, scored: true},
		"path into a list": {score: "json:steps[1].n", faults: "json:messages", want: 2, scored: true, messages: []string{"a", "b"}},
		"all of a list":    {score: "json:steps[*].n", faults: "json:steps[*].error", want: 2, scored: true, messages: []string{"late", "lost"}},
		"no such path":     {score: "json:result.points"},
		"expression":       {score: "regex:score: ([0-9,]+)", pass: "regex:(?m)^bye$", want: 1200, scored: true},
		"no group":         {score: "regex:[0-9,]+ points"},
		"pass is missing":  {score: "json:result.score", pass: "json:result.ok", want: 1500, scored: true, fails: true},
		"no match of pass": {score: "json:result.score", pass: "regex:PASSED", want: 1500, scored: true, fails: true},
		"without patterns": {want: 5, scored: true},
	} {
		b := &target.Bench{Score: pattern(t, c.score), Pass: pattern(t, c.pass), Faults: pattern(t, c.faults)}
		r := Read(b, Output{Out: []byte(out)})
		if r.Scored != c.scored || r.Score != c.want && c.scored || (len(r.Failed) > 0) != c.fails || !slices.Equal(r.Faults, c.messages) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestUsual(t *testing.T) {
	const doc, line = "the JSON document with a score", "the last line with a score"
	for text, want := range map[string]Result{
		"{\"score\": 3, \"pass\": false, \"messages\": [\"x\"]}": {By: "the JSON document with a score", Score: 3, Scored: true, Failed: []string{"pass is false in the output"}, Faults: []string{"x"}},
		"INFO score=12\nINFO Score: 13.5\n":                      {By: "the last line with a score", Score: 13.5, Scored: true},
		// The counts of successes and failures are not a statement about the run.
		`{"pass":true,"score":1710,"success":1434,"fail":0,"messages":[]}`:                            {By: doc, Score: 1710, Scored: true},
		`{"pass":false,"score":0,"success":14,"fail":3,"messages":["a","b"]}`:                         {By: doc, Scored: true, Failed: []string{"pass is false in the output"}, Faults: []string{"a", "b"}},
		"2026/01/02 03:04:05 INFO result {\"score\": 12, \"passed\": false}\n12:00 bye {later}\n":     {By: doc, Score: 12, Scored: true, Failed: []string{"passed is false in the output"}},
		"{\n \"status\": \"failed\",\n \"result\": {\"score\": 7}\n}\n":                               {By: doc, Score: 7, Scored: true, Failed: []string{"status is failed in the output"}},
		"{\"type\":\"progress\",\"score\":5}\n{\"type\":\"end\",\"totalScore\":\"1,500\"}\n":          {By: doc, Score: 1500, Scored: true},
		"00:01 SCORE: 99\n00:02 PASSED: true\n00:03 SCORE: 3588 (+3590 -2(0))\n00:04 PASSED: false\n": {By: line, Score: 3588, Scored: true, Failed: []string{`"PASSED: false" is in the output`}},
		"score: 12345(12345 - 0) : pass\n":                                                            {By: line, Score: 12345, Scored: true},
		"score: 0(0 - 0) : fail: critical\n":                                                          {By: line, Scored: true, Failed: []string{`"score: 0(0 - 0) : fail: critical" is in the output`}},
		"score: 1710, success 1434, fail 0\n":                                                         {By: line, Score: 1710, Scored: true},
		"level=INFO msg=結果 pass=true スコア=1140 種別ごとのエラー数=map[]\n":                                      {By: line, Score: 1140, Scored: true},
		"ログイン中\nスコア: 12\n最終スコア：１，２３４点\nスコアの内訳\n読み込みスコア: 3\n":                                          {By: line, Score: 1234, Scored: true},
		"\x1b[32mTotal score:\x1b[0m \x1b[1m1,234.5\x1b[0m\r\npage score: 3\n":                        {By: line, Score: 1234.5, Scored: true},
		"score (after penalties) ......: 1.5e+06\nResult: FAIL\n":                                     {By: line, Score: 1.5e6, Scored: true, Failed: []string{`"Result: FAIL" is in the output`}},
		"合計得点は 88 です\n=== FAIL ===\n":                                                                 {By: line, Score: 88, Scored: true, Failed: []string{`"=== FAIL ===" is in the output`}},
		"1 request: FAIL (timeout)\nscore: 5\nPASS\n":                                                 {By: line, Score: 5, Scored: true},
		"nothing":         {},
		"{\"points\": 3}": {},
	} {
		r := Read(&target.Bench{}, Output{Out: []byte(text)})
		if r.By != want.By || r.Score != want.Score || r.Scored != want.Scored || !slices.Equal(r.Failed, want.Failed) || !slices.Equal(r.Faults, want.Faults) {
			t.Errorf("%q: %+v, want %+v", text, r, want)
		}
	}
}

func TestScores(t *testing.T) {
	free := []float64{1012, 998, 1033, 1007, 985, 1049}
	steps := []float64{1000, 1100, 1000, 1300, 1100, 900}
	capped := []float64{700, 900, 1000, 1000, 1000, 1000}
	same := []float64{500, 500, 500, 500}
	if s := Steps(free); s != 0 {
		t.Errorf("free scores move in steps of %v", s)
	}
	if s := Steps(steps); math.Abs(s-0.09) > 0.02 {
		t.Errorf("steps of 100 at about 1,050: %v", s)
	}
	if Steps(same) != 0 || Steps(nil) != 0 {
		t.Error("equal scores have steps")
	}
	if !Capped(capped) || Capped(free) || Capped(same) || Capped(nil) {
		t.Error("a cap is not recognized, or seen where there is none")
	}
	if len(doubts(capped)) == 0 || len(doubts(free)) != 0 {
		t.Errorf("doubts: %q, %q", doubts(capped), doubts(free))
	}
}

// TestNoScoreAboveZero: a newest score of 0 or less, which has no ratio, gives a warning.
// An earlier score of 0 gives no warning.
func TestNoScoreAboveZero(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		want   int
	}{{[]float64{0}, 1}, {[]float64{5, -3}, 1}, {[]float64{0, 5}, 0}} {
		if got := doubts(c.scores); len(got) != c.want {
			t.Errorf("%v: %q", c.scores, got)
		}
	}
}

// FuzzOutput expects no output to stop the reader, and no score that is not finite.
func FuzzOutput(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(string(b), "json:a.b[0].*", "regex:(a+)")
		}
	}
	f.Fuzz(func(t *testing.T, text, score, faults string) {
		b := &target.Bench{}
		if b.Score.UnmarshalText([]byte(score)) != nil {
			b.Score = target.Pattern{}
		}
		if b.Faults.UnmarshalText([]byte(faults)) != nil {
			b.Faults = target.Pattern{}
		}
		if r := Read(b, Output{Out: []byte(text)}); r.Scored && (math.IsNaN(r.Score) || math.IsInf(r.Score, 0)) {
			t.Errorf("score %v", r.Score)
		}
	})
}
