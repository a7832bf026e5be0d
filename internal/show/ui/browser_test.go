package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/browsertest"
	"github.com/iikanji/iikanji/internal/show/progress"
)

// TestBrowser runs the tests in one browser, each in a tab of its own.
func TestBrowser(t *testing.T) {
	tier.Slow(t)
	browser, s := browsertest.Start(t), hostileSite(t)
	for name, test := range map[string]func(*testing.T, *site, *browsertest.Tab){"team": testTeamPage, "pages": testPages, "chart": testChartPoints, "keyboard": testKeyboard, "script": testWithoutScript} {
		t.Run(name, func(t *testing.T) { test(t, s, browsertest.Open(t, browser)) })
	}
}

// TestLive runs in a browser of its own, because it changes the history.
func TestLive(t *testing.T) {
	testLiveUpdate(t, hostileSite(t), browsertest.Open(t, browsertest.Start(t)))
}

// browsed are the pages that are looked at.
var browsed = []string{"/", "/team", "/runs", "/runs/9", "/runs/2", "/runs/9?vs=2", "/runs/12?vs=9", "/runs/9/requests", "/runs/9/requests/1", "/endpoints?run=9", "/findings", "/changes", "/changes/1", "/live", "/traces", "/traces/" + traceID, "/actions", "/nothing"}

// testPages opens every page: at two widths, in both colour schemes,
// without an error in the console, without a part that is wider than the window, and
// without a serious finding of axe-core.
func testPages(t *testing.T, s *site, b *browsertest.Tab) {
	for _, path := range browsed {
		t.Run(strings.NewReplacer("/", "_", "?", "_", "=", "").Replace(path), func(t *testing.T) {
			b.Do(t, browsertest.Screen(1280, "light"), chromedp.Navigate(s.URL+path), chromedp.WaitReady("main"))
			b.LoadAxe(t)
			for _, width := range []int64{1280, 390} {
				for _, scheme := range []string{"light", "dark"} {
					b.Do(t, browsertest.Screen(width, scheme))
					name := fmt.Sprintf("%d %s", width, scheme)
					if title := browsertest.Eval[string](t, b, "document.title"); title == "pwned" || !strings.HasSuffix(title, "iikanji") {
						t.Errorf("%s: the title is %q", name, title)
					}
					if wide := browsertest.Eval[int](t, b, "document.documentElement.scrollWidth"); wide > int(width) {
						t.Errorf("%s: the page is %d wide", name, wide)
					}
					switch {
					case scheme == "light":
						b.Axe(t, name, browsertest.AllRules)
					case width > 500: // the dark colours are the same on both
						b.Axe(t, name, browsertest.ColourRules)
					}
					b.Picture(t, name)
				}
			}
			if found := b.Problems(); len(found) > 0 && path != "/nothing" {
				t.Errorf("the console has %q", found)
			}
		})
	}
}

// testChartPoints: the chart of scores has a mark, which leads to its page, for each
// run of its load.
func testChartPoints(t *testing.T, s *site, b *browsertest.Tab) {
	b.Do(t, browsertest.Screen(1280, "light"), chromedp.Navigate(s.URL+"/"))
	_, sum, err := s.ui.store.load()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, r := range sum.Runs {
		want[runPath(r.ID)] = true
	}
	got := browsertest.Eval[[]string](t, b, `[...document.querySelectorAll(".wide svg.chart a")].filter(a => a.getBoundingClientRect().width > 0).map(a => a.getAttribute("href"))`)
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
	browsertest.Eval[bool](t, b, `document.querySelector('.wide svg.chart a[href="/runs/9"]').dispatchEvent(new MouseEvent("click", {bubbles: true}))`)
	b.Do(t, chromedp.WaitVisible("#endpoints"))
	if at := browsertest.Eval[string](t, b, "location.pathname"); at != "/runs/9" {
		t.Errorf("a click on the mark of run 9 leads to %s", at)
	}
}

// testLiveUpdate: what a search writes arrives in an open page without loading it
// again: its progress, and the pairs as they come.
func testLiveUpdate(t *testing.T, s *site, b *browsertest.Tab) {
	b.Do(t, chromedp.Navigate(s.URL+"/live"))
	browsertest.Eval[bool](t, b, `window.same = true`)
	browsertest.Eventually(t, b, "connection", `document.getElementById("live-state")?.textContent.includes("arrive") === true`)
	w := progress.NewWriter(s.dir, "tune", "toy", time.Now)
	w.Update(func(s *progress.State) {})
	time.Sleep(300 * time.Millisecond)
	w.Update(func(s *progress.State) {
		s.Phase, s.Doing = "trial", "trying a thing"
		s.Run = progress.Run{Phase: "load", Score: 777, Growth: []float64{1, 2, 3, 4}}
	})
	browsertest.Eventually(t, b, "progress", `document.body?.innerText.includes("trying a thing") === true && document.body.innerText.includes("777")`)
	browsertest.Eventually(t, b, "chart", `document.querySelectorAll("#live .wide svg.chart circle").length >= 3`)
	addPairs(t, s.dir)
	browsertest.Eventually(t, b, "pairs", `document.querySelectorAll("#pairs tbody tr").length === 2 && document.getElementById("pairs")?.innerText.includes("+50.0 %") === true`)
	if status, file, _ := s.get(t, "/live?tsv=pairs"); status != 200 || !strings.Contains(file, "\t+50.0 %\t") || strings.Count(file, "\n") != 2 {
		t.Errorf("the file of the pairs: status %d, %q", status, file)
	}
	if err := w.End("done"); err != nil {
		t.Fatal(err)
	}
	browsertest.Eventually(t, b, "end", `document.body?.innerText.includes("ended (done)") === true`)
	if !browsertest.Eval[bool](t, b, `window.same === true && document.title !== "pwned"`) {
		t.Error("the page was loaded again")
	}
	if found := b.Problems(); len(found) > 0 {
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
func testKeyboard(t *testing.T, s *site, b *browsertest.Tab) {
	b.Do(t, browsertest.Screen(1280, "light"), chromedp.Navigate(s.URL+"/"))
	focused := func() string {
		return browsertest.Eval[string](t, b, `document.activeElement.textContent.trim() || document.activeElement.name || document.activeElement.tagName`)
	}
	tabTo := func(want string) {
		t.Helper()
		for range 80 {
			b.Do(t, chromedp.KeyEvent(kb.Tab))
			if focused() == want {
				if outline := browsertest.Eval[string](t, b, `getComputedStyle(document.activeElement).outlineStyle`); outline == "none" {
					t.Errorf("%q has the focus, and nothing shows it", want)
				}
				return
			}
		}
		t.Fatalf("the tab key never reached %q", want)
	}
	b.Do(t, chromedp.KeyEvent(kb.Tab))
	if got := focused(); got != "To the content" {
		t.Errorf("the first stop is %q", got)
	}
	b.Do(t, chromedp.KeyEvent(kb.Enter))
	browsertest.Eventually(t, b, "skip link", `document.activeElement.id === "main" || location.hash === "#main"`)
	b.Do(t, chromedp.Navigate(s.URL+"/"))
	tabTo("Runs")
	b.Do(t, chromedp.KeyEvent(kb.Enter))
	browsertest.Eventually(t, b, "navigation", `location.pathname === "/runs"`)
	tabTo("score")
	b.Do(t, chromedp.KeyEvent(kb.Enter))
	browsertest.Eventually(t, b, "sorting", `location.search === "?runs.sort=-score" && document.querySelector('th[aria-sort=descending]')?.textContent.includes("score") === true`)
	if !browsertest.Eval[bool](t, b, `(() => { const n = [...document.querySelectorAll("tbody tr")].map(r => parseFloat(r.cells[6].textContent.replace(/,/g, ""))).filter(v => v === v); return n.length > 5 && n.every((v, i) => i === 0 || v <= n[i-1]); })()`) {
		t.Error("the scores are not sorted")
	}
	tabTo("runs.q")
	b.Do(t, chromedp.KeyEvent("calibration"))
	browsertest.Eventually(t, b, "filter", `document.querySelector("#runs .shown")?.textContent.startsWith("6 of ") === true`)
	b.Do(t, chromedp.KeyEvent(kb.Enter))
	browsertest.Eventually(t, b, "filter of the server", `location.search.includes("runs.q=calibration") && document.querySelectorAll("#runs tbody tr").length === 6`)
	b.Do(t, chromedp.Navigate(s.URL+"/actions"))
	tabTo("token")
	b.Do(t, chromedp.KeyEvent(testToken), chromedp.KeyEvent(kb.Enter))
	browsertest.Eventually(t, b, "signing in", `document.body?.innerText.includes("Start tune") === true`)
}

// testWithoutScript: pages, sorting and filters work without script.
func testWithoutScript(t *testing.T, s *site, b *browsertest.Tab) {
	b.Do(t, browsertest.WithoutScript(), chromedp.Navigate(s.URL+"/runs"), chromedp.Click(`//th/a[text()="score"]`), chromedp.WaitVisible(`th[aria-sort=descending]`))
	b.Do(t, chromedp.SendKeys(`input[name="runs.q"]`, "calibration"), chromedp.Click(`#runs form button`), chromedp.WaitVisible(`//span[@class="shown"][starts-with(., "6 of")]`))
	for _, path := range browsed {
		b.Do(t, chromedp.Navigate(s.URL+path))
		if text := browsertest.Result(t, b, chromedp.Text("main")); len(text) < 20 {
			t.Errorf("%s shows %q", path, text)
		}
	}
	b.Do(t, chromedp.Navigate(s.URL+"/live"), chromedp.WaitReady(`meta[http-equiv=refresh]`))
}
