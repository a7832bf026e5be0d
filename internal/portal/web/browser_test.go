package web

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api/apitest"
)

// axeFile is axe-core, which the tests of the other pages keep.
const axeFile = "../../show/ui/testdata/axe/axe.min.js"

// A tab is a page of a browser, with what its console reported.
type tab struct {
	context.Context
	t  *testing.T
	mu sync.Mutex

	errors []string
}

// openTab starts Debian's Chromium with one page.
func openTab(t *testing.T) *tab {
	t.Helper()
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("hide-scrollbars", true), chromedp.WSURLReadTimeout(4*time.Minute))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), flags...)
	ctx, done := chromedp.NewContext(allocator)
	t.Cleanup(func() { done(); stop() })
	if err := chromedp.Do(ctx); err != nil { // the browser ends with this context
		t.Fatalf("chromium (Debian's package chromium): %v", err)
	}
	b := &tab{Context: ctx, t: t}
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

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b, 4*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval evaluates an expression, and waits for a promise.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b, 4*time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// look sets the size of the window, the colour scheme, the reader's language and session.
func look(width int64, scheme, lang, role string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500}); err != nil {
			return err
		}
		headers := network.Headers{"Accept-Language": lang}
		if role != "" {
			headers["Cookie"] = "portal=" + role
		}
		if _, err := cdp.Call(ctx, target, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	})
}

// TestBrowser opens every page at three widths, in both schemes and languages: nothing is wider
// than the window, the console has no error, and axe-core finds nothing serious.
func TestBrowser(t *testing.T) {
	tier.Slow(t)
	axe, err := os.ReadFile(axeFile)
	if err != nil {
		t.Fatal(err)
	}
	server, b := serve(t, apitest.Frozen), openTab(t)
	for _, v := range views(t, server) {
		for i, width := range []int64{1280, 390, 320} {
			scheme, lang := []string{"light", "dark", "light"}[i], []string{"en", "ja", "en"}[i]
			name := fmt.Sprintf("%s as %q, %d, %s, %s", v[1], v[0], width, scheme, lang)
			b.do(look(width, scheme, lang, v[0]), chromedp.Navigate(server.URL+v[1]), chromedp.WaitReady("main"))
			if got := eval[string](b, "document.documentElement.lang"); got != lang {
				t.Errorf("%s: the language is %q", name, got)
			}
			if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > int(width) {
				t.Errorf("%s: the page is %d wide", name, wide)
			}
			if eval[bool](b, `[...document.querySelectorAll("figure")].some(f => ![...f.querySelectorAll("svg.chart")].some(c => c.querySelector(".line") && c.getBoundingClientRect().height > 100))`) {
				t.Errorf("%s: a chart is empty", name)
			}
			eval[bool](b, string(axe)+"; true")
			b.axe(name)
			b.picture(strings.NewReplacer("/", "_", "?", "_").Replace(fmt.Sprintf("%s-%s-%d", v[1], v[0], width)))
			b.mu.Lock()
			if len(b.errors) > 0 && v[1] != "/r/none" {
				t.Errorf("%s: the console has %q", name, b.errors)
			}
			b.errors = nil
			b.mu.Unlock()
		}
	}
}

// axe reports the serious findings of axe-core, which the page has loaded.
func (b *tab) axe(name string) {
	b.t.Helper()
	out := eval[string](b, `axe.run(document, {resultTypes: ["violations"], selectors: false, runOnly: ["wcag2a", "wcag2aa", "wcag21aa"]}).then(r =>
		JSON.stringify({passes: r.passes.length, violations: r.violations.map(v => ({id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 2).map(n => n.html.slice(0, 200) + " " + n.failureSummary)}))}))`)
	var found struct {
		Passes     int
		Violations []struct {
			ID, Impact string
			Nodes      []string
		}
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || found.Passes < 5 {
		b.t.Errorf("%s: axe-core did not run: %d rules passed, %v", name, found.Passes, err)
	}
	for _, v := range found.Violations {
		if v.Impact == "serious" || v.Impact == "critical" {
			b.t.Errorf("%s: %s (%s): %q", name, v.ID, v.Impact, v.Nodes)
		}
	}
}

// picture saves a picture of the whole page if SCREENSHOTS names a folder.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	data, err := chromedp.Run(b, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}
