package arenatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// echo answers with the request that it received.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Asked", r.Method+" "+r.Host+r.URL.RequestURI()+" "+r.Header.Get("X-Mine")+" "+string(body))
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, `[1,2,3]`)
}

func ask(t *testing.T, url string) (res *http.Response, body string, err error) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader("sent"))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "tenant.example"
	r.Header.Set("X-Mine", "mine")
	if res, err = http.DefaultClient.Do(r); err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res, string(b), err
}

func TestProxy(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(echo))
	defer target.Close()
	p, err := NewProxy(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	url := p.URL() + "/api/isu/7/icon?a=b%2Cc"
	plain := func() {
		t.Helper()
		res, body, err := ask(t, url)
		if err != nil || res.StatusCode != 202 || body != "[1,2,3]" || res.Header.Get("X-Asked") != "POST tenant.example/api/isu/7/icon?a=b%2Cc mine sent" {
			t.Errorf("%v %q %v, want it passed on as it is", res, body, err)
		}
	}
	plain()
	p.Spoil(When(scenario.Load, "POST", "/api/isu/*/icon", After(202, JSON(func(_ *Exchange, v []int) []int { return v[1:] }))))
	plain() // not in this phase
	p.SetPhase(scenario.Load)
	if _, body, err := ask(t, url); err != nil || body != "[2,3]" {
		t.Errorf("%q %v, want the first element gone", body, err)
	}
	p.Spoil(When("", "POST", "/api/isu/*", Instead(500, "", "")))
	plain() // not this path
	p.Spoil(Instead(418, "text/x", "tea"))
	if res, body, err := ask(t, url); err != nil || res.StatusCode != 418 || body != "tea" || res.Header.Get("Content-Type") != "text/x" {
		t.Errorf("%v %q %v, want tea", res, body, err)
	}
	p.Spoil(After(202, func(x *Exchange) { x.Cut = 3 }))
	if _, body, err := ask(t, url); err == nil {
		t.Errorf("%q came whole, want it cut", body)
	}
	p.Spoil(Before(func(x *Exchange) { x.Query = "" }))
	if res, _, err := ask(t, url); err != nil || !strings.HasPrefix(res.Header.Get("X-Asked"), "POST tenant.example/api/isu/7/icon mine") {
		t.Errorf("%v %v, want no query", res, err)
	}
	p.Spoil(func(x *Exchange, _ func()) { status, body := x.Fetch("/other", "q"); x.Give(status, "", string(body)) })
	if res, body, err := ask(t, url); err != nil || res.StatusCode != 202 || body != "[1,2,3]" {
		t.Errorf("%v %q %v, want the other answer", res, body, err)
	}
}

// TestProxyCloses: the proxy closes connections as its target does, or as a hook
// demands, and a stalled answer leaves the connection open.
func TestProxyCloses(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/close" {
			w.Header().Set("Connection", "close")
		}
		io.WriteString(w, "body")
	}))
	defer target.Close()
	p, err := NewProxy(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for path, want := range map[string]bool{"/close": true, "/keep": false} {
		if res, body, err := ask(t, p.URL()+path); err != nil || body != "body" || res.Close != want {
			t.Errorf("%s: %v %q %v, want close %t", path, res, body, err, want)
		}
	}
	p.Spoil(After(200, func(x *Exchange) { x.Close = false }))
	if res, _, err := ask(t, p.URL()+"/close"); err != nil || res.Close {
		t.Errorf("%v %v, want the connection kept", res, err)
	}
	p.Spoil(After(200, func(x *Exchange) { x.Stall = 2 }))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", p.URL()+"/keep", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := make([]byte, 2)
	if _, err := io.ReadFull(res.Body, body); string(body) != "bo" || res.ContentLength != 4 || err != nil {
		t.Errorf("%q of %d bytes, %v, want half of a body", body, res.ContentLength, err)
	}
	time.AfterFunc(300*time.Millisecond, cancel)
	if rest, err := io.ReadAll(res.Body); len(rest) > 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v, want a stalled body", rest, err)
	}
}

func TestMatchPath(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/api/isu", "/api/isu", true}, {"/api/isu", "/api/isu/", false}, {"/api/isu/*", "/api/isu", false},
		{"/api/isu/*", "/api/isu/x", true}, {"/api/isu/*", "/api/isu/x/icon", false}, {"/api/isu/*", "/api/isu/", false},
		{"/api/isu/*/icon", "/api/isu/x/icon", true}, {"/api/isu/*/icon", "/api/isu/x/graph", false},
	} {
		if got := matchPath(c.pattern, c.path); got != c.want {
			t.Errorf("%s of %s: %v", c.pattern, c.path, got)
		}
	}
}

// recorder is a session that records what is reported.
type recorder struct {
	scenario.Session
	reported, failed []error
}

func (r *recorder) Report(err error) { r.reported = append(r.reported, err) }
func (r *recorder) Fail(err error)   { r.failed = append(r.failed, err) }

// stepsOnly is a scenario without phases.
type stepsOnly struct{}

func (stepsOnly) Info() scenario.Info { return scenario.Info{Steps: []string{"GET /", "GET /x"}} }

// TestWatched checks that the first wanted fault ends a run, and that the session
// still receives every fault.
func TestWatched(t *testing.T) {
	ended := 0
	w := &watched{Scenario: stepsOnly{}, end: func() { ended++ },
		until: func(f *iikanji.Fault) bool {
			return On(iikanji.FaultStatus, "GET /x").matches(f) || By("page").matches(f)
		}}
	r := &recorder{}
	s := w.session(r)
	s.Report(nil)
	s.Report(errors.New("not a fault"))
	s.Report(&scenario.Fault{Kind: iikanji.FaultStatus, Step: 0})
	s.Report(&scenario.Fault{Kind: iikanji.FaultStatus, Step: -1})
	s.Report(&scenario.Fault{Kind: iikanji.FaultStatus, Step: 2})
	if ended != 0 {
		t.Errorf("ended %d times without the wanted fault", ended)
	}
	s.Report(fmt.Errorf("wrapped: %w", &scenario.Fault{Kind: iikanji.FaultStatus, Step: 1}))
	s.Fail(scenario.Wrong(nil, "page", "x"))
	if ended != 2 || len(r.reported) != 6 || len(r.failed) != 1 {
		t.Errorf("ended %d times, %d reported, %d failed", ended, len(r.reported), len(r.failed))
	}
}

// TestVerdict checks that the suite itself can fail.
func TestVerdict(t *testing.T) {
	run := func(outcome iikanji.Outcome, faults ...iikanji.Fault) *iikanji.Run {
		return &iikanji.Run{Outcome: outcome, Faults: faults}
	}
	right := iikanji.Fault{Kind: iikanji.FaultCheck, Step: "GET /", Check: "page", Count: 1}
	other := iikanji.Fault{Kind: iikanji.FaultStatus, Step: "GET /", Count: 1}
	slow := iikanji.Fault{Kind: iikanji.FaultTimeout, Step: "GET /x", Count: 1}
	checks := Fault{Want: []Caught{By("page")}}
	load := Fault{Want: []Caught{By("page")}, UnderLoad: true}
	tolerant := Fault{Want: []Caught{By("page")}, Also: []Caught{On(iikanji.FaultStatus, "GET /")}}
	for _, c := range []struct {
		says  string
		fault Fault
		run   *iikanji.Run
		ok    bool
	}{
		{"caught by the right one", checks, run(iikanji.Failed, right), true},
		{"not caught", checks, run(iikanji.Passed), false},
		{"caught by another", checks, run(iikanji.Failed, other), false},
		{"caught by another too", checks, run(iikanji.Failed, right, other), false},
		{"by another that may be", tolerant, run(iikanji.Failed, right, other), true},
		{"only by another that may be", tolerant, run(iikanji.Failed, other), false},
		{"caught, but the run passed", checks, run(iikanji.Passed, right), false},
		{"a timeout in the checks", checks, run(iikanji.Failed, right, slow), false},
		{"a timeout under load", load, run(iikanji.Failed, right, slow), true},
		{"caught under load for nothing", load, run(iikanji.Passed, right), false},
		{"not caught before the load was ended", load, run(iikanji.Interrupted), false},
	} {
		if _, wrong := c.fault.verdict(c.run); (len(wrong) == 0) != c.ok {
			t.Errorf("%s: %v", c.says, wrong)
		}
	}
}

// TestQuiet: a client gives up while its request is on the way. Quiet waits until the target
// has answered it.
func TestQuiet(t *testing.T) {
	came, answer := make(chan struct{}), make(chan struct{})
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(came)
		<-answer
	}))
	defer target.Close()
	p, err := NewProxy(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Quiet(t.Context()); err != nil {
		t.Fatalf("without any client: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL(), strings.NewReader("sent"))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error)
	go func() {
		_, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
		gone <- err
	}()
	<-came
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatalf("the client: %v", err)
	}
	short, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer end()
	if err := p.Quiet(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while the target works: %v", err)
	}
	close(answer)
	if err := p.Quiet(t.Context()); err != nil {
		t.Errorf("after its answer: %v", err)
	}
}
