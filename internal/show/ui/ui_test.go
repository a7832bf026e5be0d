package ui

import (
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/otlp"
	"github.com/iikanji/iikanji/internal/show/progress"
	"github.com/iikanji/iikanji/internal/show/summary/summarytest"
	"github.com/iikanji/iikanji/internal/show/timeline"
)

const (
	testToken   = "TESTTOKEN"
	observedRun = 9
	hostileUser = `Mozilla/5.0 <script>document.title="pwned"</script>`
	token       = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2VjcmV0c2VjcmV0" // a secret that no page may show
	traceID     = "0123456789abcdef0123456789abcdef"
)

// A site is a server with a hostile history.
type site struct {
	*httptest.Server
	dir    string
	ui     *Server
	client *http.Client
}

// serve serves a history; change may change the options.
func serve(t *testing.T, dir string, change func(*Options)) *site {
	t.Helper()
	o := Options{Target: "toy " + summarytest.HostileSays, History: dir, Token: testToken, Program: "/bin/false", Traces: otlp.NewStore(otlp.DefaultLimits), OTLP: "127.0.0.1:4318", Now: time.Now, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	o.Traces.Add([]otlp.Span{{Trace: traceID, ID: "0123456789abcdef", Name: hostileUser, Server: true, Method: "GET", Route: "/商品/{id}", From: time.Unix(1000, 0), To: time.Unix(1001, 0)},
		{Trace: traceID, ID: "0123456789abcde0", Parent: "0123456789abcdef", Name: summarytest.HostileSays, System: "mysql", Statement: summarytest.HostileStatement + " and y = '" + token + "'", From: time.Unix(1000, 1e8), To: time.Unix(1000, 5e8)}})
	o.Day = &Day{Book: &turn.Book{Dir: turn.Folder(dir), Now: time.Now}, Begin: time.Now().Add(-9 * time.Hour), End: time.Now().Add(time.Hour)}
	if change != nil {
		change(&o)
	}
	s := New(o)
	web := httptest.NewServer(s.Handler())
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); web.Close() })
	return &site{web, dir, s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// makeHistory makes the hostile history once; tests get copies of it.
var makeHistory = sync.OnceValue(func() func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		dir := summarytest.Make(t)
		var requests []summarytest.Raw
		for i := range 60 {
			fault := iikanji.FaultUnknown
			if i%20 == 0 {
				fault = iikanji.FaultStatus
			}
			requests = append(requests, summarytest.Raw{Step: i % 2, Start: 150 * i, End: 150*i + 100, Fault: fault})
		}
		summarytest.AddRaw(t, dir, observedRun, requests, []summarytest.RawStatement{{From: 20, To: 30, Took: 9, Thread: 7, SQL: summarytest.HostileStatement}, {From: 40, To: 45, Took: 5, Thread: 8, SQL: "SELECT 1, '" + token + "'"}}, true)
		h, err := history.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if err := h.Append(history.Event{What: history.Noted, Run: observedRun, Text: "user agent " + hostileUser + " " + token}); err != nil {
			t.Fatal(err)
		}
		seconds, samples := searchSeconds()
		if err := timeline.SaveSeconds(h, searchRun, seconds, samples, nil); err != nil {
			t.Fatal(err)
		}
		w := progress.NewWriter(dir, "tune", "toy", time.Now)
		w.Say("message " + hostileUser + " " + token)
		w.Update(func(s *progress.State) { s.Phase, s.Doing = "trial", summarytest.HostileSays })
		return dir
	}
})

func hostileSite(t *testing.T) *site { return serve(t, makeHistory()(t), nil) }

// get returns a page.
func (s *site) get(t *testing.T, path string, headers ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.do(t, r, headers...)
}

func (s *site) post(t *testing.T, path string, form url.Values, headers ...string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(t, r, headers...)
}

func (s *site) do(t *testing.T, r *http.Request, headers ...string) (int, string, http.Header) {
	t.Helper()
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

var digits = regexp.MustCompile(`[0-9]+`)

var linkPattern = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

var tsvPattern = regexp.MustCompile(`href="[^"]*[?;]tsv=[a-z]+`)

// TestEveryLink follows every link of every page: all pages exist, no hostile text
// becomes markup, every table has a file, and every page has the security headers.
func TestEveryLink(t *testing.T) {
	tier.Slow(t)
	s := hostileSite(t)
	seen := map[string]bool{}
	next := []string{"/", "/runs/9?vs=12"}
	tsv, kinds := 0, map[string]int{}
	for len(next) > 0 && len(seen) < 10_000 {
		path := next[0]
		next = next[1:]
		if path, _, _ = strings.Cut(path, "#"); path == "" || seen[path] || strings.Count(path, "&") > 1 { // sorting can be combined without end
			continue
		}
		if seen[path] = true; strings.ContainsAny(path, ".=") { // sort links and files of the same table on many pages
			kind := digits.ReplaceAllString(path, "N")
			if kinds[kind]++; kinds[kind] > 2 {
				continue
			}
		}
		status, body, head := s.get(t, path)
		if status != http.StatusOK {
			t.Errorf("%s: status %d", path, status)
			continue
		}
		if head.Get("Content-Security-Policy") != policy || head.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", path, head)
		}
		if strings.Contains(path, "tsv=") {
			if tsv++; strings.ContainsAny(body, "\x1b\u202e") || strings.Contains(body, token) || !strings.Contains(body, "\t") {
				t.Errorf("%s: %.200q", path, body)
			}
			continue
		}
		if strings.HasPrefix(path, "/static/") {
			continue
		}
		for _, bad := range []string{"<script>document", "<img src=x", "\u202e", "\x1b", token, "ZgotmplZ", "style=", " onerror=\"", "<no value>"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
		if files := tsvPattern.FindAllString(body, -1); strings.Count(body, "<table") != len(files) {
			t.Errorf("%s has %d tables and the files %q", path, strings.Count(body, "<table"), files)
		}
		for _, m := range linkPattern.FindAllStringSubmatch(body, -1) {
			to := html.UnescapeString(m[1])
			if strings.HasPrefix(to, "/") {
				next = append(next, to)
			} else if !strings.HasPrefix(to, "#") {
				t.Errorf("%s leads to %q", path, to)
			}
		}
	}
	if len(seen) < 100 || tsv < 10 {
		t.Errorf("only %d pages and %d files were found", len(seen), tsv)
	}
	for _, want := range []string{"/traces/" + traceID, "/runs/9/requests/1", "/changes/1", "/findings"} {
		if !seen[want] {
			t.Errorf("no page leads to %s", want)
		}
	}
}

// searchRun is a run of a search: it has seconds instead of samples.
const searchRun = 2

// searchSeconds are ten seconds of a run, one of whose services has a hostile name.
func searchSeconds() (*bench.Seconds, []hoststat.Sample) {
	from := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	s, samples := &bench.Seconds{From: from}, []hoststat.Sample(nil)
	for i := range 10 {
		took := time.Duration(i+1) * time.Millisecond
		s.All = append(s.All, bench.Second{Answers: int64(1000 + i), Errors: int64(i % 2), P50: took, P95: 3 * took, P99: 5 * took})
		samples = append(samples, hoststat.Sample{At: from.Add(time.Duration(i+1) * time.Second), User: 1.5,
			Services: []hoststat.ServiceSample{{Name: "データベース", User: 0.75}, {Name: "<script>document.title=1</script>", User: 0.25}}})
	}
	return s, samples
}

// TestSearchSeconds: the page of a run of a search shows its seconds, alone and beside
// an observed run, with the file behind the charts.
func TestSearchSeconds(t *testing.T) {
	s := hostileSite(t)
	for _, path := range []string{"/runs/2", "/runs/9?vs=2"} {
		_, body, _ := s.get(t, path)
		for _, want := range []string{"Answers and errors per second", "Latency: median", "CPU by service", "データベース, second "} {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
		if strings.Contains(body, "/runs/2/requests") {
			t.Errorf("%s leads to requests that were not kept", path)
		}
	}
	_, file, _ := s.get(t, "/runs/2?tsv=seconds")
	lines := strings.Split(file, "\n")
	if len(lines) != 12 || !strings.Contains(lines[0], "CPU of データベース, cores") || !strings.HasPrefix(lines[2], "2\t1001\t1\t2.00ms\t6.00ms\t10.0ms\t-\t1.50\t0.75\t0.25") {
		t.Errorf("the file of the seconds: %q", file)
	}
}

// TestTracesJoined: the endpoint of a run has the traces of its route, whose name the app
// writes in another way, with their database calls.
func TestTracesJoined(t *testing.T) {
	s := hostileSite(t)
	_, file, _ := s.get(t, "/endpoints?run=9&tsv=endpoints")
	if row := regexp.MustCompile(`(?m)^GET /商品/:id\t.*$`).FindString(file); !strings.HasSuffix(row, "\t1\t1.0\t400ms") {
		t.Errorf("the row is %q in\n%s", row, file)
	}
	_, page, _ := s.get(t, "/endpoints?run=9")
	link := regexp.MustCompile(`/traces\?route=\w+`).FindString(page)
	if _, page, _ = s.get(t, link); !strings.Contains(page, "/traces/"+traceID) {
		t.Errorf("%s has no trace:\n%.2000s", link, page)
	}
}

func TestRequestTimeline(t *testing.T) {
	_, body, _ := hostileSite(t).get(t, "/runs/9/requests/1")
	for _, want := range []string{"● certain", "2 statements certain, 0 likely, 0 possible", "connection 7", html.EscapeString("<img src=x")} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestNotFound: wrong numbers, names and paths are not pages, and no path leaves the
// pages.
func TestNotFound(t *testing.T) {
	s := hostileSite(t)
	for _, path := range []string{"/runs/9999", "/runs/x", "/runs/-1", "/runs/09", "/runs/9?vs=9", "/runs/9?vs=x", "/runs/9?vs=9999", "/runs/9/requests/99999", "/runs/2/requests", "/runs/9?tsv=nothing",
		"/changes/99", "/findings?run=2", "/endpoints?run=x", "/traces/nothing", "/static/ui.css", "/static/..%2fserver.go", "/static/%2e%2e/server.go", "/runs/..%2f..%2fetc%2fpasswd", "/nothing"} {
		status, body, _ := s.get(t, path)
		if status != http.StatusNotFound && status != http.StatusBadRequest {
			t.Errorf("%s: status %d: %.100s", path, status, body)
		}
		if strings.Contains(body, "package ui") || strings.Contains(body, "root:") {
			t.Errorf("%s shows a file", path)
		}
	}
}

func TestGuard(t *testing.T) {
	s := hostileSite(t)
	for host, want := range map[string]int{"evil.example": 421, "127.0.0.1.evil.example:80": 421, "localhost": 200, "LOCALHOST:1": 200, "127.0.0.1:9": 200, "[::1]:9": 200, "10.0.0.1": 421, "": 200} {
		if status, _, _ := s.get(t, "/live", "Host", host); status != want && !(host == "" && status == 421) {
			t.Errorf("Host %q: status %d, want %d", host, status, want)
		}
	}
	form := url.Values{"command": {"tune"}, "time": {"15m"}}
	for name, headers := range map[string][]string{"no session": nil, "other origin": {"Origin", "http://evil.example"}, "null origin": {"Origin", "null"}, "cross-site": {"Sec-Fetch-Site", "cross-site"}, "forged cookie": {"Cookie", "iikanji=x"}} {
		if status, _, _ := s.post(t, "/actions/start", form, headers...); status != http.StatusForbidden {
			t.Errorf("%s: status %d", name, status)
		}
	}
	if status, _, _ := s.get(t, "/live", "Origin", "http://evil.example"); status != http.StatusForbidden {
		t.Errorf("a page for another origin: status %d", status)
	}
	if status, _, head := s.post(t, "/session", url.Values{"token": {"wrong"}}); status != http.StatusSeeOther || head.Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: status %d, %v", status, head)
	}
	if status, _, _ := s.get(t, "/actions/start"); status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
		t.Errorf("GET of an action: status %d", status)
	}
}

// TestPrivate: on an address that others reach, reading needs the token too.
func TestPrivate(t *testing.T) {
	s := serve(t, makeHistory()(t), func(o *Options) { o.Private, o.Hosts = true, []string{"lab.example"} })
	for _, path := range []string{"/", "/runs/9", "/events", "/runs?tsv=runs"} {
		if status, body, _ := s.get(t, path, "Host", "lab.example:80"); status != http.StatusSeeOther || strings.Contains(body, "score") {
			t.Errorf("%s: status %d", path, status)
		}
	}
	s.signIn(t)
	if status, _, _ := s.get(t, "/runs/9"); status != http.StatusOK {
		t.Errorf("with the token: status %d", status)
	}
}

var formPattern = regexp.MustCompile(`name="form" value="([^"]*)"`)

// signIn gives the token and returns the token of the session's forms.
func (s *site) signIn(t *testing.T) string {
	t.Helper()
	status, _, head := s.post(t, "/session", url.Values{"token": {testToken}})
	cookie := head.Get("Set-Cookie")
	if status != http.StatusSeeOther || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Fatalf("status %d, cookie %q", status, cookie)
	}
	_, body, _ := s.get(t, "/actions")
	m := formPattern.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("no form: %.500s", body)
	}
	return m[1]
}

// TestActions runs actions with a program that writes its arguments and waits.
func TestActions(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	script := "#!/bin/sh\nfor a in \"$@\"; do echo \"<$a>\"; done\necho '" + strings.ReplaceAll(hostileUser, "'", "") + "'\n[ \"$1\" = tune ] || exit 3\ntrap 'echo interrupted; exit 0' INT\nwhile :; do sleep 0.05; done\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := serve(t, makeHistory()(t), func(o *Options) { o.Target, o.Program, o.Place = "toy", program, []string{"--history", "/x y"} })
	form := s.signIn(t)
	act := func(path string, pairs ...string) int {
		t.Helper()
		values := url.Values{"form": {form}}
		for i := 0; i+1 < len(pairs); i += 2 {
			values.Set(pairs[i], pairs[i+1])
		}
		status, _, _ := s.post(t, "/actions/"+path, values)
		return status
	}
	until := func(want string) {
		t.Helper()
		for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
			if _, body, _ := s.get(t, "/actions"); strings.Contains(body, html.EscapeString(want)) {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		_, body, _ := s.get(t, "/actions")
		t.Fatalf("the page never showed %q: %s", want, body)
	}
	for _, bad := range [][]string{{"start", "command", "tune", "time", "15m; rm"}, {"start", "command", "version"}, {"start", "command", "bench", "seconds", "-1"}, {"apply", "remedy", "--help", "run", "9"}, {"apply", "remedy", "DB101", "run", "--x"}, {"apply", "remedy", "DB101\n", "run", "9"}, {"revert", "change", "-1"}, {"revert", "change", "--all"}} {
		if status := act(bad[0], bad[1:]...); status != http.StatusBadRequest {
			t.Errorf("%q: status %d", bad, status)
		}
	}
	if status, _, _ := s.post(t, "/actions/start", url.Values{"form": {"x"}, "command": {"tune"}, "time": {"15m"}}); status != http.StatusForbidden {
		t.Errorf("a wrong form token: status %d", status)
	}
	if status := act("stop"); status != http.StatusConflict {
		t.Errorf("stop without a child: status %d", status)
	}
	if status := act("start", "command", "tune", "time", "15m"); status != http.StatusSeeOther {
		t.Fatalf("start: status %d", status)
	}
	until("Running")
	until("<toy>")
	until("</x y>")
	until(hostileUser)
	if status := act("revert", "change", "2"); status != http.StatusConflict {
		t.Errorf("two at a time: status %d", status)
	}
	if status := act("stop"); status != http.StatusSeeOther {
		t.Errorf("stop: status %d", status)
	}
	until("interrupted")
	until("Result: done")
	act("apply", "remedy", "DB101.2", "run", "9")
	until("<DB101.2>")
	until("Result: exit status 3")
	act("revert", "change", "2")
	until("<revert>")
	if status, _, _ := s.post(t, "/session/end", url.Values{"form": {form}}); status != http.StatusSeeOther {
		t.Errorf("signing out: status %d", status)
	}
	if status := act("start", "command", "tune", "time", "15m"); status != http.StatusForbidden {
		t.Errorf("after signing out: status %d", status)
	}
}

// TestSignedInButtons: the buttons of actions are on the pages of findings and
// changes, only for a session.
func TestSignedInButtons(t *testing.T) {
	s := hostileSite(t)
	has := func(path, want string) bool {
		_, body, _ := s.get(t, path)
		return strings.Contains(body, want)
	}
	if has("/findings", "/actions/apply") || has("/changes/1", "/actions/revert") {
		t.Error("buttons without a session")
	}
	s.signIn(t)
	if !has("/findings", "/actions/apply") || !has("/changes/1", "/actions/revert") {
		t.Error("no buttons with a session")
	}
	// Three findings have one code: their remedies have numbers of their own.
	for _, ref := range []string{"BEN103.1", "BEN103.2", "BEN103.3"} {
		if !has("/findings", `name="remedy" value="`+ref+`"`) {
			t.Errorf("no button applies %s", ref)
		}
	}
}

func TestEmptyHistory(t *testing.T) {
	s := serve(t, filepath.Join(t.TempDir(), "nothing"), nil)
	for path, want := range map[string]int{"/": 200, "/live": 200, "/runs": 500} {
		if status, body, _ := s.get(t, path); status != want || !strings.Contains(body, "</html>") {
			t.Errorf("%s: status %d", path, status)
		}
	}
}

// TestStoreFollows: a page shows a run that another process saved after the page was
// shown before.
func TestStoreFollows(t *testing.T) {
	s := hostileSite(t)
	_, before, _ := s.get(t, "/runs?tsv=runs")
	h, err := history.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, _, err := h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.SaveRun(&iikanji.Run{ID: id, Outcome: iikanji.Passed, Score: 4321, Took: 10 * time.Second, Began: time.Unix(2000, 0)}); err != nil {
		t.Fatal(err)
	}
	_, after, _ := s.get(t, "/runs?tsv=runs")
	if strings.Contains(before, "4,321") || !strings.Contains(after, fmt.Sprintf("%d\t", id)) || !strings.Contains(after, "4,321") {
		t.Errorf("before %.300q, after %.300q", before, after)
	}
}
