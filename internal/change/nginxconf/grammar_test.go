package nginxconf

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A writer makes a random configuration that nginx accepts, without any order
// in its layout.
type writer struct {
	*rand.Rand
	dir   string
	files map[string]string
}

// maybe is one of the texts, or nothing.
func (w *writer) maybe(texts ...string) string {
	if w.IntN(2) == 0 {
		return ""
	}
	return w.one(texts...)
}

func (w *writer) one(texts ...string) string { return texts[w.IntN(len(texts))] }

// blank separates words; gap separates directives.
func (w *writer) blank() string { return w.one(" ", "  ", "\t", "\n\t", " # a; b {\n ") }
func (w *writer) gap() string {
	return w.one("\n", "\n\n", " ", "\n    ", "\n# } a comment; \n", " # it's here\n", "\n\t\t", "\r\n")
}

// directive writes words in any way that nginx reads as these words.
func (w *writer) directive(words ...string) string {
	text := words[0]
	for _, word := range words[1:] {
		if !strings.ContainsAny(word, " ;{}\"'\\#") && w.IntN(4) > 0 {
			text += w.blank() + word
		} else if strings.ContainsAny(word, "'") || w.IntN(2) == 0 {
			text += w.blank() + `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
		} else {
			text += w.blank() + `'` + strings.NewReplacer(`\`, `\\`).Replace(word) + `'`
		}
	}
	return text + w.one("", " ", " # end\n") + ";" + w.gap()
}

// body shuffles parts, and moves some into a file of their own.
func (w *writer) body(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	w.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	text := w.gap()
	for _, p := range parts {
		if w.IntN(12) == 0 {
			name := fmt.Sprintf("inc%d.conf", len(w.files))
			w.files[name] = p + w.one("", "\n", "# no newline")
			p = w.directive("include", name)
		}
		text += p
	}
	return text
}

func (w *writer) block(head, body string) string {
	return head + w.one(" ", "  ", "\n") + "{" + body + "}" + w.gap()
}

// common are directives that are allowed in http, server and location.
func (w *writer) common() []string {
	return []string{
		w.maybe(w.directive("proxy_set_header", "X-A", `a "b" {c};`) + w.directive("proxy_set_header", "Host", "$http_host")),
		w.maybe(w.directive("proxy_set_header", "Connection", "close")),
		w.maybe(w.directive("add_header", "X-B", "it's; {")),
		w.maybe(w.directive("gzip", w.one("on", "off")), w.directive("gzip_types", "text/css", "application/json")),
		w.maybe(w.directive("expires", w.one("1h", "off", "-1"))),
		w.maybe(w.directive("access_log", "off"), w.directive("access_log", w.dir+"/a.log"), w.directive("access_log", w.dir+"/b.log", "combined", "buffer=32k")),
		w.maybe(w.directive("client_body_buffer_size", w.one("8k", "1m", "16384"))),
		w.maybe(w.directive("proxy_http_version", w.one("1.0", "1.1"))),
		w.maybe(w.directive("tcp_nopush", w.one("on", "off"))),
		w.maybe(w.directive("proxy_hide_header", "X-Secret")),
		w.maybe(w.directive("error_page", "404", "/404.html")),
		w.maybe(w.directive("etag", w.one("on", "off"))),
		w.maybe(w.directive("proxy_cache_use_stale", "error")),
	}
}

func (w *writer) location(head, uri string, nested ...string) string {
	pass := w.directive("proxy_pass", w.one("http://127.0.0.1:9", "http://app", "http://app", "http://b", "http://127.0.0.2:9")+uri)
	inner := append(w.common(), nested...)
	return w.block("location "+head, w.body(append(inner, pass)...))
}

func (w *writer) server(i int) string {
	nested := w.maybe(w.location("/api/in/", ""), w.location(`~ "\.c{1,2}ss$"`, ""))
	parts := append(w.common(),
		w.directive("listen", fmt.Sprintf("127.0.0.1:%d", 20000+i)),
		w.directive("server_name", fmt.Sprintf("s%d.test", i)),
		w.location(w.one("/", "/", `"/"`), "", nested),
		w.maybe(w.location("/assets", ""), w.location("^~ /assets/", ""), w.block("location /assets/", w.body(w.directive("root", w.dir+"/public")))),
		w.maybe(w.location("/base/", w.one("", "/other/"))),
		w.maybe(w.location("= /api/trend", ""), w.location("=/api/trend", "")),
		w.maybe(w.location(`~* \.(png|jpe?g)$`, ""), w.location("@named", "")),
		w.maybe(w.block("if ($request_method = DELETE)", w.body(w.directive("return", "405")))),
	)
	return w.block("server", w.body(parts...))
}

func (w *writer) conf() {
	http := append(w.common(), w.directive("proxy_temp_path", w.dir+"/run/p"), w.directive("client_body_temp_path", w.dir+"/run/c"),
		w.directive("fastcgi_temp_path", w.dir+"/run/f"), w.directive("uwsgi_temp_path", w.dir+"/run/u"), w.directive("scgi_temp_path", w.dir+"/run/s"),
		w.block("upstream "+w.one("app", `"app"`), w.gap()+w.directive("server", "127.0.0.1:9", "max_fails=0")+w.maybe(w.directive("keepalive", "2"), w.directive("keepalive", "32"))),
		w.block("upstream b", w.gap()+w.directive("server", "127.0.0.1:9")+w.directive("server", "127.0.0.1:10")),
		w.block("map $arg_a $v", w.gap()+`"~^x{1,2};" "{";`+w.gap()+"default '';"),
		w.server(0), w.maybe(w.server(1)), w.maybe(w.server(2)))
	w.files["nginx.conf"] = w.maybe(w.directive("worker_rlimit_nofile", w.one("4096", "100"))) + w.maybe(w.directive("worker_processes", "auto")) +
		w.directive("pid", w.dir+"/nginx.pid") + w.directive("error_log", w.dir+"/error.log") +
		w.block("events", w.body(w.maybe(w.directive("worker_connections", w.one("50", "700"))))) + w.block("http", w.body(http...)) + w.one("", "# the end", "\n")
}

// grammarActs are remedies for random configurations.
func grammarActs() []iikanji.Remedy {
	all := []iikanji.Remedy{remedy("static files", "path", "/s", "server", "s0.test"), remedy("upstream keepalive", "keepalive", "16", "to", "app"),
		remedy("gzip static", "path", "/assets", "server", "s0.test", "min", "10"), remedy("set", "directive", "client_body_buffer_size", "value", "16k")}
	for _, name := range slices.Sorted(maps.Keys(sameActs)) {
		r := sameActs[name].r
		r.Args = maps.Clone(r.Args)
		if r.Args["server"] != "" {
			r.Args["server"] = "s0.test"
		}
		all = append(all, r)
	}
	return all
}

// TestGrammar: an edit of a configuration that nginx accepts is either refused
// with an error of this package, or accepted by nginx; planned again there is
// nothing to change, and undone every byte is as before.
func TestGrammar(t *testing.T) {
	tier.Slow(t)
	acts := grammarActs()
	done := make([]int, len(acts))
	rounds := 6 * len(acts)
	dir := t.TempDir()
	s := &testSite{dir: dir}
	for path, text := range publicOfSame {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"public/s", "run"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "public/s/a.css"), []byte("a{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(rounds) {
		w := &writer{rand.New(rand.NewPCG(seed, 1)), dir, map[string]string{}}
		w.conf()
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, "conf")), os.Mkdir(filepath.Join(dir, "conf"), 0o755)); err != nil {
			t.Fatal(err)
		}
		for name, text := range w.files {
			if err := os.WriteFile(filepath.Join(dir, "conf", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		site := s.open(dir)
		svc := site.Services["nginx"]
		if err := svc.Running.CheckConfig(t.Context(), svc.Config); err != nil {
			t.Fatalf("seed %d: the grammar made what nginx refuses: %v\n%s", seed, err, w.files["nginx.conf"])
		}
		i := int(seed) % len(acts)
		if s.undoes(t, seed, site, acts[i]) {
			done[i]++
		}
	}
	planned := 0
	for i, n := range done {
		t.Logf("%d × %v", n, acts[i].Args)
		planned += n
	}
	if planned < rounds*2/3 {
		t.Errorf("%d of %d remedies were planned: too few to prove much", planned, rounds)
	}
}

// undoes plans, writes and undoes one remedy, if it can be planned.
func (s *testSite) undoes(t *testing.T, seed uint64, site *change.Site, r iikanji.Remedy) bool {
	t.Helper()
	before, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	c, err := change.Plan(t.Context(), site, r)
	if err != nil {
		if strings.Contains(err.Error(), "nginx refuses") {
			t.Errorf("seed %d: %v: %v\n%s", seed, r.Args, err, before)
		}
		return false
	}
	perform := func(ops []iikanji.Op) {
		for _, op := range ops {
			if op.Verb == iikanji.Reload {
				continue // nginx does not run
			}
			if err := site.Perform(t.Context(), op); err != nil {
				t.Fatal(err)
			}
		}
	}
	perform(c.Do)
	svc := site.Services["nginx"]
	if err := svc.Running.CheckConfig(t.Context(), svc.Config); err != nil {
		t.Errorf("seed %d: nginx takes the copy but not the files: %v\n%s", seed, err, change.Diff(c))
	}
	if again, err := change.Plan(t.Context(), site, r); !errors.Is(err, change.ErrNothing) {
		t.Errorf("seed %d: %v planned again: %v\n%s", seed, r.Args, err, change.Diff(c))
		if again != nil {
			t.Log(change.Diff(again))
		}
	}
	perform(c.Undo)
	if after, err := s.state(); err != nil || after != before {
		t.Errorf("seed %d: undone it is\n%s\nand was\n%s", seed, after, before)
	}
	return true
}
