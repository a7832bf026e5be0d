package mine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A site is a game that is served for a test.
type site struct {
	*Game
	url  string
	done chan error
	end  func()
}

func serveGame(t *testing.T, c Config) *site {
	t.Helper()
	g, err := NewGame(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &site{Game: g, url: "http://" + l.Addr().String(), done: make(chan error, 1), end: cancel}
	go func() { s.done <- g.Play(ctx, l) }()
	t.Cleanup(cancel)
	return s
}

// post sends a body and decodes the answer.
func (s *site) post(t *testing.T, path, body string, into any) int {
	t.Helper()
	res, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v in %s", path, err, text)
		}
	}
	return res.StatusCode
}

func (s *site) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the game does not end")
		return nil
	}
}

func TestNotStarted(t *testing.T) {
	s := serveGame(t, Config{Seed: 1, Size: Small, Duration: time.Minute, StartTimeout: 100 * time.Millisecond})
	res, err := http.Get(s.url + "/health-check") // begins no game
	if err == nil {
		res.Body.Close()
	}
	if err := s.wait(t); !errors.Is(err, ErrNotStarted) {
		t.Errorf("%v", err)
	}
}

func TestBell(t *testing.T) {
	const length = 3 * time.Second // in which a busy machine answers a request
	s := serveGame(t, Config{Seed: 1, Size: Small, Duration: length})
	if status := s.post(t, "/explore", "{", nil); status != 400 { // begins the game all the same
		t.Errorf("status %d", status)
	}
	if err := s.wait(t); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(s.url + "/health-check"); err == nil {
		t.Error("the server answers after the bell")
	}
	r := s.Report()
	if !r.Started || !r.Ended || r.Elapsed < length || r.Answers["explore"][400] != 1 || r.Conns != 1 {
		t.Errorf("%+v", r)
	}
}

// TestSaved: a game that is taken up has its clock, its coins, its licences and its holes, and
// no treasure that was dug out.
func TestSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "game.save")
	c := Config{Seed: 3, Size: Small, Duration: time.Hour, Save: file}
	first := serveGame(t, c)
	first.game.mu.Lock()
	first.game.licenses.active[4] = &License{ID: 4, Allowed: 30}
	first.game.licenses.next = 5
	first.game.bank.earn(12)
	first.game.mu.Unlock()
	was := struct{ Amount int }{}
	first.post(t, "/explore", `{"posX":0,"posY":0,"sizeX":5,"sizeY":5}`, &was)
	found := 0
	for x := range 5 {
		if first.post(t, "/dig", `{"licenseID":4,"posX":`+string(rune('0'+x))+`,"posY":0,"depth":1}`, nil) == 200 {
			found++
		}
	}
	if err := first.save(); err != nil {
		t.Fatal(err)
	}
	first.end()
	_ = first.wait(t)
	second := serveGame(t, c)
	is := struct{ Amount int }{}
	second.post(t, "/explore", `{"posX":0,"posY":0,"sizeX":5,"sizeY":5}`, &is)
	r := second.Report()
	if is.Amount != was.Amount-found || r.Balance != 12 || r.Elapsed < first.Report().Elapsed/2 {
		t.Errorf("%d treasures of %d, %d were dug out; %+v", is.Amount, was.Amount, found, r)
	}
	var refusal Refusal
	if status := second.post(t, "/dig", `{"licenseID":4,"posX":0,"posY":0,"depth":1}`, &refusal); status != 422 || refusal.Code != codeDepth {
		t.Errorf("a hole is not there: %d %+v", status, refusal)
	}
	if lic := second.game.licenses.active[4]; lic == nil || lic.Used != 6 {
		t.Errorf("licence %+v", lic)
	}
}

func TestSavedOther(t *testing.T) {
	file := filepath.Join(t.TempDir(), "game.save")
	for _, text := range []string{"", "{}\n", `{"seed":4}` + "\n", `{"seed":3,"size":{"X":5,"Y":5,"Depth":10,"Density":4,"Licenses":3,"Test":true}}` + "\nshort",
		`{"seed":3,"balance":-1,"size":{"X":5,"Y":5,"Depth":10,"Density":4,"Licenses":3,"Test":true}}` + "\n" + strings.Repeat("\x00", 25),
		`{"seed":3,"size":{"X":5,"Y":5,"Depth":10,"Density":4,"Licenses":3,"Test":true}}` + "\n" + strings.Repeat("\x0b", 25)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewGame(Config{Seed: 3, Size: Small, Duration: time.Hour, Save: file}); err == nil {
			t.Errorf("%.40q was taken up", text)
		}
	}
}
