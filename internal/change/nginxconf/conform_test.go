package nginxconf

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A heldAct is an act that the conformance suite tests: a remedy that plans it,
// and a line of probed after it.
type heldAct struct {
	r      iikanji.Remedy
	effect string
}

// connections are the acts about nginx's processes and its connections to the app.
func connections(s *probedSite) map[string]heldAct {
	return map[string]heldAct{
		"upstream keepalive": {remedy("upstream keepalive", "keepalive", "32"), `root: 200 OK, body "app by tcp / conn= `}, // the included file and the main one
		"upstream socket":    {remedy("upstream socket", "socket", s.socket()), `root: 200 OK, body "app by unix`},
		"cache":              {remedy("cache", "path", "/counted", "valid", "100s"), "the same answer again: true"}, // nginx makes a folder
		"cache until reset":  {remedy("cache until reset", "path", "/counted", "reset", "/initialize"), "the same answer again: true"},
		"buffers":            {remedy("buffers", "body", "256k", "answer", "1m", "header", "32k", "spill", "off"), "large header: 200 OK"},
		"workers":            {remedy("workers", "processes", "2", "connections", "128"), "workers: 2"},
		"access log":         {remedy("access log", "log", "off"), "the log is open: false"},
	}
}

// answers are the acts about what clients receive.
func answers(*probedSite) map[string]heldAct {
	return map[string]heldAct{
		"static files":       {remedy("static files", "path", "/assets"), `asset: 200 OK, body "from disk"`},
		"internal files":     {remedy("internal files", "folder", "assets"), `named by the app: 200 OK, body "from disk"`},
		"gzip":               {remedy("gzip"), "compressed: 200 OK, Content-Encoding [gzip]"},
		"gzip static":        {remedy("gzip static", "path", "/ready"), "ready: 200 OK, Content-Encoding [gzip]"}, // new files that are not text
		"expires":            {remedy("expires", "path", "/kept", "expires", "1h"), "kept: 200 OK, Cache-Control [max-age=3600]"},
		"open file cache":    {remedy("open file cache", "valid", "60s"), "a file's old content: true"},
		"refuse user agents": {remedy("refuse user agents", "patterns", "^bot/"), "bot: 503 Service Temporarily Unavailable"},
		"set":                {remedy("set", "directive", "gzip_static", "value", "on"), "precompressed: 200 OK, Content-Encoding [gzip]"},
	}
}

// TestConformance and TestConformanceAnswers run the conformance suite of kinds
// on each act, with a real nginx whose answers show its configuration. They run
// in parallel: most of the time nginx sleeps before it ends old workers.
func TestConformance(t *testing.T) {
	tier.Slow(t)
	conform(t, connections)
}

// The acts about answers are held in three parts, each with an nginx of its
// own: most of their time is waiting.
const answerParts = 3

func TestConformanceAnswers1(t *testing.T) {
	tier.Slow(t)
	conform(t, answersPart(0))
}
func TestConformanceAnswers2(t *testing.T) {
	tier.Slow(t)
	conform(t, answersPart(1))
}
func TestConformanceAnswers3(t *testing.T) {
	tier.Slow(t)
	conform(t, answersPart(2))
}

// answersPart is every third act of answers.
func answersPart(i int) func(*probedSite) map[string]heldAct {
	return func(s *probedSite) map[string]heldAct {
		all, part := answers(s), map[string]heldAct{}
		for n, name := range slices.Sorted(maps.Keys(all)) {
			if n%answerParts == i {
				part[name] = all[name]
			}
		}
		return part
	}
}

func conform(t *testing.T, acts func(*probedSite) map[string]heldAct) {
	t.Parallel()
	s := newProbedSite(t)
	c := changetest.Case{
		Dir: s.dir, Open: s.open, State: s.probed,
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.Observability, iikanji.Freshness, iikanji.Availability, iikanji.Privacy}},
		Remedies: map[string]iikanji.Remedy{}, Effects: map[string]string{},
		Serves: func() error { _, err := s.get("/", nil); return err },
	}
	for name, a := range acts(s) {
		c.Remedies[name], c.Effects[name] = a.r, a.effect
	}
	changetest.Run(t, c)
}

// TestEveryAct: the conformance suite tests every act.
func TestEveryAct(t *testing.T) {
	none := &probedSite{testSite: &testSite{}}
	held := slices.Sorted(maps.Keys(connections(none)))
	held = append(held, slices.Sorted(maps.Keys(answers(none)))...)
	slices.Sort(held)
	all := actNames()
	slices.Sort(all)
	if !slices.Equal(held, all) {
		t.Errorf("in the conformance suite: %q; acts: %q", held, all)
	}
}

// A probedSite is an nginx whose answers are different after each act. Its app
// listens on TCP and on a unix socket.
type probedSite struct {
	*testSite
	asked atomic.Int64 // numbers requests that must not be answered from a cache
}

const largeHeader = 20_000 // bytes: more than nginx accepts by default

func newProbedSite(t *testing.T) *probedSite {
	t.Helper()
	if dir := changetest.ChildDir(); dir != "" {
		return &probedSite{testSite: &testSite{dir: dir}}
	}
	s := &probedSite{}
	app := func(by string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch r.URL.Path {
			case "/large":
				w.Header().Set("X-Large", strings.Repeat("x", largeHeader))
			case "/named":
				w.Header().Set("X-Accel-Redirect", "/iikanji/assets/a.txt")
			case "/counted":
				fmt.Fprint(w, s.asked.Add(1))
				return
			}
			fmt.Fprintf(w, "app by %s %s conn=%s %s", by, r.URL.Path, r.Header.Get("Connection"), strings.Repeat("x", 2000))
		})
	}
	server := strings.TrimSuffix(serverConf, "}\n") + "\tlocation /fresh/ { root %[1]s; }\n}\n"
	s.testSite = startSite(t, app("tcp"), map[string]string{"conf/nginx.conf": siteConf, "conf/sites/a.conf": server,
		"public/assets/a.txt": "from disk", "public/ready/words.txt": strings.Repeat("words that compress well\n", 200),
		"public/ready/pre.txt": "plain", "public/ready/pre.txt.gz": "compressed before", "fresh/x": ""})
	l, err := net.Listen("unix", s.socket())
	if err != nil {
		t.Fatal(err)
	}
	bySocket := httptest.NewUnstartedServer(app("unix"))
	bySocket.Listener.Close()
	bySocket.Listener = l
	bySocket.Start()
	t.Cleanup(bySocket.Close)
	if err := os.Chmod(s.socket(), 0o666); err != nil { // for nginx's workers
		t.Fatal(err)
	}
	return s
}

func (s *probedSite) socket() string { return filepath.Join(s.dir, "app.sock") }

// probed is the state of the files, and what nginx answers now.
func (s *probedSite) probed() (string, error) {
	text, err := s.state()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(text + "\n")
	gzip := http.Header{"Accept-Encoding": {"gzip"}}
	for _, p := range []struct {
		name, path string
		header     http.Header
	}{
		{"root", "/", nil}, {"asset", "/assets/a.txt", nil}, {"compressed", "/any", gzip}, {"ready", "/ready/words.txt", gzip}, {"precompressed", "/ready/pre.txt", gzip},
		{"kept", "/kept", nil}, {"named by the app", "/named", nil}, {"named by a client", "/iikanji/assets/a.txt", nil}, {"large header", "/large", nil}, {"bot", "/any", http.Header{"User-Agent": {"bot/1"}}},
	} {
		said, err := s.ask(p.path, p.header)
		if err != nil {
			return "", err
		}
		b.WriteString(p.name + ": " + said + "\n")
	}
	for _, p := range []struct {
		name string
		ask  func() (string, error)
	}{{"a file's old content", s.keepsOld}, {"the same answer again", s.repeats}, {"the log is open", s.logs}, {"workers", s.count}} {
		said, err := p.ask()
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.name, err)
		}
		b.WriteString(p.name + ": " + said + "\n")
	}
	return b.String(), nil
}

// ask is an answer of nginx: the status, the headers that acts change, and the body.
func (s *probedSite) ask(path string, header http.Header) (string, error) {
	r, err := s.get(path, header)
	if r == nil || err != nil && r.StatusCode == http.StatusOK {
		return "", err
	}
	body, err := io.ReadAll(r.Body)
	says := r.Status
	for _, name := range []string{"Content-Encoding", "Cache-Control"} {
		if v := r.Header[name]; v != nil {
			says += fmt.Sprintf(", %s %v", name, v)
		}
	}
	return fmt.Sprintf("%s, body %.60q %s", says, body, change.FingerprintOf(body)), err
}

// text is the body of an answer.
func (s *probedSite) text(path string) (string, error) {
	r, err := s.get(path, nil)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r.Body)
	return string(b), err
}

// repeats reports whether an answer is sent again without a request to the app.
// A slice of the cache's time may end once in between, but not twice.
func (s *probedSite) repeats() (string, error) {
	var got [3]string
	for i := range got {
		var err error
		if got[i], err = s.text("/counted"); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(got[0] == got[1] || got[1] == got[2]), nil
}

// keepsOld reports whether a file is sent with its content before it was replaced.
func (s *probedSite) keepsOld() (string, error) {
	name := fmt.Sprintf("fresh/%d", s.asked.Add(1))
	path := filepath.Join(s.dir, name)
	defer os.Remove(path)
	var got string
	for _, text := range []string{"old", "new"} {
		err := errors.Join(os.WriteFile(path+".tmp", []byte(text), 0o644), os.Rename(path+".tmp", path))
		if err == nil {
			got, err = s.text("/" + name)
		}
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprint(got == "old"), nil
}

// accepting are the workers that are not shutting down.
func (s *probedSite) accepting() ([]string, error) {
	all, err := s.workers()
	return slices.DeleteFunc(all, func(pid string) bool {
		title, _ := os.ReadFile("/proc/" + pid + "/cmdline")
		return !strings.Contains(string(title), "worker process") || strings.Contains(string(title), "shutting down")
	}), err
}

func (s *probedSite) count() (string, error) {
	all, err := s.accepting()
	return fmt.Sprint(len(all)), err
}

// logs reports whether a worker has the access log open.
func (s *probedSite) logs() (string, error) {
	all, err := s.accepting()
	if err != nil || len(all) == 0 {
		return "", errors.Join(err, errors.New("no worker accepts"))
	}
	open, err := filepath.Glob("/proc/" + all[0] + "/fd/*")
	if err != nil || len(open) == 0 {
		return "", errors.Join(err, errors.New("a worker has no file open"))
	}
	return fmt.Sprint(slices.ContainsFunc(open, func(fd string) bool {
		to, _ := os.Readlink(fd)
		return to == filepath.Join(s.dir, "access.log")
	})), nil
}
