package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api/apitest"
	"github.com/iikanji/iikanji/internal/show/browsertest"
)

// TestBrowser opens every page at three widths, in both schemes and languages: nothing is wider
// than the window, the console has no error, and axe-core finds nothing serious.
func TestBrowser(t *testing.T) {
	tier.Slow(t)
	server, b := serve(t, apitest.Frozen), browsertest.Open(t, browsertest.Start(t))
	for _, v := range views(t, server) {
		for i, width := range []int64{1280, 390, 320} {
			scheme, lang := []string{"light", "dark", "light"}[i], []string{"en", "ja", "en"}[i]
			name := fmt.Sprintf("%s as %q, %d, %s, %s", v[1], v[0], width, scheme, lang)
			headers := map[string]string{"Accept-Language": lang}
			if v[0] != "" {
				headers["Cookie"] = "portal=" + v[0]
			}
			b.Do(t, browsertest.Headers(headers), browsertest.Screen(width, scheme), chromedp.Navigate(server.URL+v[1]), chromedp.WaitReady("main"))
			if got := browsertest.Eval[string](t, b, "document.documentElement.lang"); got != lang {
				t.Errorf("%s: the language is %q", name, got)
			}
			if wide := browsertest.Eval[int](t, b, "document.documentElement.scrollWidth"); wide > int(width) {
				t.Errorf("%s: the page is %d wide", name, wide)
			}
			if browsertest.Eval[bool](t, b, `[...document.querySelectorAll("figure")].some(f => ![...f.querySelectorAll("svg.chart")].some(c => c.querySelector(".line") && c.getBoundingClientRect().height > 100))`) {
				t.Errorf("%s: a chart is empty", name)
			}
			b.LoadAxe(t)
			b.Axe(t, name, browsertest.WCAG)
			b.Picture(t, fmt.Sprintf("%s %s %d", v[1], v[0], width))
			if found := b.Problems(); len(found) > 0 && v[1] != "/r/none" {
				t.Errorf("%s: the console has %q", name, found)
			}
		}
	}
}
