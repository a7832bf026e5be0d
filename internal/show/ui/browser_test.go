package ui

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/progress"
)

// axe is axe-core 4.11.4, as it was published; its licences are beside it.
//
//go:embed testdata/axe/axe.min.js
var axe string

// A tab is a page of a browser, with what its console reported.
type tab struct {
	context.Context
	mu     sync.Mutex
	errors []string
}

// problems returns and forgets the errors of the console.
func (b *tab) problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.errors
	b.errors = nil
	return out
}

// startBrowser starts Debian's Chromium; each test has a tab of its own.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("hide-scrollbars", true), chromedp.WSURLReadTimeout(4*time.Minute))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), flags...)
	ctx, done := chromedp.NewContext(allocator)
	t.Cleanup(func() { done(); stop() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium (Debian's package chromium): %v", err)
	}
	return ctx
}

func openTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	ctx, done := chromedp.NewContext(browser)
	t.Cleanup(done)
	b := &tab{Context: ctx}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning {
				b.mu.Lock()
				b.errors = append(b.errors, m.String())
				b.mu.Unlock()
			}
		}
	}()
	return b
}

// run runs actions within a minute.
func (b *tab) run(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, 4*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// result runs one action and returns its value.
func result[T any](t *testing.T, b *tab, a chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, 4*time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// eval evaluates an expression.
func eval[T any](t *testing.T, b *tab, expression string) T {
	t.Helper()
	return result(t, b, chromedp.Evaluate[T](expression))
}

// eventually waits until an expression is true.
func eventually(t *testing.T, b *tab, what, expression string) {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); time.Now().Before(end); {
		if eval[bool](t, b, expression) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s: %s was never true; the page is %.3000s", what, expression, eval[string](t, b, "document.body.innerText"))
}

// screen sets the size of the window and the colour scheme.
func screen(width int64, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	})
}

// TestBrowser runs the tests in one browser, each in a tab of its own.
func TestBrowser(t *testing.T) {
	tier.Slow(t)
	browser, s := startBrowser(t), hostileSite(t)
	for name, test := range map[string]func(*testing.T, *site, *tab){"team": testTeamPage, "pages": testPages, "chart": testChartPoints, "keyboard": testKeyboard, "script": testWithoutScript} {
		t.Run(name, func(t *testing.T) { test(t, s, openTab(t, browser)) })
	}
}

// TestLive runs in a browser of its own, because it changes the history.
func TestLive(t *testing.T) { testLiveUpdate(t, hostileSite(t), openTab(t, startBrowser(t))) }

// browsed are the pages that are looked at.
var browsed = []string{"/", "/team", "/runs", "/runs/9", "/runs/3", "/runs/9?vs=3", "/runs/12?vs=9", "/runs/9/requests", "/runs/9/requests/1", "/endpoints?run=9", "/findings", "/changes", "/changes/1", "/live", "/traces", "/traces/" + traceID, "/actions", "/nothing"}

// testPages opens every page: at two widths, in both colour schemes,
// without an error in the console, without a part that is wider than the window, and
// without a serious finding of axe-core.
func testPages(t *testing.T, s *site, b *tab) {
	for _, path := range browsed {
		t.Run(strings.NewReplacer("/", "_", "?", "_", "=", "").Replace(path), func(t *testing.T) {
			b.run(t, screen(1280, "light"), chromedp.Navigate(s.URL+path), chromedp.WaitReady("main"))
			eval[bool](t, b, axe+"; true")
			for _, width := range []int64{1280, 390} {
				for _, scheme := range []string{"light", "dark"} {
					b.run(t, screen(width, scheme))
					name := fmt.Sprintf("%d %s", width, scheme)
					if title := eval[string](t, b, "document.title"); title == "pwned" || !strings.HasSuffix(title, "iikanji") {
						t.Errorf("%s: the title is %q", name, title)
					}
					if wide := eval[int](t, b, "document.documentElement.scrollWidth"); wide > int(width) {
						t.Errorf("%s: the page is %d wide", name, wide)
					}
					switch {
					case scheme == "light":
						checkAxe(t, b, name, allRules)
					case width > 500: // the dark colours are the same on both
						checkAxe(t, b, name, colourRules)
					}
					picture(t, b, name)
				}
			}
			if found := b.problems(); len(found) > 0 && path != "/nothing" {
				t.Errorf("the console has %q", found)
			}
		})
	}
}

// A ruleSet is rules of axe-core: what its option runOnly has, and how many must pass.
type ruleSet struct {
	only   string
	passes int
}

// The dark scheme changes colours only. So the rules about colours run in both schemes, and
// the other rules run in the light one.
var (
	allRules    = ruleSet{`["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]`, 10}
	colourRules = ruleSet{`["color-contrast", "link-in-text-block"]`, 1}
)

// checkAxe runs rules of axe-core, which the page has loaded. Only the nodes of
// violations are collected, without their selectors.
func checkAxe(t *testing.T, b *tab, name string, rules ruleSet) {
	t.Helper()
	out := result(t, b, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"], selectors: false, runOnly: `+rules.only+`}).then(r =>
		JSON.stringify({passes: r.passes.length, violations: r.violations.map(v => ({id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 300) + " " + n.failureSummary)}))}))`, chromedp.EvalAwaitPromise))
	var found struct {
		Passes     int
		Violations []struct {
			ID, Impact string
			Nodes      []string
		}
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	if found.Passes < rules.passes {
		t.Errorf("%s: only %d rules of axe-core passed: it did not run", name, found.Passes)
	}
	for _, v := range found.Violations {
		if v.Impact == "serious" || v.Impact == "critical" {
			t.Errorf("%s: %s (%s): %q", name, v.ID, v.Impact, v.Nodes)
		}
	}
}

// picture saves a picture of the whole page if SCREENSHOTS names a folder.
func picture(t *testing.T, b *tab, name string) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	data := result(t, b, chromedp.FullScreenshot(100))
	if _, err := png.DecodeConfig(bytes.NewReader(data)); err != nil {
		t.Fatalf("a screenshot is no picture: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(filepath.Base(t.Name())+" "+name, " ", "-")+".png"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// testChartPoints: the chart of scores has a mark, which leads to its page, for each
// run of its load.
func testChartPoints(t *testing.T, s *site, b *tab) {
	b.run(t, screen(1280, "light"), chromedp.Navigate(s.URL+"/"))
	_, sum, err := s.ui.store.load()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, r := range sum.Runs {
		want[runPath(r.ID)] = true
	}
	got := eval[[]string](t, b, `[...document.querySelectorAll(".wide svg.chart a")].filter(a => a.getBoundingClientRect().width > 0).map(a => a.getAttribute("href"))`)
	seen := map[string]bool{}
	for _, href := range got {
		if !want[href] {
			t.Errorf("a mark leads to %q", href)
		}
		seen[href] = true
	}
	if len(seen) != len(want) || len(want) < 20 {
		t.Errorf("%d marks for %d runs", len(seen), len(want))
	}
	eval[bool](t, b, `document.querySelector('.wide svg.chart a[href="/runs/9"]').dispatchEvent(new MouseEvent("click", {bubbles: true}))`)
	b.run(t, chromedp.WaitVisible("#endpoints"))
	if at := eval[string](t, b, "location.pathname"); at != "/runs/9" {
		t.Errorf("a click on the mark of run 9 leads to %s", at)
	}
}

// testLiveUpdate: what a search writes arrives in an open page without loading it
// again: its progress, and the pairs as they come.
func testLiveUpdate(t *testing.T, s *site, b *tab) {
	b.run(t, chromedp.Navigate(s.URL+"/live"))
	eval[bool](t, b, `window.same = true`)
	eventually(t, b, "connection", `document.getElementById("live-state")?.textContent.includes("arrive") === true`)
	w := progress.NewWriter(s.dir, "tune", "toy", time.Now)
	w.Update(func(s *progress.State) {})
	time.Sleep(300 * time.Millisecond)
	w.Update(func(s *progress.State) {
		s.Phase, s.Doing = "trial", "trying a thing"
		s.Run = progress.Run{Phase: "load", Score: 777, Growth: []float64{1, 2, 3, 4}}
	})
	eventually(t, b, "progress", `document.body?.innerText.includes("trying a thing") === true && document.body.innerText.includes("777")`)
	eventually(t, b, "chart", `document.querySelectorAll("#live .wide svg.chart circle").length >= 3`)
	addPairs(t, s.dir)
	eventually(t, b, "pairs", `document.querySelectorAll("#pairs tbody tr").length === 2 && document.getElementById("pairs")?.innerText.includes("+50.0 %") === true`)
	if status, file, _ := s.get(t, "/live?tsv=pairs"); status != 200 || !strings.Contains(file, "\t+50.0 %\t") || strings.Count(file, "\n") != 2 {
		t.Errorf("the file of the pairs: status %d, %q", status, file)
	}
	if err := w.End("done"); err != nil {
		t.Fatal(err)
	}
	eventually(t, b, "end", `document.body?.innerText.includes("ended (done)") === true`)
	if !eval[bool](t, b, `window.same === true && document.title !== "pwned"`) {
		t.Error("the page was loaded again")
	}
	if found := b.problems(); len(found) > 0 {
		t.Errorf("the console has %q", found)
	}
}

// addPairs saves one and a half pairs of a new change.
func addPairs(t *testing.T, dir string) {
	t.Helper()
	h, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	c := &iikanji.Change{Kind: "lever", Target: "toy", Says: "one more"}
	if err := h.AddChange(c, "diff"); err != nil {
		t.Fatal(err)
	}
	run := func(score float64) {
		t.Helper()
		id, _, err := h.NewRun()
		if err == nil {
			err = h.SaveRun(&iikanji.Run{ID: id, Outcome: iikanji.Passed, Score: score, Took: 10 * time.Second, Began: time.Now()})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stage := func(to iikanji.Stage) {
		t.Helper()
		if err := h.Append(history.Event{What: history.Staged, Change: c.ID, Stage: to}); err != nil {
			t.Fatal(err)
		}
	}
	run(1000)
	stage(iikanji.Applied)
	run(1500)
	run(1600)
}

// testKeyboard: the keyboard alone skips the navigation, follows it, sorts and
// filters a table, and signs in.
func testKeyboard(t *testing.T, s *site, b *tab) {
	b.run(t, screen(1280, "light"), chromedp.Navigate(s.URL+"/"))
	focused := func() string {
		return eval[string](t, b, `document.activeElement.textContent.trim() || document.activeElement.name || document.activeElement.tagName`)
	}
	tabTo := func(want string) {
		t.Helper()
		for range 80 {
			b.run(t, chromedp.KeyEvent(kb.Tab))
			if focused() == want {
				if outline := eval[string](t, b, `getComputedStyle(document.activeElement).outlineStyle`); outline == "none" {
					t.Errorf("%q has the focus, and nothing shows it", want)
				}
				return
			}
		}
		t.Fatalf("the tab key never reached %q", want)
	}
	b.run(t, chromedp.KeyEvent(kb.Tab))
	if got := focused(); got != "To the content" {
		t.Errorf("the first stop is %q", got)
	}
	b.run(t, chromedp.KeyEvent(kb.Enter))
	eventually(t, b, "skip link", `document.activeElement.id === "main" || location.hash === "#main"`)
	b.run(t, chromedp.Navigate(s.URL+"/"))
	tabTo("Runs")
	b.run(t, chromedp.KeyEvent(kb.Enter))
	eventually(t, b, "navigation", `location.pathname === "/runs"`)
	tabTo("score")
	b.run(t, chromedp.KeyEvent(kb.Enter))
	eventually(t, b, "sorting", `location.search === "?runs.sort=-score" && document.querySelector('th[aria-sort=descending]')?.textContent.includes("score") === true`)
	if !eval[bool](t, b, `(() => { const n = [...document.querySelectorAll("tbody tr")].map(r => parseFloat(r.cells[6].textContent.replace(/,/g, ""))).filter(v => v === v); return n.length > 5 && n.every((v, i) => i === 0 || v <= n[i-1]); })()`) {
		t.Error("the scores are not sorted")
	}
	tabTo("runs.q")
	b.run(t, chromedp.KeyEvent("calibration"))
	eventually(t, b, "filter", `document.querySelector("#runs .shown")?.textContent.startsWith("8 of ") === true`)
	b.run(t, chromedp.KeyEvent(kb.Enter))
	eventually(t, b, "filter of the server", `location.search.includes("runs.q=calibration") && document.querySelectorAll("#runs tbody tr").length === 8`)
	b.run(t, chromedp.Navigate(s.URL+"/actions"))
	tabTo("token")
	b.run(t, chromedp.KeyEvent(testToken), chromedp.KeyEvent(kb.Enter))
	eventually(t, b, "signing in", `document.body?.innerText.includes("Start tune") === true`)
}

// testWithoutScript: pages, sorting and filters work without script.
func testWithoutScript(t *testing.T, s *site, b *tab) {
	b.run(t, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.Navigate(s.URL+"/runs"), chromedp.Click(`//th/a[text()="score"]`), chromedp.WaitVisible(`th[aria-sort=descending]`))
	b.run(t, chromedp.SendKeys(`input[name="runs.q"]`, "calibration"), chromedp.Click(`#runs form button`), chromedp.WaitVisible(`//span[@class="shown"][starts-with(., "8 of")]`))
	for _, path := range browsed {
		b.run(t, chromedp.Navigate(s.URL+path))
		if text := result(t, b, chromedp.Text("main")); len(text) < 20 {
			t.Errorf("%s shows %q", path, text)
		}
	}
	b.run(t, chromedp.Navigate(s.URL+"/live"), chromedp.WaitReady(`meta[http-equiv=refresh]`))
}
