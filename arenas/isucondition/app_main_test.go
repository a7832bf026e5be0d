package isucondition_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	. "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/stack"
)

// The stack's supervisor is this same binary, executed again. It must branch into
// the supervisor before any test runs.
func init() { stack.MaybeSupervise() }

// TestContest runs the app with its own MariaDB and nginx. They are started once
// for all tests below; each test initializes the app again.
func TestContest(t *testing.T) {
	contest.up(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"initialize", testInitialize}, {"schema", testSchema}, {"pages", testPages},
		{"tokens", testTokens}, {"session", testSession}, {"signed out", testSignedOut},
		{"lists", testLists}, {"foreign", testForeign}, {"registers", testRegisters}, {"trend", testTrend}, {"mock", testMock},
		{"history", testHistory}, {"graph", testGraph},
		{"takes reports", testTakesReports}, {"refuses reports", testRefusesReports}, {"drops", testDrops}, {"slow", testSlow},
		{"browser guest", testBrowserGuest}, {"browser owner", testBrowserOwner},
		{"browser registers", testBrowserRegisters}, {"browser signs out", testBrowserSignsOut},
	} {
		t.Run(c.name, c.run)
	}
}

// theContest holds the running stack and what the tests need of it.
type theContest struct {
	stack *stack.Stack
	data  *Data
	db    *sql.DB
	jia   *httptest.Server
}

var contest theContest

// up starts the stack and stops it when t is over.
func (c *theContest) up(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "iikanji-isucondition-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // the services' user needs access
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	a, _ := arena.Find("isucondition")
	began := time.Now()
	if c.stack, err = stack.Up(ctx, a, stack.Options{Dir: filepath.Join(dir, "stack")}); err != nil {
		t.Fatalf("bringing the contest up: %v", err)
	}
	t.Logf("the contest is up after %v", time.Since(began).Round(10*time.Millisecond))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.stack.Down(ctx); err != nil {
			t.Errorf("taking the contest down: %v", err)
		}
	})
	if c.data, err = LoadData(c.stack.Data()); err != nil {
		t.Fatal(err)
	}
	p := c.stack.Places().Service("database")
	if c.db, err = sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(127.0.0.1:%d)/%s?parseTime=true", p.User, p.Password, p.Port, p.Schema)); err != nil {
		t.Fatal(err)
	}
	c.db.SetMaxOpenConns(1)
	t.Cleanup(func() { c.db.Close() })
	c.jia = httptest.NewServer(http.HandlerFunc(activateForTest))
	t.Cleanup(c.jia.Close)
}

// activateForTest acts as JIA. UUIDs that begin with "a" are ISUs of character 3.
// UUIDs that begin with digits are refused with those digits as the status. Others
// are unknown.
func activateForTest(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Target string `json:"target_base_url"`
		UUID   string `json:"isu_uuid"`
	}
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil || r.URL.Path != "/api/activate" || r.Method != http.MethodPost {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	status := 0
	switch _, err := fmt.Sscanf(order.UUID, "%3d", &status); {
	case err == nil:
		http.Error(w, "refused", status)
	case !strings.HasPrefix(order.UUID, "a") || order.Target != contest.stack.Places().URL():
		http.Error(w, "not found", http.StatusNotFound)
	default:
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"character":%q}`, Labels[3])
	}
}

// fresh returns the running contest with its initial data restored.
func fresh(t *testing.T) *theContest {
	t.Helper()
	res := newGuest(t).send("POST", "/initialize", withJSON(map[string]string{"jia_service_url": contest.jia.URL}))
	res.want(t, http.StatusOK, "")
	return &contest
}

// A guest is one client of a test, with its own cookies.
type guest struct {
	t      *testing.T
	client *http.Client
}

func newGuest(t *testing.T) *guest {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &guest{t, &http.Client{Jar: jar, Timeout: 2 * time.Minute}}
}

// signedIn returns a guest signed in as a user.
func signedIn(t *testing.T, user string) *guest {
	t.Helper()
	g := newGuest(t)
	g.send("POST", "/api/auth", withToken(tokenFor(t, user))).want(t, http.StatusOK, "")
	return g
}

func tokenFor(t *testing.T, user string) string {
	t.Helper()
	key, err := SigningKey("")
	if err != nil {
		t.Fatal(err)
	}
	token, err := SignToken(key, map[string]any{"jia_user_id": user, "iat": time.Now().Unix() - 1, "exp": time.Now().Unix() + 30})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// An edit changes a request before it is sent.
type edit func(*http.Request)

func withToken(token string) edit {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

func withBody(kind, body string) edit {
	return func(r *http.Request) {
		r.Header.Set("Content-Type", kind)
		r.Body = io.NopCloser(strings.NewReader(body))
		r.ContentLength = int64(len(body))
	}
}

func withJSON(v any) edit {
	body, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return withBody("application/json", string(body))
}

// An answer is a received response.
type answer struct {
	what   string
	status int
	header http.Header
	body   []byte
}

func (g *guest) send(method, path string, edits ...edit) answer {
	g.t.Helper()
	r, err := http.NewRequest(method, contest.stack.Places().URL()+path, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, e := range edits {
		e(r)
	}
	res, err := g.client.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return answer{method + " " + path, res.StatusCode, res.Header, body}
}

func (g *guest) get(path string) answer { g.t.Helper(); return g.send("GET", path) }

// want checks the status and, if text is not empty, a text/plain body.
func (a answer) want(t *testing.T, status int, text string) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: status %d (%.100q), want %d", a.what, a.status, a.body, status)
		return
	}
	if text == "" {
		return
	}
	if kind := a.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
		t.Errorf("%s: content type %q, want text/plain", a.what, kind)
	}
	if string(a.body) != text {
		t.Errorf("%s: body %q, want %q", a.what, a.body, text)
	}
}

// wantEmpty checks the status of an answer without a body.
func (a answer) wantEmpty(t *testing.T, status int) {
	t.Helper()
	a.want(t, status, "")
	if len(a.body) > 0 {
		t.Errorf("%s: body %.100q, want none", a.what, a.body)
	}
}

// decode checks the status and decodes JSON strictly: unknown fields are an error.
func (a answer) decode(t *testing.T, status int, v any) {
	t.Helper()
	a.want(t, status, "")
	if kind := a.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		t.Errorf("%s: content type %q, want application/json", a.what, kind)
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v in %.200q", a.what, err, a.body)
	}
}
