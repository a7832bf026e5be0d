package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/api/apitest"
	"github.com/iikanji/iikanji/internal/portal/people/peopletest"
)

// roles are the callers of the tests, by the cookie of their session.
var roles = map[string]api.Who{"member": apitest.Member, "judge": apitest.Judge, "organiser": apitest.Organiser}

// A roleAuth knows the sessions of roles, and those of some people.
type roleAuth struct{ people map[string]api.Who }

func (a roleAuth) Session(_ context.Context, cookie string) (api.Who, string, bool, error) {
	who, ok := roles[cookie]
	if !ok {
		who, ok = a.people[cookie]
	}
	return who, "form of " + cookie, ok, nil
}
func (roleAuth) Login(_ context.Context, token string) (string, string, bool, error) {
	return "member", "form of member", token == "good", nil
}
func (roleAuth) Logout(context.Context, string) error { return nil }
func (roleAuth) ByToken(context.Context, string, string) (api.Who, bool, error) {
	return api.Who{}, false, nil
}

// serve serves the pages of a portal in memory at an instant.
func serve(t *testing.T, now time.Time) *httptest.Server {
	t.Helper()
	pages, errorPage, err := Pages()
	if err != nil {
		t.Fatal(err)
	}
	p, h := apitest.New(now), peopletest.New(t, apitest.Start)
	judge, err := JudgePages(p, p)
	if err != nil {
		t.Fatal(err)
	}
	auth := roleAuth{map[string]api.Who{"leads": h.Who(t, h.Leads), "person": h.Who(t, h.Account)}}
	s, err := api.NewServer(api.Options{Portal: p, Auth: auth, People: h.People, Logins: h.Logins, Notices: h.Notices, Pages: append(pages, judge...), Error: errorPage, Log: slog.New(slog.DiscardHandler), Now: p.Now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server
}

// get requests a page as a role in a language; "" is nobody.
func get(t *testing.T, server *httptest.Server, role, lang, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Language", lang)
	if role != "" {
		req.AddCookie(&http.Cookie{Name: "portal", Value: role})
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// jobOf is the path of a run of the member's team.
func jobOf(t *testing.T, server *httptest.Server) string {
	t.Helper()
	_, text := get(t, server, "member", "en", "/r/"+apitest.Round+"/team")
	found := regexp.MustCompile(`href="(/r/[^/"]+/jobs/[^"]+)"`).FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		t.Fatalf("the page of the team has no run:\n%s", text)
	}
	return found[len(found)-1][1]
}

// views are pages with the role that looks at them.
func views(t *testing.T, server *httptest.Server) [][2]string {
	round := "/r/" + apitest.Round
	return [][2]string{{"", "/"}, {"", "/login"}, {"", "/login?token=x"}, {"", round}, {"member", round}, {"", round + "?division=student"}, {"", "/tv/" + apitest.Round},
		{"", round + "/teams/t04"}, {"member", round + "/team"}, {"member", jobOf(t, server)}, {"member", round + "/questions"}, {"", round + "/questions"}, {"member", round + "/hosts"}, {"judge", "/staff/" + apitest.Round + "/hosts"}, {"judge", "/staff/" + apitest.Round + "/final"},
		{"judge", "/staff/" + apitest.Round}, {"organiser", "/staff/" + apitest.Round}, {"", "/r/none"},
		{"", "/contests/cup"}, {"", "/contests/cup/join"}, {"person", "/contests/cup/join"}, {"leads", "/contests/cup/join"}, {"organiser", "/desk/cup"}, {"judge", "/desk/cup"},
		{"", "/login?next=/me"}, {"person", "/me?authenticator=1"}, {"judge", "/me"},
		{"", round + "/prizes"}, {"judge", round + "/prizes"}, {"judge", "/train/" + apitest.Round}, {"organiser", "/staff/" + apitest.Round + "/ghosts"}, {"judge", "/staff/" + apitest.Round + "/flags"}}
}

// TestViews: every page has its words in both languages, and no text of a team as markup.
func TestViews(t *testing.T) {
	for name, now := range map[string]time.Time{"middle": apitest.Middle, "frozen": apitest.Frozen, "ended": apitest.Ended, "before": apitest.Start.Add(-time.Hour)} {
		server := serve(t, now)
		all := [][2]string{{"", "/"}, {"", "/r/" + apitest.Round}, {"member", "/r/" + apitest.Round + "/team"}, {"judge", "/staff/" + apitest.Round}}
		if name != "before" {
			all = views(t, server)
		}
		for _, v := range all {
			for _, lang := range []string{"en", "ja,en;q=0.5"} {
				status, text := get(t, server, v[0], lang, v[1])
				want := http.StatusOK
				if v[1] == "/r/none" {
					want = http.StatusNotFound
				}
				if status != want || !strings.HasSuffix(strings.TrimSpace(text), "</html>") {
					t.Errorf("%s: %s as %q: status %d\n%.3000s", name, v[1], v[0], status, text)
				}
				for _, bad := range []string{"⟨", "<no value>", "<b>bold", "<script>alert", "%!", "&lt;nil&gt;"} {
					if strings.Contains(text, bad) {
						t.Errorf("%s: %s as %q in %s has %q", name, v[1], v[0], lang, bad)
					}
				}
				if !strings.HasPrefix(v[1], "/tv/") && !strings.Contains(text, `?lang=`) {
					t.Errorf("%s: %s has no link to the other language", name, v[1])
				}
				if !strings.Contains(text, `<html lang="`+lang[:2]+`">`) {
					t.Errorf("%s: %s is not in %s", name, v[1], lang)
				}
			}
		}
	}
}

// TestWords: the languages have the same words, each is used, and templates have no others.
func TestWords(t *testing.T) {
	s, err := newSite()
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, pattern := range []string{"templates/*.html", "*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil && !strings.HasSuffix(name, "_test.go") {
				source.Write(text)
				if strings.HasSuffix(name, ".html") {
					foreignText(t, name, string(text))
				}
			}
		}
	}
	for key := range s.words[english] {
		if s.words[japanese][key] == "" {
			t.Errorf("ja.toml has no %s", key)
		}
		if strings.Count(s.words[english][key], "%") != strings.Count(s.words[japanese][key], "%") {
			t.Errorf("%s has other arguments in Japanese", key)
		}
		group, _, _ := strings.Cut(key, ".")
		if !strings.Contains(source.String(), `"`+key+`"`) && !strings.Contains(source.String(), `"`+group+`."`) {
			t.Errorf("no page uses %s", key)
		}
	}
	for key := range s.words[japanese] {
		if s.words[english][key] == "" {
			t.Errorf("en.toml has no %s", key)
		}
	}
}

// actions are parts of a template that are no text.
var actions = regexp.MustCompile(`(?s)\{\{.*?\}\}|<[^>]*>`)

// foreignText reports words in a template.
func foreignText(t *testing.T, name, text string) {
	t.Helper()
	allowed := []string{"iikanji", "portal", "日本語", "English"}
	for _, word := range regexp.MustCompile(`\p{L}{2,}`).FindAllString(actions.ReplaceAllString(text, " "), -1) {
		if !slices.Contains(allowed, word) {
			t.Errorf("%s has the text %q, which no file of words has", name, word)
		}
	}
}

// TestForms: a login link is used by a button alone, a form of another session is refused, and
// what a member types reaches the portal.
func TestForms(t *testing.T) {
	server := serve(t, apitest.Middle)
	post := func(role, path string, form url.Values) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if role != "" {
			req.AddCookie(&http.Cookie{Name: "portal", Value: role})
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode, res.Header.Get("Location")
	}
	if status, text := get(t, server, "", "en", "/login?token=good"); status != http.StatusOK || !strings.Contains(text, "It works once") {
		t.Errorf("a login link: %d\n%s", status, text)
	}
	if status, to := post("", "/login", url.Values{"token": {"good"}}); status != http.StatusSeeOther || to != "/" {
		t.Errorf("the button of a login link: %d to %s", status, to)
	}
	if status, _ := post("", "/login", url.Values{"token": {"bad"}}); status != http.StatusBadRequest {
		t.Errorf("a used link: %d", status)
	}
	ask := "/r/" + apitest.Round + "/questions"
	if status, _ := post("member", ask, url.Values{"text": {"x"}}); status != http.StatusForbidden {
		t.Errorf("a form without its token: %d", status)
	}
	mine := url.Values{"form": {"form of member"}, "text": {"may we use <Redis>?"}}
	if status, to := post("member", ask, mine); status != http.StatusSeeOther || to != ask {
		t.Errorf("a question: %d to %s", status, to)
	}
	if _, text := get(t, server, "judge", "en", "/staff/"+apitest.Round); !strings.Contains(text, "may we use &lt;Redis&gt;?") {
		t.Errorf("staff does not see the question:\n%s", text)
	}
	prize := url.Values{"form": {"form of judge"}, "prize": {"idea"}, "team": {"t04"}, "reason": {"the <i>cleanest</i> change"}}
	if status, to := post("judge", "/r/"+apitest.Round+"/prizes", prize); status != http.StatusSeeOther || to != "/r/"+apitest.Round+"/prizes" {
		t.Errorf("an award: %d to %s", status, to)
	}
	if _, text := get(t, server, "", "en", "/r/"+apitest.Round+"/prizes"); !strings.Contains(text, "the &lt;i&gt;cleanest&lt;/i&gt; change") {
		t.Errorf("the award is not shown:\n%s", text)
	}
	ghosts := "/staff/" + apitest.Round + "/ghosts"
	ghost := url.Values{"form": {"form of organiser"}, "name": {"the <u>old</u> winner"}, "points": {"0,100\n10,x"}}
	if status, _ := post("organiser", ghosts, ghost); status != http.StatusBadRequest {
		t.Errorf("a ghost of junk: %d", status)
	}
	ghost["points"], ghost["public"] = []string{"0,100\n10,200,an index"}, []string{"1"}
	if status, to := post("organiser", ghosts, ghost); status != http.StatusSeeOther || to != ghosts {
		t.Errorf("a ghost: %d to %s", status, to)
	}
	if _, text := get(t, server, "", "en", "/r/"+apitest.Round); !strings.Contains(text, "the &lt;u&gt;old&lt;/u&gt; winner") || !strings.Contains(text, "dashed") {
		t.Errorf("the board lacks the ghost:\n%s", text)
	}
	if status, _ := post("organiser", ghosts, url.Values{"form": {"form of organiser"}, "remove": {"new"}}); status != http.StatusSeeOther {
		t.Errorf("removing a ghost: %d", status)
	}
	hint := url.Values{"form": {"form of member"}, "hint": {"images"}}
	if status, to := post("member", "/r/"+apitest.Round+"/team/hint", hint); status != http.StatusSeeOther || to != "/r/"+apitest.Round+"/team" {
		t.Errorf("a hint: %d to %s", status, to)
	}
	hint.Set("hint", "cache")
	if status, _ := post("member", "/r/"+apitest.Round+"/team/hint", hint); status != http.StatusConflict {
		t.Errorf("a locked hint: %d", status)
	}
	if status, _ := post("member", "/staff/"+apitest.Round+"/say", mine); status != http.StatusForbidden {
		t.Errorf("a member announces: %d", status)
	}
}
