// Package browsertest looks at pages in Debian's Chromium, for tests: what the console reported,
// what axe-core finds, the size of the window, pictures.
//
//	b := browsertest.Open(t, browsertest.Start(t))
//	b.Do(t, browsertest.Screen(390, "dark"), chromedp.Navigate(url), chromedp.WaitReady("main"))
//	b.Axe(t, "390 dark", browsertest.AllRules)
//
// SCREENSHOTS names a folder for pictures.
package browsertest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"image/png"
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
)

// axe is axe-core 4.11.4, as it was published; its licences are beside it.
//
//go:embed axe/axe.min.js
var axe string

// patience is how long an act in a browser may take on a busy machine.
const patience = 4 * time.Minute

// A Tab is a page of a browser, with what its console reported.
type Tab struct {
	context.Context
	mu     sync.Mutex
	errors []string
}

// Start starts a browser that ends with the test. Each test has a tab of its own.
func Start(t *testing.T) context.Context {
	t.Helper()
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("hide-scrollbars", true), chromedp.WSURLReadTimeout(patience))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), flags...)
	ctx, done := chromedp.NewContext(allocator)
	t.Cleanup(func() { done(); stop() })
	if err := chromedp.Do(ctx); err != nil { // the browser ends with this context
		t.Fatalf("chromium (Debian's package chromium): %v", err)
	}
	return ctx
}

// Open opens a tab of a browser, and collects what its console reports.
func Open(t *testing.T, browser context.Context) *Tab {
	t.Helper()
	ctx, done := chromedp.NewContext(browser)
	t.Cleanup(done)
	b := &Tab{Context: ctx}
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

// Problems returns and forgets the errors of the console.
func (b *Tab) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.errors
	b.errors = nil
	return out
}

// Do runs actions.
func (b *Tab) Do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// Result runs one action and returns its value.
func Result[T any](t *testing.T, b *Tab, a chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Eval evaluates an expression, and waits for a promise.
func Eval[T any](t *testing.T, b *Tab, expression string) T {
	t.Helper()
	return Result(t, b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Eventually waits until an expression is true.
func Eventually(t *testing.T, b *Tab, what, expression string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if Eval[bool](t, b, expression) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s: %s was never true; the page is %.3000s", what, expression, Eval[string](t, b, "document.body.innerText"))
}

// Screen sets the size of the window and the colour scheme.
func Screen(width int64, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	})
}

// Headers sets headers of each request, as in Accept-Language.
func Headers(headers map[string]string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		all := network.Headers{}
		for name, value := range headers {
			all[name] = value
		}
		_, err := cdp.Call(ctx, target, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: all})
		return err
	})
}

// WithoutScript turns scripts of pages off.
func WithoutScript() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}

// Rules are rules of axe-core: what its option runOnly has, and how many must pass.
type Rules struct {
	only   string
	passes int
}

// The dark scheme changes colours only: ColourRules are enough for it.
var (
	AllRules    = Rules{`["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]`, 10}
	WCAG        = Rules{`["wcag2a", "wcag2aa", "wcag21aa"]`, 5}
	ColourRules = Rules{`["color-contrast", "link-in-text-block"]`, 1}
	// LayoutRules are those of WCAG without the contrast, which takes most of the time: another
	// width changes no colour.
	LayoutRules = Rules{`["wcag2a", "wcag2aa", "wcag21aa"], rules: {"color-contrast": {enabled: false}}`, 5}
)

// LoadAxe loads axe-core into the page.
func (b *Tab) LoadAxe(t *testing.T) {
	t.Helper()
	Eval[bool](t, b, axe+"; true")
}

// Axe reports the serious findings of axe-core, which the page has loaded. Only the nodes of
// violations are collected, without their selectors.
func (b *Tab) Axe(t *testing.T, name string, rules Rules) {
	t.Helper()
	out := Eval[string](t, b, `axe.run(document, {resultTypes: ["violations"], selectors: false, runOnly: `+rules.only+`}).then(r =>
		JSON.stringify({passes: r.passes.length, violations: r.violations.map(v => ({id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 300) + " " + n.failureSummary)}))}))`)
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

// Picture saves a picture of the whole page if SCREENSHOTS names a folder.
func (b *Tab) Picture(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	data := Result(t, b, chromedp.FullScreenshot(100))
	if _, err := png.DecodeConfig(bytes.NewReader(data)); err != nil {
		t.Fatalf("a screenshot is no picture: %v", err)
	}
	name = strings.NewReplacer("/", "_", "?", "_", " ", "-").Replace(filepath.Base(t.Name()) + " " + name)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}
