package web_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/iikanji/iikanji/internal/load/webpush"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/login"
	"github.com/iikanji/iikanji/internal/portal/node"
	"github.com/iikanji/iikanji/internal/portal/notify"
	"github.com/iikanji/iikanji/internal/portal/people"
	"github.com/iikanji/iikanji/internal/portal/store"
	"github.com/iikanji/iikanji/internal/portal/web"
	"github.com/iikanji/iikanji/internal/portal/worker"
	"github.com/iikanji/iikanji/internal/show/browsertest"
)

// wayContest is a contest of two hours, frozen for the second one, whose benchmarker reports a
// growing score.
const wayContest = `name = { ja = "大会", en = "Cup" }
local = true
[registration]
open = %[1]s
close = %[2]s
terms = { ja = "仲良く。", en = "Be kind." }
[[rounds]]
id = "final"
title = { ja = "本選", en = "Final" }
problem = "p"
start = %[1]s
hours = 2
freeze = "1h"
[problem.p]
command = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo '{\"t\":'$i',\"score\":'$((i*1000))',\"phase\":\"load\"}' >&3; sleep 0.5; done; echo '{\"end\":true,\"pass\":true,\"score\":%[3]d,\"raw\":%[3]d}' >&3"]
load = "3s"
`

// faster divides heartbeats: progress comes with them.
const faster = 5

// A portal is one of this process, with a worker and a clock that the test moves.
type portal struct {
	*httptest.Server
	t      *testing.T
	core   *lead.Core
	offset atomic.Int64
}

func (p *portal) now() time.Time { return time.Now().Add(time.Duration(p.offset.Load())) }

func newPortal(t *testing.T) *portal {
	t.Helper()
	p := &portal{t: t}
	ctx, cancel := context.WithCancel(t.Context())
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	s, err := store.Open(ctx, filepath.Join(dir, "portal.db"), store.Options{Unsafe: true})
	p.ok(err)
	c, err := carry.Embedded(ctx, filepath.Join(dir, "nats"), faster)
	p.ok(err)
	p.core = lead.New(lead.Options{Store: s, Carry: c, Secret: []byte("x"), Now: p.now, Faster: faster})
	start := p.now().Add(-10 * time.Minute).UTC()
	_, err = p.core.AddContest(ctx, []byte(fmt.Sprintf(wayContest, start.Format(time.RFC3339), start.Add(3*time.Hour).Format(time.RFC3339), 4321)), "cup.toml")
	p.ok(err)
	n, err := node.New(ctx, p.core, c, log)
	p.ok(err)
	logins, err := login.New(login.Options{Core: p.core, Secret: []byte("x")})
	p.ok(err)
	keys, err := webpush.NewKeys()
	p.ok(err)
	pages, errorPage, err := web.Pages()
	p.ok(err)
	server, err := api.NewServer(api.Options{Portal: n, Auth: p.core, Workers: n, People: people.New(p.core), Logins: logins, Notices: notify.New(notify.Options{Core: p.core, Secret: []byte("x"), Keys: keys}),
		Pages: pages, Error: errorPage, Log: log, Now: p.now})
	p.ok(err)
	p.Server = httptest.NewServer(server.Handler())
	token, err := p.core.AddToken(ctx, lead.ScopeWorker, "", 24*time.Hour)
	p.ok(err)
	program, err := os.Executable()
	p.ok(err)
	p.ok(os.Mkdir(filepath.Join(dir, "w"), 0o700))
	w, err := worker.New(worker.Options{URL: p.URL, Token: token, Name: "w", Dir: filepath.Join(dir, "w"), Program: program, Log: log, Faster: faster})
	p.ok(err)
	var all sync.WaitGroup
	all.Go(func() { p.core.Lead(ctx, log) })
	all.Go(func() {
		if err := w.Run(ctx, ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		p.CloseClientConnections()
		all.Wait()
		p.Close()
		c.Close()
		p.ok(s.Close())
	})
	return p
}

func (p *portal) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// teamOf is the id of the team of a name, with a proven host.
func (p *portal) teamOf(name string) string {
	p.t.Helper()
	id := ""
	p.ok(p.core.Read(p.t.Context(), func(tx *store.Tx) error {
		return tx.Row("SELECT id FROM teams WHERE name = ?", []any{name}, &id)
	}))
	_, err := p.core.AddHost(p.t.Context(), "cup", id, "s1", "http://127.0.0.1:9", true)
	p.ok(err)
	return id
}

// board is the text of the board that everyone sees.
func (p *portal) board() string {
	p.t.Helper()
	res, err := http.Get(p.URL + "/r/cup_final")
	p.ok(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	p.ok(err)
	return string(text)
}

// fill types into a field, by the keyboard.
func fill(field, text string) chromedp.Action[chromedp.Void] {
	return chromedp.SendKeys(field, text)
}

// account makes an account on the page of the login, and logs in.
func account(t *testing.T, b *browsertest.Tab, name string) {
	t.Helper()
	form := `form[action="/login/create"] `
	b.Do(t, chromedp.WaitReady(form), fill(form+`input[name="name"]`, name), fill(form+`input[name="login"]`, name), fill(form+`input[name="password"]`, "a long password"), chromedp.KeyEvent(kb.Enter))
}

// TestWay goes the whole way of a contest in a browser: sign-up, invitation, a run that is seen
// live, a question and its answer, a push, the freeze and the reveal; then again without script.
func TestWay(t *testing.T) {
	tier.Slow(t)
	p := newPortal(t)
	chrome := browsertest.Start(t)
	b := browsertest.Open(t, chrome)
	b.Do(t, browsertest.Screen(1280, "light"), browsertest.Headers(map[string]string{"Accept-Language": "en"}), chromedp.Navigate(p.URL+"/contests/cup"), chromedp.Click(`.head .button`), chromedp.Click(`main a[href^="/login?next"]`))
	account(t, b, "aoi")
	b.Do(t, fill(`form[action$="/signup"] input[name="name"]`, "Team Snow"), chromedp.Click(`input[name="terms"]`), chromedp.Click(`form[action$="/signup"] button`), chromedp.WaitVisible(`.card.own`), chromedp.Click(`button[value="invite"]`), chromedp.WaitVisible(`#invitation`))
	link := browsertest.Eval[string](t, b, `document.getElementById("invitation").href`)
	b.Do(t, chromedp.Click(`form[action="/logout"] button`), chromedp.WaitReady(`a[href="/login"]`), chromedp.Navigate(link), chromedp.Click(`main a[href^="/login?next"]`))
	account(t, b, "bo")
	b.Do(t, chromedp.Click(`form[action="/invitation"] button`), chromedp.WaitVisible(`.card.own`))
	browsertest.Eventually(t, b, "both members", `document.querySelector(".card.own").innerText.includes("aoi") && document.querySelector(".card.own").innerText.includes("bo")`)
	team := p.teamOf("Team Snow")
	t.Run("run", func(t *testing.T) { p.run(t, b) })
	t.Run("question", func(t *testing.T) { p.question(t, b, team) })
	t.Run("push", func(t *testing.T) { push(t, b, p.URL) })
	t.Run("script", func(t *testing.T) { p.withoutScript(t, browsertest.Open(t, chrome)) })
	t.Run("reveal", func(t *testing.T) { p.reveal(t, b) })
	if found := b.Problems(); len(found) > 0 {
		t.Errorf("the console has %q", found)
	}
}

// run starts a run by the keyboard alone. Its score grows on the page without loading it again.
func (p *portal) run(t *testing.T, b *browsertest.Tab) {
	b.Do(t, chromedp.Navigate(p.URL+"/r/cup_final/team"), chromedp.WaitReady(`form[action$="/run"]`))
	for range 40 {
		b.Do(t, chromedp.KeyEvent(kb.Tab))
		if browsertest.Eval[bool](t, b, `document.activeElement.name === "note"`) {
			break
		}
	}
	b.Do(t, chromedp.KeyEvent("an index"), chromedp.KeyEvent(kb.Enter), chromedp.WaitReady(`#job`))
	browsertest.Eval[bool](t, b, `window.same = true`)
	browsertest.Eventually(t, b, "a growing score", `Number((document.getElementById("score")?.textContent || "0").replace(/,/g, "")) >= 2000 && document.getElementById("job").dataset.state === "running"`)
	browsertest.Eventually(t, b, "the result", `document.querySelector("main").innerText.includes("4,321") && document.querySelector("main").innerText.includes("an index")`)
	if !browsertest.Eval[bool](t, b, `window.same === true`) {
		t.Error("the page was loaded again")
	}
	if !strings.Contains(p.board(), "4,321") {
		t.Error("the board lacks the score")
	}
}

// question asks on a page. The answer arrives on it without loading it again.
func (p *portal) question(t *testing.T, b *browsertest.Tab, team string) {
	b.Do(t, chromedp.Navigate(p.URL+"/r/cup_final/questions"), fill(`textarea[name="text"]`, "may we use <Redis>?"), chromedp.Click(`form[action$="/questions"] button`), chromedp.WaitVisible(`.messages .question`))
	browsertest.Eval[bool](t, b, `document.activeElement.blur(); window.same = true`)
	messages, err := p.core.Messages(t.Context(), "cup_final")
	if err != nil || len(messages) != 1 || messages[0].Team != team || messages[0].By != "bo" {
		t.Fatalf("the portal has %+v, %v", messages, err)
	}
	browsertest.Eventually(t, b, "the stream", `document.body.dataset.live === "on"`)
	if _, err := p.core.Say(t.Context(), api.Who{Account: "j", Name: "judge", Role: api.Judge}, api.Say{Round: "cup_final", Kind: "answer", To: messages[0].ID, Text: "yes, on your hosts"}); err != nil {
		t.Fatal(err)
	}
	browsertest.Eventually(t, b, "the answer", `document.querySelector("main").innerText.includes("yes, on your hosts")`)
	if !browsertest.Eval[bool](t, b, `window.same === true`) {
		t.Error("the page was loaded again")
	}
}

// push gives the page's service worker messages by the browser's test protocol: one that comes
// twice is shown once.
func push(t *testing.T, b *browsertest.Tab, address string) {
	b.Do(t, chromedp.Navigate(address+"/me"), chromedp.WaitReady(`#push-on`))
	if browsertest.Eval[bool](t, b, `document.getElementById("push-on").hidden`) {
		t.Error("the button for notices is hidden")
	}
	updates := chromedp.Events(b, serviceworker.WorkerRegistrationUpdated)
	b.Do(t, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		granted := browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: "notifications"}, Setting: browser.PermissionSettingGranted, Origin: address}
		if _, err := cdp.Call(ctx, target, browser.SetPermission, granted); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, serviceworker.Enable, cdp.Empty{})
		return err
	}))
	browsertest.Eval[bool](t, b, `navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready).then(() => true)`)
	id := serviceworker.RegistrationID("")
	for e, err := range updates {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range e.Registrations {
			if strings.HasPrefix(r.ScopeURL, address) {
				id = r.RegistrationID
			}
		}
		if id != "" {
			break
		}
	}
	for _, n := range []string{"cup_final/7", "cup_final/7", "cup_final/8"} {
		message := fmt.Sprintf(`{"id":%q,"title":"Answer","text":"yes","url":"%s/r/cup_final/questions"}`, n, address)
		b.Do(t, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: address, RegistrationID: id, Data: message})
			return err
		}))
	}
	browsertest.Eventually(t, b, "the notices", `navigator.serviceWorker.ready.then(r => r.getNotifications()).then(all => all.length === 2 && all.map(n => n.tag).sort().join() === "cup_final/7,cup_final/8" && all[0].title === "Answer" && all[0].body === "yes")`)
}

// reveal makes a run after the freeze, which others see after staff showed the results.
func (p *portal) reveal(t *testing.T, b *browsertest.Tab) {
	p.offset.Add(int64(70 * time.Minute))
	team := ""
	p.ok(p.core.Read(t.Context(), func(tx *store.Tx) error { return tx.Row("SELECT team FROM members", nil, &team) }))
	before := p.board()
	if !strings.Contains(before, "frozen since") {
		t.Error("the board is not frozen")
	}
	j, err := p.core.Enqueue(t.Context(), "u", false, api.Enqueue{Round: "cup_final", Team: team, Note: "hidden"})
	p.ok(err)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if now, err := p.core.Job(t.Context(), j.ID); err == nil && now.State == api.Done {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the run does not end")
		}
	}
	time.Sleep(2500 * time.Millisecond) // every look at the events is past
	if !strings.Contains(p.board(), "made of 2 runs") {
		t.Error("the frozen board shows the new run")
	}
	p.offset.Add(int64(time.Hour))
	account, err := p.core.AddAccount(t.Context(), "organiser", api.Organiser, "")
	p.ok(err)
	token, err := p.core.AddToken(t.Context(), lead.ScopeLogin, account, time.Hour)
	p.ok(err)
	b.Do(t, chromedp.Navigate(p.URL+"/login?token="+token), chromedp.Click(`main form button`), chromedp.WaitReady(`.cards`), chromedp.Navigate(p.URL+"/staff/cup_final"), chromedp.WaitReady(`select[name="act"]`))
	browsertest.Eval[bool](t, b, `document.querySelector('select[name="act"]').value = "reveal"; true`)
	b.Do(t, fill(`form[action$="/clock"] input[name="reason"]`, "the ceremony"), chromedp.Click(`form[action$="/clock"] button`))
	browsertest.Eventually(t, b, "the act", `document.querySelector(".clock") !== null && document.querySelector(".clock .tag") === null`)
	b.Do(t, chromedp.Navigate(p.URL+"/tv/cup_final"), chromedp.WaitReady("#board"))
	browsertest.Eventually(t, b, "the reveal", `document.querySelector("#board caption").textContent.includes("3 runs")`)
	if strings.Contains(p.board(), "frozen since") {
		t.Error("the board is frozen after the reveal")
	}
}

// withoutScript signs up, runs and looks at the result without script.
func (p *portal) withoutScript(t *testing.T, b *browsertest.Tab) {
	b.Do(t, browsertest.Screen(390, "dark"), browsertest.Headers(map[string]string{"Accept-Language": "ja"}), browsertest.WithoutScript(),
		chromedp.Navigate(p.URL+"/"), chromedp.Click(`form[action="/logout"] button`), chromedp.WaitReady(`a[href="/login"]`), chromedp.Navigate(p.URL+"/login?next=/contests/cup/join"))
	account(t, b, "cy")
	b.Do(t, fill(`form[action$="/signup"] input[name="name"]`, "夜更かし"), chromedp.Click(`input[name="terms"]`), chromedp.Click(`form[action$="/signup"] button`), chromedp.WaitVisible(`.card.own`))
	p.teamOf("夜更かし")
	b.Do(t, chromedp.Navigate(p.URL+"/r/cup_final/team"), fill(`input[name="note"]`, "画像"), chromedp.Click(`form[action$="/run"] button`), chromedp.WaitReady(`#job`))
	address := browsertest.Result(t, b, chromedp.Location())
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(300 * time.Millisecond) {
		b.Do(t, chromedp.Navigate(address), chromedp.WaitReady(`#job`))
		if strings.Contains(browsertest.Result(t, b, chromedp.Text("main")), "4,321") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the page does not show the result")
		}
	}
}
