package document_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/show/summary/summarytest"
)

func toy(t *testing.T) *summary.Summary {
	t.Helper()
	h, err := history.View(summarytest.Make(t))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	s, err := summary.Load(h, "toy "+summarytest.HostileSays)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var made = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func html(t *testing.T, s *summary.Summary) string {
	t.Helper()
	var b bytes.Buffer
	if err := document.HTML(&b, s, made); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements are those that the template and the charts use.
var elements = strings.Fields("html head meta title style body main header h1 h2 h3 p small nav a b span div ul li pre article figure figcaption table thead tbody tr th td svg g text line rect path circle polygon polyline")

var (
	element   = regexp.MustCompile(`<[/!?]?([^\s<>/]*)([^>]*)>`)
	attribute = regexp.MustCompile(`\s([a-zA-Z-]+)\s*=`)
)

// intrusions lists what a page may not have: elements of others, scripts, handlers
// of events, addresses.
func intrusions(page string) (bad []string) {
	body := page
	if at := strings.Index(page, "</style>"); at >= 0 {
		body = page[at:]
	}
	for _, m := range element.FindAllStringSubmatch(body, -1) {
		if !slices.Contains(elements, m[1]) {
			bad = append(bad, "element "+m[1])
		}
		for _, a := range attribute.FindAllStringSubmatch(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(m[2], `""`), -1) {
			if strings.HasPrefix(strings.ToLower(a[1]), "on") || a[1] == "src" || a[1] == "style" {
				bad = append(bad, "attribute "+a[1])
			}
		}
	}
	for _, tag := range append(regexp.MustCompile(`<[^>]*>`).FindAllString(body, -1), page[:len(page)-len(body)]) {
		for _, m := range regexp.MustCompile(`(?i)(?:href|src|url)\s*[=(]\s*["']?([^"')\s>]*)`).FindAllStringSubmatch(tag, -1) {
			if !strings.HasPrefix(m[1], "#") {
				bad = append(bad, "address "+m[1])
			}
		}
	}
	if strings.ContainsAny(page, "\x1b\u202e\u0000") {
		bad = append(bad, "control characters")
	}
	return bad
}

// TestHTML: the page has every part, loads nothing, and hostile text stays text.
func TestHTML(t *testing.T) {
	s := toy(t)
	page := html(t, s)
	if bad := intrusions(page); len(bad) > 0 {
		t.Errorf("in the page: %q", bad)
	}
	if len(page) > document.MaxSize {
		t.Errorf("%d bytes", len(page))
	}
	for _, want := range []string{fmt.Sprintf("%.1f × the untouched score", s.Headline.Ratio.Mid), "▲ KEPT", "▼ reverted", "<b>Claim:</b>", "<b>Evidence:</b>", "GET /商品/:id",
		"&lt;script&gt;", "all services came back", "iikanji tune toy --seed 1", "Toy CPU", "10.11.0-Toy", "RED, not used", "メモ", `class="add"`, "default-src &#39;none&#39;", "from 日本語 where"} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, r := range s.Runs {
		if title := fmt.Sprintf("<title>run %d, ", r.ID); strings.Count(page, title) != 2 { // in both widths
			t.Errorf("run %d has %d marks with a hover title, want 2", r.ID, strings.Count(page, title))
		}
	}
	if again := html(t, s); again != page {
		t.Error("the same history gives another page")
	}
}

// TestIntrusions checks that TestHTML can fail.
func TestIntrusions(t *testing.T) {
	for _, bad := range []string{"<script>x</script>", `<p onclick="x">`, `<img src=x>`, `<a href="http://x">`, `<p style="x">`, "a\x1bb"} {
		if len(intrusions(bad)) == 0 {
			t.Errorf("%q was not found", bad)
		}
	}
	if bad := intrusions(`<p class="a onclick=x">a</p><a href="#x">b</a>`); len(bad) > 0 {
		t.Errorf("found in a harmless page: %q", bad)
	}
}

// TestLarge: a long history with large diffs stays below the limit.
func TestLarge(t *testing.T) {
	s := toy(t)
	for i := range 3000 {
		r := s.Runs[i%len(s.Runs)]
		r.ID = iikanji.RunID(1000 + i)
		s.Runs = append(s.Runs, r)
	}
	for range 300 {
		c := s.Changes[0]
		c.Diff = strings.Repeat("+ a line of a large file that a change wrote anew\n", 20_000)
		c.Says = strings.Repeat("長い文 ", 5000)
		s.Changes = append(s.Changes, c)
	}
	if page := html(t, s); len(page) > document.MaxSize {
		t.Errorf("%d bytes, want at most %d", len(page), document.MaxSize)
	}
}

// TestEmpty: a history with nothing in it has a page.
func TestEmpty(t *testing.T) {
	page := html(t, &summary.Summary{Target: "empty"})
	for _, want := range []string{"No last comparison", "No run has a valid score", "No change was planned", "No run was observed"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestMarkdown: hostile text is not markup, and a diff cannot leave its fence.
func TestMarkdown(t *testing.T) {
	s := toy(t)
	s.Changes[0].Diff += "+```\n+# not a heading\n"
	s.Changes[0].Stage = iikanji.Kept
	var b bytes.Buffer
	if err := document.Markdown(&b, s); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	prose := regexp.MustCompile("(?s)\n(````*)[a-z]*\n.*?\n````*\n").ReplaceAllString(text, "\n")
	for _, bad := range []string{"<script", "<img", "</style", " [x](javascript", "\x1b", "\u202e"} {
		if strings.Contains(prose, bad) {
			t.Errorf("the report has %q", bad)
		}
	}
	for _, want := range []string{"× the untouched score", "````diff\n", "+```\n", "| trial |", "GET /商品/:id"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q", want)
		}
	}
}

// TestFiles: the JSON form holds what the summary holds; each TSV table has its
// columns in every row.
func TestFiles(t *testing.T) {
	s := toy(t)
	var b bytes.Buffer
	if err := document.JSON(&b, s); err != nil {
		t.Fatal(err)
	}
	var again summary.Summary
	if err := json.Unmarshal(b.Bytes(), &again); err != nil || again.Version != summary.Version || len(again.Runs) != len(s.Runs) || again.Headline.Ratio != s.Headline.Ratio {
		t.Errorf("read again: %v, %d runs", err, len(again.Runs))
	}
	files, err := document.TSV(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for i, line := range lines {
			if strings.Count(line, "\t") != strings.Count(lines[0], "\t") {
				t.Errorf("%s:%d has other columns: %q", name, i+1, line)
			}
		}
	}
	if got := strings.Count(string(files["runs.tsv"]), "\n"); got != len(s.Runs)+1 {
		t.Errorf("runs.tsv has %d lines", got)
	}
}

// TestBrowser opens the page in Chromium: hostile text runs no script, loads
// nothing, and the charts have their marks.
func TestBrowser(t *testing.T) {
	tier.Slow(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("chromium (Debian's package chromium): %v", err)
	}
	s := toy(t)
	page := html(t, s)
	// Without the policy, only the escaping stands between the text and the browser.
	page = strings.Replace(page, `<meta http-equiv="Content-Security-Policy"`, `<meta name="no-policy"`, 1)
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"), "--dump-dom", "file://"+file)
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v", err)
	}
	text := string(dom)
	if strings.Contains(text, "<title>pwned") || strings.Contains(text, "<script") || strings.Contains(text, "<img") {
		t.Error("a script of the hostile text ran, or became an element")
	}
	if marks := strings.Count(text, "<title>run "); marks != 2*len(s.Runs) {
		t.Errorf("%d marks for %d runs", marks, len(s.Runs))
	}
}

// TestOneState: a history with one observed run, and nothing else, shows where the time
// goes, without a second column.
func TestOneState(t *testing.T) {
	side := summary.Side{Known: true, Share: 1, Rate: 3, Mean: 12, P95: 40, Rows: 500}
	one := func(key string) summary.Comparison {
		return summary.Comparison{Before: "without a change (run 1)", Rows: []summary.Compared{{Key: key, A: side, B: side}}}
	}
	s := &summary.Summary{Target: "店", Routes: one("GET /商品"), Digests: one("select 1"), CPU: one("app")}
	page := html(t, s)
	for _, want := range []string{"GET /商品", "select 1", "One run was observed: without a change (run 1)", "rows examined", "12.0ms"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, "difference</th>") || strings.Contains(page, "+0 %") {
		t.Error("one state is compared with itself")
	}
}

// TestLoadsThatCompare: measured lengths of load that differ a little have one chart.
func TestLoadsThatCompare(t *testing.T) {
	run := func(id iikanji.RunID, load time.Duration) summary.Run {
		return summary.Run{ID: id, Saved: true, Clean: true, Load: load, Score: 100, Part: summary.PartSingle}
	}
	s := &summary.Summary{Runs: []summary.Run{run(1, 65400*time.Millisecond), run(2, 65600*time.Millisecond), run(3, 65600*time.Millisecond), run(4, 20*time.Second)}}
	var titles []string
	for _, f := range document.ScoreFigures(s, nil) {
		titles = append(titles, f.Title)
	}
	if len(titles) != 2 || !strings.Contains(titles[0], "66") || !strings.Contains(titles[1], "20") {
		t.Errorf("charts %q, want those of 66 s and of 20 s", titles)
	}
}
