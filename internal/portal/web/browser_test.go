package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api/apitest"
	"github.com/iikanji/iikanji/internal/show/browsertest"
)

// tabs is how many tabs of one browser look at pages at the same time.
const tabs = 3

// TestBrowser opens every page at three widths, in both schemes and languages: nothing is wider
// than the window, the console has no error, and axe-core finds nothing serious. The contrast of
// the light scheme is looked at in the widest window.
func TestBrowser(t *testing.T) {
	tier.Slow(t)
	server, chrome := serve(t, apitest.Frozen), browsertest.Start(t)
	all := views(t, server)
	for n := range tabs {
		t.Run(fmt.Sprint("tab ", n+1), func(t *testing.T) {
			t.Parallel()
			b := browsertest.Open(t, chrome)
			for i := n; i < len(all); i += tabs {
				look(t, b, server.URL, all[i])
			}
		})
	}
}

// look opens a page in each language, and changes the width of the English one.
func look(t *testing.T, b *browsertest.Tab, address string, v [2]string) {
	t.Helper()
	for _, as := range []struct {
		lang, scheme string
		widths       []int64
	}{{"en", "light", []int64{1280, 320}}, {"ja", "dark", []int64{390}}} {
		headers := map[string]string{"Accept-Language": as.lang}
		if v[0] != "" {
			headers["Cookie"] = "portal=" + v[0]
		}
		b.Do(t, browsertest.Headers(headers), browsertest.Screen(as.widths[0], as.scheme), chromedp.Navigate(address+v[1]), chromedp.WaitReady("main"))
		b.LoadAxe(t)
		for i, width := range as.widths {
			b.Do(t, browsertest.Screen(width, as.scheme))
			rules := browsertest.WCAG
			if i > 0 {
				rules = browsertest.LayoutRules
			}
			fits(t, b, fmt.Sprintf("%s as %q, %d, %s, %s", v[1], v[0], width, as.scheme, as.lang), as.lang, width, rules)
			b.Picture(t, fmt.Sprintf("%s %s %d", v[1], v[0], width))
		}
	}
	if found := b.Problems(); len(found) > 0 && v[1] != "/r/none" {
		t.Errorf("%s as %q: the console has %q", v[1], v[0], found)
	}
}

// fits looks at a page as it is now.
func fits(t *testing.T, b *browsertest.Tab, name, lang string, width int64, rules browsertest.Rules) {
	t.Helper()
	if got := browsertest.Eval[string](t, b, "document.documentElement.lang"); got != lang {
		t.Errorf("%s: the language is %q", name, got)
	}
	if got := browsertest.Eval[int](t, b, "innerWidth"); got != int(width) {
		t.Errorf("%s: the window is %d wide", name, got)
	}
	if wide := browsertest.Eval[int](t, b, "document.documentElement.scrollWidth"); wide > int(width) {
		t.Errorf("%s: the page is %d wide", name, wide)
	}
	if browsertest.Eval[bool](t, b, `[...document.querySelectorAll("figure")].some(f => ![...f.querySelectorAll("svg.chart")].some(c => c.querySelector(".line") && c.getBoundingClientRect().height > 100))`) {
		t.Errorf("%s: a chart is empty", name)
	}
	b.Axe(t, name, rules)
}
