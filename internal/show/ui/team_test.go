package ui

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/show/browsertest"
)

// A scored is what the page gave to Day.Score.
type scored struct {
	run              int
	who, score, fail string
}

// teamSite is a site with a lease, a command that works, a run without a score and claims.
func teamSite(t *testing.T, dir string) (*site, *[]scored) {
	t.Helper()
	h, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := h.NewRun()
	if err == nil {
		err = h.SaveRun(&iikanji.Run{ID: id, Outcome: iikanji.Pending, Who: "aoi " + hostileUser, Began: time.Now(), Took: time.Minute})
	}
	if err = errors.Join(err, h.Close()); err != nil {
		t.Fatal(err)
	}
	var given []scored
	s := serve(t, dir, func(o *Options) {
		o.Day.Score = func(_ context.Context, run int, who, score, fail string) error {
			if score == "many" {
				return errors.New("it is no number: " + token)
			}
			given = append(given, scored{run, who, score, fail})
			return nil
		}
		o.Day.Machines = func() []Machine {
			return []Machine{{Name: "web", At: time.Now(), CPU: 0.5, Minute: []float64{0, 0.5, 1}, Written: 3 << 20, Free: 2 << 30},
				{Name: "db " + hostileUser, Lost: "no answer " + hostileUser + " password=" + token}, {Name: "app2", At: time.Now().Add(-time.Minute)}}
		}
		o.Day.Difference = func(context.Context) ([]string, error) {
			return []string{"web  /etc/nginx/sites-enabled/isu.conf   +4 −1   upstream keepalive 16", "db   " + hostileUser + " password=" + token}, nil
		}
	})
	if _, err := s.ui.o.Day.Book.Take(t.Context(), turn.Request{Who: "aoi", Why: "index test " + hostileUser}); err != nil {
		t.Fatal(err)
	}
	hold, err := s.ui.o.Day.Book.Work(t.Context(), turn.Work{Who: "aoi", What: "deploy"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hold.Release() })
	return s, &given
}

// formToken is the token of the forms of a page.
func formToken(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `name="form" value="`)
	if !ok {
		t.Fatal("the page has no form")
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func TestTeam(t *testing.T) {
	s, given := teamSite(t, makeHistory()(t))
	status, page, _ := s.get(t, "/team")
	if status != 200 || !strings.Contains(page, "index test") || !strings.Contains(page, "Freeze") || !strings.Contains(page, "upstream keepalive 16") {
		t.Fatalf("status %d: %s", status, page)
	}
	for _, want := range []string{`<th scope="row">web</th><td class="n">50 %</td><td><span aria-hidden="true">▁▅█</span></td>`, "3.0 MiB/s", "lost: no answer", "no sample since"} {
		if !strings.Contains(page, want) {
			t.Errorf("the machines lack %q", want)
		}
	}
	if event := firstEvent(t, s, "/team/events"); !strings.Contains(event, "50 %") || strings.Contains(event, "<script>document") || strings.Contains(event, token) {
		t.Errorf("the machines by the second: %s", event)
	}
	for _, bad := range []string{"<script>document", token, `action="/team/`} { // no form without a session
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if status, _, _ := s.post(t, "/team/score", url.Values{"run": {"1"}, "score": {"5"}, "who": {"x"}}); status != 403 {
		t.Errorf("a score without a session: status %d", status)
	}
	s.post(t, "/session", url.Values{"token": {testToken}})
	_, page, _ = s.get(t, "/team")
	form := formToken(t, page)
	for _, c := range []struct {
		form url.Values
		want int
		text string
	}{
		{url.Values{"run": {"31"}, "score": {"44,034"}, "who": {"bo"}}, 303, ""},
		{url.Values{"run": {"31"}, "fail": {"GET /api/trend"}, "who": {"bo"}}, 303, ""},
		{url.Values{"run": {"31"}, "score": {"1"}, "fail": {"x"}, "who": {"bo"}}, 400, "either"},
		{url.Values{"run": {"31"}, "who": {"bo"}}, 400, "either"},
		{url.Values{"run": {"0"}, "score": {"1"}, "who": {"bo"}}, 400, "number of a run"},
		{url.Values{"run": {"31"}, "score": {"1"}}, 400, "who you are"},
		{url.Values{"run": {"31"}, "score": {"many"}, "who": {"bo"}}, 400, "not taken"},
	} {
		c.form.Set("form", form)
		if status, answer, _ := s.post(t, "/team/score", c.form); status != c.want || !strings.Contains(answer, c.text) {
			t.Errorf("%v: status %d, %s", c.form, status, answer)
		}
	}
	if len(*given) != 2 || (*given)[0] != (scored{31, "bo", "44,034", ""}) || (*given)[1] != (scored{31, "bo", "", "GET /api/trend"}) {
		t.Errorf("given %+v", *given)
	}
	_, rest, ok := strings.Cut(page, `name="finding" value="`)
	if !ok {
		t.Fatal("there is no finding")
	}
	key, _, _ := strings.Cut(rest, `"`)
	claim := url.Values{"form": {form}, "finding": {key}, "who": {"chika"}}
	if status, _, _ := s.post(t, "/team/claim", claim); status != 303 {
		t.Errorf("taking a finding: status %d", status)
	}
	if _, page, _ := s.get(t, "/team"); !strings.Contains(page, "Taken by <strong>chika</strong>") {
		t.Error("the page does not say who took it")
	}
	claim.Set("free", "1")
	s.post(t, "/team/claim", claim)
	if _, page, _ := s.get(t, "/team"); strings.Contains(page, "Taken by") {
		t.Error("it is still taken")
	}
	claim.Set("finding", "../../x")
	if status, _, _ := s.post(t, "/team/claim", claim); status != 400 {
		t.Errorf("a key that is none: status %d", status)
	}
	if status, page, _ := serve(t, t.TempDir(), nil).get(t, "/team"); status != 200 || !strings.Contains(page, "Freeze") {
		t.Errorf("before the first run: status %d, %s", status, page)
	}
	arena := serve(t, filepath.Dir(s.dir), func(o *Options) { o.Day = nil })
	for _, path := range []string{"/team", "/team/events"} {
		if status, _, _ := arena.get(t, path); status != 404 {
			t.Errorf("an arena: %s has status %d", path, status)
		}
	}
}

// firstEvent is the first event that a stream sends.
func firstEvent(t *testing.T, s *site, path string) (text string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for in := bufio.NewScanner(answer.Body); in.Scan() && in.Text() != ""; {
		text += in.Text() + "\n"
	}
	return text
}

func TestClock(t *testing.T) {
	begin := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	for after, want := range map[time.Duration]string{-time.Minute: "before", time.Hour: "running", 6*time.Hour + 24*time.Minute: "freeze", 8 * time.Hour: "over"} {
		if c := clockOf(begin, begin.Add(8*time.Hour), begin.Add(after)); c.State != want {
			t.Errorf("%v: %+v", after, c)
		}
	}
	if clockOf(begin, time.Time{}, begin) != nil {
		t.Error("a clock without an end")
	}
}

// testTeamPage looks at the page of one who has signed in.
func testTeamPage(t *testing.T, _ *site, b *browsertest.Tab) {
	s, _ := teamSite(t, makeHistory()(t))
	b.Do(t, browsertest.Screen(1280, "light"), chromedp.Navigate(s.URL+"/actions"), chromedp.SendKeys(`input[name="token"]`, testToken), chromedp.Click(`form button`), chromedp.WaitReady(`form[action="/actions/start"]`))
	for _, width := range []int64{1280, 390} {
		b.Do(t, browsertest.Screen(width, "light"), chromedp.Navigate(s.URL+"/team"), chromedp.WaitReady(`form[action="/team/score"]`))
		b.LoadAxe(t)
		if wide := browsertest.Eval[int](t, b, "document.documentElement.scrollWidth"); wide > int(width) {
			t.Errorf("the page is %d wide on %d", wide, width)
		}
		b.Axe(t, "team", browsertest.AllRules)
		b.Picture(t, map[int64]string{1280: "1280 signed in", 390: "390 signed in"}[width])
	}
	if found := b.Problems(); len(found) > 0 {
		t.Errorf("the console has %q", found)
	}
}
