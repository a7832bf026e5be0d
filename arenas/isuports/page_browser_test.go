package isuports_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A tab is a page of a browser, with what its console reported.
type tab struct {
	context.Context
	t      *testing.T
	mu     sync.Mutex
	errors []string

	refused []string // statuses that the page's requests are answered with on purpose
}

// browser starts Debian's Chromium once for the tests of the pages.
var browser struct {
	context.Context
	start sync.Once
}

// openTab opens a page of a tenant's host, in a new profile: no account is logged in.
func openTab(t *testing.T, tenant, path string) *tab {
	t.Helper()
	browser.start.Do(func() {
		flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("hide-scrollbars", true), chromedp.WindowSize(1200, 1000), chromedp.WSURLReadTimeout(4*time.Minute))
		allocator, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), flags...)
		ctx, done := chromedp.NewContext(allocator)
		browser.Context = ctx
		stopBrowser = func() { done(); stop() }
		if err := chromedp.Do(ctx); err != nil {
			t.Fatalf("chromium (Debian's package chromium): %v", err)
		}
	})
	ctx, done := chromedp.NewContext(browser.Context, chromedp.WithNewBrowserContext())
	t.Cleanup(done)
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
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, e := range b.errors {
			if !slices.ContainsFunc(b.refused, func(status string) bool { return strings.Contains(e, status) }) {
				t.Errorf("the console has %s", e)
			}
		}
	})
	b.run(chromedp.Navigate(b.address(tenant, path)))
	return b
}

// stopBrowser ends the browser, if it was started.
var stopBrowser = func() {}

// address is a URL as people would type it: browsers find hosts that end in
// .localhost on this machine.
func (b *tab) address(tenant, path string) string {
	b.t.Helper()
	u, err := url.Parse(site.URL())
	if err != nil {
		b.t.Fatal(err)
	}
	return fmt.Sprintf("http://%s.localhost:%s%s", tenant, u.Port(), path)
}

// run runs actions within a minute.
func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b, 4*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// text evaluates an expression.
func (b *tab) text(expression string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b, 4*time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// wants waits until the texts that a selector finds are these.
func (b *tab) wants(selector string, want ...string) {
	b.t.Helper()
	var got string
	expected := strings.Join(want, "|")
	for end := time.Now().Add(4 * time.Minute); time.Now().Before(end); {
		got = b.text(fmt.Sprintf("[...document.querySelectorAll(%q)].map(e => e.innerText.trim()).join('|')", selector))
		if got == expected {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	b.t.Fatalf("%s: the page shows %q, want %q\n%.1500s", selector, got, expected, b.text("document.body.innerText"))
}

// click clicks an element when it is there.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.run(chromedp.WaitVisible(selector), chromedp.Click(selector))
}

// screenshot keeps the page for inspection by hand, if the environment names a
// folder for it.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b, 4*time.Minute)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func testBrowserAdmin(t *testing.T) {
	b := openTab(t, "admin", "/")
	b.wants("h1", "SaaS 管理")
	b.screenshot("admin-login")
	b.click("#login-admin button")
	b.wants("#me", "管理者")
	newest := data[theTenants](t, admin(t).get("/api/admin/tenants/billing")).Tenants
	var ids []string
	for _, tenant := range newest {
		ids = append(ids, tenant.ID)
	}
	b.wants("#tenants td:first-child", ids...)
	b.screenshot("admin-billing")
	b.click("#more")
	next := data[theTenants](t, admin(t).get("/api/admin/tenants/billing?before="+ids[9])).Tenants
	b.wants("#tenants tr:first-child td", next[0].ID, next[0].Name, next[0].DisplayName, grouped(next[0].Billing)+" 円")
	b.click(`header a[href="/tenants/add"]`)
	b.wants("h1", "テナント追加")
	add := func(name string) {
		b.run(chromedp.SendKeys("#add-tenant [name=name]", name), chromedp.SendKeys("#add-tenant [name=display_name]", "ブラウザ <b>部</b>"))
		b.click("#add-tenant button")
	}
	add("from-the-browser")
	b.wants(".notice", "ブラウザ <b>部</b> (from-the-browser) を追加しました。")
	add("from-the-browser")
	b.wants(".problem", "入力内容を確かめてください。")
	b.screenshot("admin-add")
	b.refused = append(b.refused, "400")
	b.click("#logout")
	b.wants("h1", "SaaS 管理")
}

// grouped writes a number as people in Japan do.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func testBrowserOrganizer(t *testing.T) {
	name, _ := newTenant(t, 0)
	b := openTab(t, name, "/")
	b.wants("h1", "テスト")
	b.screenshot("login")
	b.click("#login-organizer button")
	b.wants("#me", "主催者")
	b.click(`header a[href="/players"]`)
	b.wants("#players", []string{}...)
	b.run(chromedp.WaitVisible("#add-players textarea"), chromedp.SendKeys("#add-players textarea", "椅子 一郎\n\n<i>椅子 二郎</i>\n"))
	b.click("#add-players button")
	b.wants(".notice", "2 人を追加しました。")
	players := data[thePlayers](t, organizer(t, name).get("/api/organizer/players")).Players
	b.wants("#players td:first-child", players[0].ID, players[1].ID)
	b.click(fmt.Sprintf(`tr[data-id="%s"] button`, players[1].ID))
	b.wants("#players .badge", "失格")
	b.screenshot("organizer-players")

	b.click(`header a[href="/"]:not(:has(img))`)
	b.run(chromedp.WaitVisible("#add-competition"), chromedp.SendKeys("#add-competition input", "第1回 椅子取り大会"))
	b.click("#add-competition button")
	b.wants("#competitions td:first-child", "第1回 椅子取り大会")
	csv := filepath.Join(t.TempDir(), "scores.csv")
	if err := os.WriteFile(csv, []byte(csvOf(players[0].ID, 1234, players[1].ID, 99)), 0o644); err != nil {
		t.Fatal(err)
	}
	b.run(chromedp.SetUploadFiles(".upload input", []string{csv}))
	b.click(".upload button")
	b.wants(".notice", "第1回 椅子取り大会: 2 行のスコアを登録しました。")
	b.screenshot("organizer-competitions")
	b.click(".finish")
	b.wants("#competitions .badge", "終了")
	b.click(`header a[href="/billing"]`)
	b.wants("#reports tbody td", "第1回 椅子取り大会", "2", "0", "200 円", "0 円", "200 円")
	b.wants("#sum", "200 円")
	b.screenshot("organizer-billing")
}

func testBrowserPlayer(t *testing.T) {
	name, p := newTenant(t, 102)
	id := newCompetition(t, name, "第2回 <計算>")
	var rows []any
	for i, player := range p {
		rows = append(rows, player, 100000-i)
	}
	uploaded(t, name, id, csvOf(rows...))
	b := openTab(t, name, "/competition/"+id)
	b.run(chromedp.WaitVisible("#login-player"), chromedp.SendKeys("#login-player input", "nobody"))
	b.click("#login-player button")
	b.wants(".problem", "この ID の参加者はいません。")
	b.text(`document.querySelector("#login-player input").value = ""`)
	b.run(chromedp.SendKeys("#login-player input", p[1]))
	b.click("#login-player button")
	b.wants("#me", "p2")
	b.wants("#competitions td", "第2回 <計算>", "開催中")
	b.screenshot("player-competitions")
	b.click("#competitions a")
	b.wants("#ranking .own td", "2", "p2", "99,999")
	b.wants("#ranking .top3 td:nth-child(2)", "p1", "p2", "p3")
	b.screenshot("player-ranking")
	b.click("#more")
	b.wants("#ranking td", "101", "p101", "99,900", "102", "p102", "99,899")
	b.click(`#ranking tr:last-child a`)
	b.wants("h1", "p102")
	b.wants("#scores td", "第2回 <計算>", "99,899")
	b.screenshot("player-detail")
	b.run(chromedp.Navigate(b.address(name, "/player")))
	b.wants("h1", "p2")
	organizer(t, name).post("/api/organizer/player/"+p[1]+"/disqualified").want(t, 200)
	b.run(chromedp.Navigate(b.address(name, "/competition/"+id)))
	b.wants(".problem", "この操作は許可されていません。")
	b.mu.Lock()
	b.refused = append(b.refused, "403")
	b.mu.Unlock()
}
