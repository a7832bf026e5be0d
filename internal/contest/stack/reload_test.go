package stack

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// connect opens a keep-alive connection to nginx.
func connect(t *testing.T, s *Stack) func() (string, error) {
	t.Helper()
	address := strings.TrimPrefix(s.Places().URL(), "http://")
	c, err := net.Dial("tcp", address)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	r := bufio.NewReader(c)
	return func() (string, error) {
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", address); err != nil {
			return "", err
		}
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		_, err = bufio.NewReader(res.Body).ReadString(0)
		_ = err // the end of the body
		return res.Header.Get("X-Config"), nil
	}
}

// TestReload asserts that every connection opened after Reload gets the new
// config, that no connection is refused meanwhile, and that the master stays.
func TestReload(t *testing.T) {
	tier.Slow(t)
	s := bring(t, tiny(), Options{Dir: shared(t)})
	master := s.Groups()[nginx][0]
	conf := s.dir.path(confDir, "nginx.d", "test.conf")
	writeForTest(t, conf, "")
	stop := make(chan struct{})
	var refused error
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := (process.Ready{URL: "http://" + s.Places().Service(nginx).Address + "/"}).Once(t.Context()); err != nil && refused == nil {
				refused = err
			}
		}
	})
	for round := range 4 {
		idle := connect(t, s)
		if _, err := idle(); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(round)
		must(t, os.WriteFile(conf, []byte("add_header X-Config "+want+";\n"), 0o644))
		must(t, s.Reload(t.Context(), nginx))
		for range 30 {
			if got, err := connect(t, s)(); got != want || err != nil {
				t.Fatalf("after reload %d a new connection has config %q (%v)", round, got, err)
			}
		}
	}
	close(stop)
	asking.Wait()
	if refused != nil {
		t.Errorf("a request failed during a reload: %v", refused)
	}
	if now := s.Groups()[nginx]; len(now) != 1 || now[0] != master {
		t.Errorf("nginx is process %v, was %d", now, master)
	}
}

// TestReloadRefused asserts that an invalid config, and one that only the running
// master can reject, are reported with nginx's messages and leave the old config
// in force.
func TestReloadRefused(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	conf := s.dir.path(confDir, "nginx.d", "test.conf")
	writeForTest(t, conf, "add_header X-Config good;\nlimit_req_zone $uri zone=z:1m rate=1r/s;\n")
	must(t, s.Reload(t.Context(), nginx))
	for text, want := range map[string]string{
		"nonsense;\n": "nonsense",
		"add_header X-Config bad;\nlimit_req_zone $host zone=z:1m rate=1r/s;\n": `limit_req "z" uses the "$host" key`,
	} {
		must(t, os.WriteFile(conf, []byte(text), 0o644))
		var config *ConfigError
		if err := s.Reload(t.Context(), nginx); !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
			t.Errorf("error: %v", err)
		}
		if got, err := connect(t, s)(); got != "good" || err != nil {
			t.Errorf("after a refused reload the config is %q (%v)", got, err)
		}
	}
	for _, other := range []string{app, database, "nobody's"} {
		if err := s.Reload(t.Context(), other); err == nil {
			t.Errorf("the %s was reloaded", other)
		}
	}
}
