package isucondition_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/machine/servertest"
)

// mock serves JIA for a part of a test.
func mock(t *testing.T) (url string) {
	t.Helper()
	key, err := SigningKey("")
	if err != nil {
		t.Fatal(err)
	}
	address := servertest.FreeAddress(t)
	ready := make(chan struct{}, 1)
	m := NewJIAMock(key, func(line string) {
		if strings.HasPrefix(line, "JIA answers") {
			ready <- struct{}{}
		}
	})
	m.Interval = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx, address) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("the mock ends with %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the mock does not end")
		}
	})
	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("serving: %v", err)
	}
	return "http://" + address
}

// testMock follows the steps of a manual test: log in at JIA, return, register an
// ISU, see what it posts.
func testMock(t *testing.T) {
	fresh(t)
	jia := mock(t)
	contest.NewClient(t).Send("POST", "/initialize", apptest.WithJSON(map[string]string{"jia_service_url": jia})).Want(t, 200, "")

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	person := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"callback": {"http://here/isu?a=b"}, "user": {"isucon3"}, "password": {"isucon3"}}
	res, err := person.PostForm(jia+"/", form)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	back, err := res.Location()
	if err != nil || res.StatusCode != 303 || back.Host != "here" || back.Query().Get("a") != "b" {
		t.Fatalf("after the login: %s to %v (%v)", res.Status, back, err)
	}
	g := contest.NewClient(t)
	g.Send("POST", "/api/auth", withToken(back.Query().Get("jwt"))).Want(t, 200, "")

	uuid := MockUUIDs()[4]
	var isu apiISU
	g.Send("POST", "/api/isu", formISU(t, uuid, "もくば")).Decode(t, 201, &isu)
	if isu.Character != Labels[4] {
		t.Errorf("character %q, want %q", isu.Character, Labels[4])
	}
	g.Send("POST", "/api/isu", formISU(t, "00000000-0000-4000-8000-000000000000", "x")).Want(t, 404, "JIAService returned error")

	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) { // one post in ten is stored
		var n, distinct int
		if err := contest.DB.QueryRow("SELECT COUNT(*), COUNT(DISTINCT `timestamp`) FROM isu_condition WHERE jia_isu_uuid = ?", uuid).Scan(&n, &distinct); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			if n%3 != 0 || n != distinct {
				t.Errorf("%d conditions at %d times, want three at a time", n, distinct)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal("the ISU posts nothing")
		}
	}
}

func formISU(t *testing.T, uuid, name string) apptest.Edit { return form(t, uuid, name, nil) }

func TestMockAlone(t *testing.T) {
	jia := mock(t)
	ask := func(method, path, kind, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, jia+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		res, err := http.DefaultClient.Do(req)
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
	const form, json = "application/x-www-form-urlencoded", "application/json"
	status, page := ask("GET", "/?callback=http://x/?%22%3E", form, "")
	if status != 200 || !strings.Contains(page, `value="http://x/?&#34;&gt;"`) || len(regexp.MustCompile(`<li><code>`).FindAllString(page, -1)) != 10 {
		t.Errorf("the form: %d %s", status, page)
	}
	for _, c := range []struct {
		name, method, path, kind, body, says string
		status                               int
	}{
		{"wrong password", "POST", "/", form, "user=isucon1&password=x&callback=http://x/", "パスワードが違います", 401},
		{"unknown user", "POST", "/", form, "user=x&password=x&callback=http://x/", "パスワードが違います", 401},
		{"no callback", "POST", "/", form, "user=isucon1&password=isucon1", "callback", 400},
		{"callback is a script", "POST", "/", form, "user=isucon1&password=isucon1&callback=javascript:x", "callback", 400},
		{"token", "POST", "/api/auth", json, `{"user":"isucon","password":"isucon"}`, "eyJ", 200},
		{"wrong password for a token", "POST", "/api/auth", json, `{"user":"isucon","password":""}`, "違います", 401},
		{"token of nothing", "POST", "/api/auth", json, `{`, "bad request body", 400},
		{"activate nothing", "POST", "/api/activate", json, `{`, "bad request body", 400},
		{"activate to nowhere", "POST", "/api/activate", json, `{"isu_uuid":"x","target_base_url":"x"}`, "bad target_base_url", 400},
		{"activate a stranger", "POST", "/api/activate", json, `{"isu_uuid":"x","target_base_url":"http://127.0.0.1:1"}`, "bad isu_uuid", 404},
		{"activate to a dead target", "POST", "/api/activate", json, `{"isu_uuid":"` + MockUUIDs()[0] + `","target_base_url":"http://127.0.0.1:1"}`, Labels[0], 202},
		{"activate again", "POST", "/api/activate", json, `{"isu_uuid":"` + MockUUIDs()[0] + `","target_base_url":"http://127.0.0.1:2"}`, Labels[0], 202},
		{"elsewhere", "GET", "/x", json, "", "not found", 404},
	} {
		if status, text := ask(c.method, c.path, c.kind, c.body); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %.300s, want %d with %q", c.name, status, text, c.status, c.says)
		}
	}
}
