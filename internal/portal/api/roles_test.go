package api_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/api/apitest"
	"github.com/iikanji/iikanji/internal/portal/people/peopletest"
	"github.com/iikanji/iikanji/internal/portal/web"
)

// A door knows sessions and tokens by their names.
type door struct{ who map[string]api.Who }

func (d door) Session(_ context.Context, cookie string) (api.Who, string, bool, error) {
	who, ok := d.who[cookie]
	return who, "form-" + cookie, ok, nil
}

func (d door) Login(_ context.Context, token string) (string, string, bool, error) {
	return "leader", "form-leader", token == "once", nil
}

func (d door) Logout(context.Context, string) error { return nil }

func (d door) ByToken(_ context.Context, scope, token string) (api.Who, bool, error) {
	if scope == "worker" {
		return api.Who{}, token == "machine", nil
	}
	who, ok := d.who[token]
	return who, ok, nil
}

// machines answers the calls of workers.
type machines struct{}

func (machines) Register(context.Context, api.Register) error { return nil }
func (machines) Next(context.Context, api.Next) (*api.Assignment, error) {
	return &api.Assignment{}, nil
}
func (machines) Beat(context.Context, api.Beat) (api.BeatAnswer, error) {
	return api.BeatAnswer{}, nil
}
func (machines) Finish(context.Context, api.Finish) (api.FinishAnswer, error) {
	return api.FinishAnswer{}, nil
}

// monitor is how a portal is that is well.
type monitor struct{}

func (monitor) Ready(context.Context) error { return nil }
func (monitor) Gauges(context.Context) ([]api.Gauge, error) {
	return []api.Gauge{{Name: "b", Help: "B.", Labels: []string{"round", "a\"\\\n"}, Value: 0.5}, {Name: "a", Help: "A.", Value: 12}, {Name: "b", Help: "B.", Value: 3}}, nil
}

// everyone is one caller of each role.
var everyone = map[string]api.Who{
	"member": {Account: "u2", Role: api.Member, Team: "t05"}, "leader": apitest.Member, "viewer": {Account: "v", Role: api.Viewer}, "support": {Account: "p", Role: api.Support},
	"judge": apitest.Judge, "operator": {Account: "o", Role: api.Operator}, "organiser": apitest.Organiser,
}

func newServer(t *testing.T) *api.Server { return newServerOf(t, peopletest.New(t, apitest.Frozen)) }

// newServerOf is a server with those who take part.
func newServerOf(t *testing.T, h *peopletest.Hall) *api.Server {
	t.Helper()
	return servers(t, h)()
}

// servers makes servers that have served nothing yet; the pages are read once.
func servers(t *testing.T, h *peopletest.Hall) func() *api.Server {
	t.Helper()
	pages, errorPage, err := web.Pages()
	if err != nil {
		t.Fatal(err)
	}
	p := apitest.New(apitest.Frozen)
	judge, err := web.JudgePages(p, p)
	if err != nil {
		t.Fatal(err)
	}
	pages = slices.Concat(pages, judge, api.HostRoutes(p), api.JudgeRoutes(p))
	return func() *api.Server {
		s, err := api.NewServer(api.Options{Portal: apitest.New(apitest.Frozen), Auth: door{everyone}, Workers: machines{}, People: h.People, Logins: h.Logins, Notices: h.Notices,
			Monitor: monitor{}, Pages: pages, Error: errorPage, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(0, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// request makes a request of a route as a caller: "" is a spectator, "machine" a worker's token.
func request(ctx context.Context, r api.Route, caller string) *http.Request {
	path := strings.NewReplacer("{round}", apitest.Round, "{contest}", "cup", "{provider}", "none", "{team}", "t03", "{host}", "h1", "{worker}", "w1", "{message}", "m1", "{ghost}", "g1", "{hint}", "explain", "{job}", "t03-01", "{file}", "portal.css", "{$}", "").Replace(r.Path)
	req := httptest.NewRequestWithContext(ctx, r.Method, "http://127.0.0.1"+path, strings.NewReader("{}"))
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	switch caller {
	case "":
	case "machine":
		req.Header.Set("Authorization", "Bearer machine")
	default:
		req.AddCookie(&http.Cookie{Name: "portal", Value: caller})
		req.Header.Set("Portal-Form", "form-"+caller)
	}
	return req
}

// TestRoles calls every route as every role: a route is open to those that its need names, and
// to no one else. Without the form's token no session changes anything.
func TestRoles(t *testing.T) {
	open := map[api.Need][]string{
		api.Anyone:  {"", "member", "leader", "viewer", "support", "judge", "operator", "organiser"},
		api.Login:   {"member", "leader", "viewer", "support", "judge", "operator", "organiser"},
		api.Playing: {"member", "leader"},
		api.Leading: {"leader"},
		api.Desk:    {"support", "organiser"},
		api.Staffed: {"viewer", "support", "judge", "operator", "organiser"},
		api.Answers: {"support", "judge", "organiser"},
		api.Judges:  {"judge", "operator", "organiser"},
		api.Chief:   {"organiser"},
		api.Machine: {"machine"},
	}
	calls, fresh := 0, servers(t, peopletest.New(t, apitest.Frozen))
	for _, r := range fresh().Routes() {
		for _, caller := range []string{"", "member", "leader", "viewer", "support", "judge", "operator", "organiser", "machine"} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			if strings.HasSuffix(r.Path, "/stream") {
				cancel() // it ends at once
			}
			s := fresh() // limits count anew
			answer := httptest.NewRecorder()
			s.Handler().ServeHTTP(answer, request(ctx, r, caller))
			cancel()
			refused := answer.Code == http.StatusUnauthorized || answer.Code == http.StatusForbidden
			may := slices.Contains(open[r.Need], caller)
			// An open route may still refuse what is not the caller's own; that is tested below.
			if !may && !refused {
				t.Errorf("%s %s answered %q with %d; it needs %s", r.Method, r.Path, caller, answer.Code, r.Need)
			}
			if may && answer.Code == http.StatusUnauthorized {
				t.Errorf("%s %s refused %q, which it is open to", r.Method, r.Path, caller)
			}
			calls++
			if r.Method == "POST" && caller != "" && caller != "machine" && r.Need != api.Machine {
				forged := request(t.Context(), r, caller)
				forged.Header.Del("Portal-Form")
				answer := httptest.NewRecorder()
				s.Handler().ServeHTTP(answer, forged)
				if answer.Code != http.StatusForbidden {
					t.Errorf("%s %s took a form of %q without its token: %d", r.Method, r.Path, caller, answer.Code)
				}
			}
		}
	}
	if calls < 500 {
		t.Errorf("%d calls: the test would prove little", calls)
	}
}

// TestOwnOnly: a team reads its own runs, and no others; a spectator none.
func TestOwnOnly(t *testing.T) {
	s := newServer(t)
	get := func(path, caller string) int {
		r := api.Route{Method: "GET", Path: path}
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, request(t.Context(), r, caller))
		return answer.Code
	}
	for _, c := range []struct {
		path, caller string
		want         int
	}{
		{"/api/v1/jobs/t03-01", "leader", 200}, {"/api/v1/jobs/t03-01", "member", 404}, {"/api/v1/jobs/t03-01", "judge", 200}, {"/api/v1/jobs/t03-01", "", 401},
		{"/api/v1/rounds/{round}/jobs?team=t03", "member", 404}, {"/api/v1/rounds/{round}/jobs", "leader", 200}, {"/api/v1/rounds/nothing/board", "", 404},
		{"/r/{round}/jobs/t03-01", "member", 404}, {"/r/{round}/jobs/t03-01", "leader", 200}, {"/r/{round}/team", "leader", 200}, {"/r/{round}", "", 200}, {"/", "", 200},
	} {
		if got := get(c.path, c.caller); got != c.want {
			t.Errorf("%s as %q: %d, want %d", c.path, c.caller, got, c.want)
		}
	}
}

// TestGuard: unknown hosts, other origins and large bodies are refused; every answer has the
// policy.
func TestGuard(t *testing.T) {
	s := newServer(t)
	do := func(edit func(*http.Request)) *httptest.ResponseRecorder {
		r := request(t.Context(), api.Route{Method: "POST", Path: "/api/v1/rounds/{round}/jobs"}, "leader")
		edit(r)
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, r)
		return answer
	}
	for name, c := range map[string]struct {
		edit func(*http.Request)
		want int
	}{
		"as it is":     {func(*http.Request) {}, 200},
		"another host": {func(r *http.Request) { r.Host = "evil.example" }, 421},
		"cross-site":   {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"other origin": {func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "http://evil.example")
		}, 403},
		"too large": {func(r *http.Request) {
			r.Body = http.NoBody
			*r = *request(t.Context(), api.Route{Method: "POST", Path: "/api/v1/rounds/{round}/jobs"}, "leader")
			r.Body = httptest.NewRequest("POST", "/", strings.NewReader(`{"note":"`+strings.Repeat("x", 1<<20)+`"}`)).Body
		}, 400},
	} {
		answer := do(c.edit)
		if answer.Code != c.want {
			t.Errorf("%s: %d, want %d: %s", name, answer.Code, c.want, answer.Body)
		}
		if p := answer.Header().Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || strings.Contains(p, "unsafe") || answer.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: the headers are %v", name, answer.Header())
		}
	}
}

// TestText: names and questions that look like markup are text on every page.
func TestText(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"/r/{round}", "/r/{round}/team", "/r/{round}/jobs/t03-01", "/", "/contests/{contest}", "/contests/{contest}/join", "/me"} {
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, request(t.Context(), api.Route{Method: "GET", Path: path}, "leader"))
		body := answer.Body.String()
		if strings.Contains(body, "<b>bold") || strings.Contains(body, "<script>") || len(body) > 150<<10 {
			t.Errorf("%s: %d bytes, with markup of a team: %v", path, len(body), strings.Contains(body, "<b>bold"))
		}
	}
}

// TestLimit: the eleventh request of a minute is refused with the time to wait.
func TestLimit(t *testing.T) {
	s := newServer(t)
	last := 0
	for range 11 {
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, request(t.Context(), api.Route{Method: "POST", Path: "/login?token=wrong"}, ""))
		last = answer.Code
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the eleventh login of a minute was answered %d", last)
	}
}

// TestHiddenStaysHidden: two portals that differ in what the freeze hides give the same bytes
// and ETags to all but staff, on each public address, and on a stream.
func TestHiddenStaysHidden(t *testing.T) {
	h := peopletest.New(t, apitest.Frozen)
	answers := func(hidden bool, caller string) (out []string) {
		p := apitest.New(apitest.Frozen)
		pages, errorPage, err := web.Pages()
		if err != nil {
			t.Fatal(err)
		}
		s, err := api.NewServer(api.Options{Portal: p, Auth: door{everyone}, People: h.People, Logins: h.Logins, Notices: h.Notices, Pages: pages, Error: errorPage, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if hidden {
			p.Finish("t07", 99999)
		}
		for _, r := range s.Routes() {
			if r.Method != "GET" || strings.HasSuffix(r.Path, "/stream") || strings.Contains(r.Path, "{team}") && caller == "leader" {
				continue
			}
			req := request(t.Context(), r, caller)
			if strings.Contains(r.Path, "{team}") || strings.HasSuffix(r.Path, "/series") {
				req = request(t.Context(), api.Route{Method: "GET", Path: strings.NewReplacer("{team}", "t07").Replace(r.Path) + "?team=t07"}, caller)
			}
			answer := httptest.NewRecorder()
			s.Handler().ServeHTTP(answer, req)
			out = append(out, fmt.Sprint(r.Path, " ", answer.Code, " ", answer.Header().Get("ETag"), " ", answer.Body))
		}
		return out
	}
	for _, caller := range []string{"", "leader", "member"} {
		a, b := answers(false, caller), answers(true, caller)
		for i := range a {
			if a[i] != b[i] {
				at := 0
				for at < min(len(a[i]), len(b[i])) && a[i][at] == b[i][at] {
					at++
				}
				t.Errorf("%q sees a hidden result: %.40s: …%.200s\n…%.200s", caller, a[i], a[i][max(0, at-60):], b[i][max(0, at-60):])
			}
		}
	}
	if slices.Equal(answers(false, "judge"), answers(true, "judge")) {
		t.Error("staff sees no difference: the test would prove nothing")
	}
}

// TestEvents: the stream of the fixture has the board as server-sent events.
func TestEvents(t *testing.T) {
	p := apitest.New(apitest.Middle)
	s, err := api.NewServer(api.Options{Portal: p, Auth: door{everyone}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	answer, err := http.Get(server.URL + "/api/v1/rounds/" + apitest.Round + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	before, err := p.Board(t.Context(), apitest.Spectator, apitest.Round)
	if err != nil {
		t.Fatal(err)
	}
	p.Finish("t02", 123456)
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok && id != before.Version {
			return
		}
	}
	t.Error("no event of the new result")
}
