package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// loggedSite is a site whose one server is this process, with an access log, and with more
// lines at the end of its file. It returns its folder and its address.
func loggedSite(t *testing.T, more string) (dir, address string) {
	t.Helper()
	dir = t.TempDir()
	log := filepath.Join(dir, "access.log")
	f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(f, "127.0.0.1 - - [%s] \"%s %s HTTP/1.1\" 200 2\n", time.Now().Format("02/Jan/2006:15:04:05 -0700"), r.Method, r.URL.Path)
		fmt.Fprint(w, "ok")
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close(); f.Close() })
	text := fmt.Sprintf("version = 1\nname = \"toy\"\nurl = \"http://%s\"\n[[service]]\nname = \"web\"\nrole = \"web\"\nlisten = %q\nrestart = \"parent\"\n[service.logs]\naccess = %q\n%s",
		l.Addr(), l.Addr(), log, more)
	if err := os.WriteFile(filepath.Join(dir, "iikanji.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, "http://" + l.Addr().String()
}

// TestPortal: bench says when to press, sees the load, and ends without a score; score gives
// it later, corrects it, and tells the team each time.
func TestPortal(t *testing.T) {
	tier.Slow(t)
	var told []string
	var mu sync.Mutex
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		told = append(told, string(b))
	}))
	defer hook.Close()
	t.Setenv("IIKANJI_TEST_HOOK", hook.URL)
	t.Setenv(turn.WhoVariable, "aoi")
	dir, address := loggedSite(t, "[bench]\nhow = \"portal\"\nruns_left = 2\n[team]\nnotify = [\"env:IIKANJI_TEST_HOOK\"]\n")
	work := filepath.Join(t.TempDir(), "work")
	in, typed := io.Pipe()
	var out, errs lockedBuffer
	e := &env{Stdin: in, Stdout: &out, Stderr: &errs, Now: time.Now, Cols: 80}
	status := make(chan int, 1)
	go func() { status <- run(t.Context(), e, []string{"bench", dir, "--dir", work}) }()
	said := func(what string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !strings.Contains(errs.String(), what); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it has not said %q:\n%s%s", what, errs.String(), out.String())
			}
		}
	}
	said("press now")
	from := time.Now()
	for i := range 120 {
		path := fmt.Sprintf("/api/%d", i%7)
		if i == 0 {
			path = "/initialize"
		}
		res, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		time.Sleep(10 * time.Millisecond)
	}
	to := time.Now()
	said("Its score?")
	if _, err := io.WriteString(typed, "\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-status; got != exitDone {
		t.Fatalf("status %d\n%s%s", got, errs.String(), out.String())
	}
	if !strings.Contains(out.String(), "PENDING") || !strings.Contains(errs.String(), "2 runs are left") {
		t.Errorf("%s%s", out.String(), errs.String())
	}
	load := func() *iikanji.Run {
		t.Helper()
		h, err := history.View(filepath.Join(work, "history"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := h.LoadRun(1)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := load()
	// The log is quiet for five seconds before the load is over: a wrong end would be off by as much.
	if off := max(r.Began.Sub(from).Abs(), r.Began.Add(r.Took).Sub(to).Abs()); off > 4*time.Second || r.Who != "aoi" || r.Outcome != iikanji.Pending {
		t.Errorf("%v off: %+v", off, r)
	}
	score := func(want string, args ...string) {
		t.Helper()
		text, errors, status := invoke(t, append([]string{"score", "--target", dir, "--dir", work}, args...)...)
		if status != exitDone || !strings.Contains(text, want) {
			t.Errorf("score %v: status %d, %s%s", args, status, text, errors)
		}
	}
	score("run 1: passed 404,034", "404034")
	score("run 1: passed 44,034", "44,034", "--run", "1")
	if r := load(); r.Score != 44034 || len(r.Notes) < 3 {
		t.Errorf("%+v", r)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 3 || !strings.Contains(told[0], "run 1 pending (aoi)") || !strings.Contains(told[2], "run 1 passed 44,034 (aoi)") {
		t.Errorf("told %q", told)
	}
}
