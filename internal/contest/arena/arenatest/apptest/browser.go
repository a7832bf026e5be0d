package apptest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A Browser is a Chromium, which starts when the first page is opened. It serves all tests
// of a site: a start is most of the work of a page.
type Browser struct {
	start func() (context.Context, error)
}

// NewBrowser returns a browser that ends when t is over.
func NewBrowser(t *testing.T) *Browser {
	t.Helper()
	return &Browser{start: sync.OnceValues(func() (context.Context, error) {
		width, height := windowSize()
		flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.WindowSize(width, height), chromedp.WSURLReadTimeout(browseLimit))
		allocator, stop := chromedp.NewExecAllocator(t.Context(), flags...)
		ctx, done := chromedp.NewContext(allocator)
		t.Cleanup(func() { done(); stop() })
		return ctx, chromedp.Do(ctx)
	})}
}

const (
	// browseLimit limits the start of the browser, and a page.
	browseLimit = 4 * time.Minute
	// pageTime is the time in ms that passes for the scripts of a page. The browser's clock
	// skips the time in which nothing happens, and waits for answers.
	pageTime = 4000
	// maxStarved is the number of tasks after which the clock goes on in spite of more of
	// them. It is that of chromium --virtual-time-budget.
	maxStarved = 9999
)

// Browse opens a page and returns the DOM after its scripts ran. The profile is new every
// time, so no user is signed in. With SCREENSHOTS set to a folder, it also leaves a picture
// there for inspection by hand; SCREENSIZE is the size of the window as WIDTH,HEIGHT.
func (b *Browser) Browse(t *testing.T, address string) string {
	t.Helper()
	browser, err := b.start()
	if err != nil {
		t.Fatalf("chromium (Debian's package chromium): %v", err)
	}
	ctx, cancel := context.WithTimeout(browser, browseLimit)
	defer cancel()
	tab, done := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	defer done()
	dom, err := chromedp.Run(tab, settled(address))
	if err != nil {
		t.Fatalf("opening %s: %v", address, err)
	}
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		picture, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(dir+"/"+strings.ReplaceAll(t.Name(), "/", "_")+".png", picture, 0o644)
		}
		if err != nil {
			t.Fatalf("taking a screenshot: %v", err)
		}
	}
	return dom
}

// windowSize is the size of the browser's window.
func windowSize() (width, height int) {
	if n, err := fmt.Sscanf(os.Getenv("SCREENSIZE"), "%d,%d", &width, &height); n < 2 || err != nil {
		return 1200, 1400
	}
	return width, height
}

// settled opens a page, lets its time pass, and returns its DOM. The clock stands until the
// page is there: its time would pass for the empty one before.
func settled(address string) chromedp.Action[string] {
	return func(ctx context.Context, tab *chromedp.Target) (string, error) {
		over, stop := tab.Subscribe(emulation.VirtualTimeBudgetExpired.Method)
		defer stop()
		clock := emulation.SetVirtualTimePolicyParams{Policy: emulation.VirtualTimePolicyPause}
		if _, err := cdp.Call(ctx, tab, emulation.SetVirtualTimePolicy, clock); err != nil {
			return "", err
		}
		opened, err := cdp.Call(ctx, tab, page.Navigate, page.NavigateParams{URL: address})
		if err == nil && opened.ErrorText != "" {
			err = errors.New(opened.ErrorText)
		}
		if err != nil {
			return "", err
		}
		budget := float64(pageTime)
		clock = emulation.SetVirtualTimePolicyParams{Policy: emulation.VirtualTimePolicyPauseIfNetworkFetchesPending, Budget: &budget,
			MaxVirtualTimeTaskStarvationCount: maxStarved}
		if _, err := cdp.Call(ctx, tab, emulation.SetVirtualTimePolicy, clock); err != nil {
			return "", err
		}
		select {
		case <-over:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		return chromedp.Evaluate[string]("document.documentElement.outerHTML")(ctx, tab)
	}
}
