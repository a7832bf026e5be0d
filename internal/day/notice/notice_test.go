package notice

import (
	"encoding/json"
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
	"unicode/utf16"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A receiver is a server that keeps what it is sent, and answers as a test wants.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func (r *receiver) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.bodies...)
}

func receive(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	rec := &receiver{}
	rec.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s with %q", r.Method, r.Header)
		}
		rec.mu.Lock()
		rec.bodies = append(rec.bodies, string(b))
		n := len(rec.bodies)
		rec.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(rec.CloseClientConnections)
	t.Cleanup(rec.Close)
	return rec
}

func ok(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func send(t *testing.T, address string, n Notice) Outcome {
	t.Helper()
	s := &Sender{Refs: []target.Ref{"env:HOOK"}, Getenv: func(string) string { return address }}
	out := s.Send(t.Context(), n)[0]
	if strings.Contains(out.Failure, "s3cr3t") || strings.Contains(out.Failure, "\n") {
		t.Errorf("the failure has the address, or several lines: %q", out.Failure)
	}
	return out
}

var sample = Notice{Kind: "run", Site: "isu", Title: "run 15 passed 44,034 @everyone", At: time.Date(2026, 11, 28, 4, 0, 0, 0, time.UTC),
	Lines: []string{"GET /api/trend <!channel> <@U123> & more", "connect: mysql://isu:hunter2secret@127.0.0.1/isu", "\x1b[31mred\nnext"}}

func TestForms(t *testing.T) {
	for path, c := range map[string]struct {
		form string
		text func(doc map[string]any) string
	}{
		"/api/webhooks/1/s3cr3t":    {"discord", func(d map[string]any) string { return d["content"].(string) }},
		"/services/T0/B0/s3cr3t":    {"slack", func(d map[string]any) string { return d["text"].(string) }},
		"/hook?token=s3cr3t&wait=1": {"json", func(d map[string]any) string { return d["text"].(string) }},
	} {
		r := receive(t, ok)
		out := send(t, r.URL+path, sample)
		if out.Failure != "" || out.Form != c.form || len(r.got()) != 1 {
			t.Fatalf("%s: %+v, %q", path, out, r.got())
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(r.got()[0]), &doc); err != nil {
			t.Fatal(err)
		}
		text := c.text(doc)
		for _, bad := range []string{"@everyone", "<!channel", "<@U", "hunter2secret", "\x1b"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: the text has %q: %q", path, bad, text)
			}
		}
		if !strings.Contains(text, "run 15 passed 44,034") || strings.Count(text, "\n") != 3 {
			t.Errorf("%s: %q", path, text)
		}
		if mentions, ok := doc["allowed_mentions"].(map[string]any); c.form == "discord" && (!ok || len(mentions["parse"].([]any)) != 0) {
			t.Errorf("mentions are allowed: %v", doc)
		}
	}
}

func TestLength(t *testing.T) {
	n := Notice{Site: "isu", Title: "long"}
	for range 200 {
		n.Lines = append(n.Lines, strings.Repeat("🐘", 30))
	}
	text := n.Text()
	if got := len(utf16.Encode([]rune(text))); got > MaxText || got < MaxText-3 {
		t.Errorf("%d units", got)
	}
	if !strings.HasSuffix(text, "…") {
		t.Error("it does not say that it is cut")
	}
	if got := cut("abc", 3); got != "abc" {
		t.Errorf("%q", got)
	}
}

// TestHostileReceivers: no answer takes longer than two tries, leaks the address, sends the
// notice elsewhere, or is asked a third time.
func TestHostileReceivers(t *testing.T) {
	tier.Slow(t)
	elsewhere := receive(t, ok)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	for name, c := range map[string]struct {
		answer func(n int, w http.ResponseWriter, r *http.Request)
		want   string // in the failure; "" for none
		asked  int
	}{
		"not found":      {func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "answers 404", 1},
		"error, then ok": {func(n int, w http.ResponseWriter, r *http.Request) { w.WriteHeader([]int{0, 503, 200}[n]) }, "", 2},
		"errors":         {func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "answers 500", 2},
		"too many, soon": {func(n int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0.6")
			w.WriteHeader([]int{0, 429, 204}[n])
		}, "", 2},
		"too many, later": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}, "asked again in 3600 s", 1},
		"too many, nonsense": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "-Inf")
			w.WriteHeader(429)
		}, "answers 429", 2},
		"redirect": {func(_ int, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/s3cr3t", http.StatusTemporaryRedirect)
		}, "a redirect", 1},
		"endless body": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, "", 1},
		"large header": {func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Big", strings.Repeat("x", 1<<20))
		}, "not one of HTTP", 2},
		"slow": {func(_ int, _ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}, "no answer within 5s", 2},
		"closes": {func(_ int, _ http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "closed the connection", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := receive(t, c.answer)
			began := time.Now()
			out := send(t, r.URL+"/api/webhooks/1/s3cr3t", sample)
			if (out.Failure == "") != (c.want == "") || !strings.Contains(out.Failure, c.want) {
				t.Errorf("failure %q, want %q", out.Failure, c.want)
			}
			if got := len(r.got()); got != c.asked {
				t.Errorf("asked %d times, want %d", got, c.asked)
			}
			if took := time.Since(began); took > 2*tryTime+maxRetry+time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(elsewhere.got()); n > 0 {
			t.Errorf("%d notices were sent elsewhere", n)
		}
	})
}

func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "SSH-2.0-hello\r\n")
			c.Close()
		}
	}()
	defer l.Close()
	if out := send(t, "http://"+l.Addr().String()+"/s3cr3t", sample); out.Failure == "" {
		t.Error("another protocol was taken")
	}
	if out := send(t, "http://"+servertest.FreeAddress(t)+"/s3cr3t", sample); !strings.Contains(out.Failure, "connection refused") {
		t.Errorf("%+v", out)
	}
}

func TestAddress(t *testing.T) {
	r := receive(t, ok)
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("# x\nexport OTHER=1\nHOOK=\""+r.URL+"/s3cr3t\"\nBAD=ftp://s3cr3t/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Sender{Getenv: func(string) string { return "" }, Read: os.ReadFile, Forbids: func(string) bool { return false },
		Refs: []target.Ref{target.Ref("file:" + file + ":HOOK"), target.Ref("file:" + file + ":BAD"), target.Ref("file:" + file + ":NONE"), "env:UNSET", target.Ref("file:" + file + "x:HOOK")}}
	out := s.Send(t.Context(), sample)
	for i, want := range []string{"", "not an http or https address", "has no line NONE", "UNSET is not set", "no such file"} {
		if (out[i].Failure == "") != (want == "") || !strings.Contains(out[i].Failure, want) || strings.Contains(out[i].Failure, "s3cr3t") {
			t.Errorf("%+v, want %q", out[i], want)
		}
	}
	if len(r.got()) != 1 {
		t.Errorf("%d notices", len(r.got()))
	}
	s.Forbids = func(host string) bool { return strings.HasPrefix(host, "127.0.0.1") }
	if out := s.Send(t.Context(), sample); !strings.Contains(out[0].Failure, "forbids") || len(r.got()) != 1 {
		t.Errorf("%+v", out[0])
	}
	name := strings.Replace(r.URL, "127.0.0.1", "localhost", 1) // a name that stands for a forbidden address
	s.Getenv, s.Refs = func(string) string { return name }, []target.Ref{"env:HOOK"}
	s.Forbids = func(host string) bool {
		return strings.HasPrefix(host, "127.0.0.1") || strings.HasPrefix(host, "[::1]")
	}
	if out := s.Send(t.Context(), sample); !strings.Contains(out[0].Failure, "forbids") || len(r.got()) != 1 {
		t.Errorf("a name: %+v", out[0])
	}
}

// FuzzText: no text has a mention, a secret's marker, a control character or too many units.
func FuzzText(f *testing.F) {
	f.Add("run 15", "@everyone <@1> <!here>")
	f.Add("\xff\x00", strings.Repeat("🐘", 3000))
	f.Fuzz(func(t *testing.T, title, body string) {
		n := Notice{Site: "s", Title: title, Lines: strings.Split(body, "|")}
		text := n.Text()
		if got := len(utf16.Encode([]rune(text))); got > MaxText {
			t.Errorf("%d units", got)
		}
		for _, bad := range []string{"@everyone", "@here", "<!", "<#", "<@1", "\x00", "\x1b"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q in %q", bad, text)
			}
		}
		for _, f := range []form{discord, slack, general} {
			if b, err := n.body(f); err != nil || !json.Valid(b) {
				t.Errorf("%s: %v", f, err)
			}
		}
	})
}
