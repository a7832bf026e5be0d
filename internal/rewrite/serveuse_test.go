package rewrite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// serving is a program with a main function that serves h.
func serving(body string) map[string]string {
	return map[string]string{"main.go": "package main\n\nimport (\n\t\"net\"\n\t\"net/http\"\n)\n\nvar _ net.Listener\n\ntype h struct{}\n\nfunc (h) ServeHTTP(http.ResponseWriter, *http.Request) {}\n\nfunc main() {\n" + body + "\n}\n"}
}

// TestServe: where an app serves, its handlers are wrapped; once they are, nothing
// changes.
func TestServe(t *testing.T) {
	type serveCase struct{ body, want, blocked string }
	cases := map[string]serveCase{
		"a handler":     {body: "\t_ = http.ListenAndServe(\":80\", h{})", want: `http.ListenAndServe(":80", pagegen.Handler(h{}))`},
		"the default":   {body: "\t_ = http.ListenAndServe(\":80\", nil)", want: `http.ListenAndServe(":80", pagegen.Handler(http.DefaultServeMux))`},
		"a listener":    {body: "\tvar l net.Listener\n\t_ = http.Serve(l, h{})", want: `http.Serve(l, pagegen.Handler(h{}))`},
		"TLS":           {body: "\t_ = http.ListenAndServeTLS(\":80\", \"c\", \"k\", h{})", want: `"k", pagegen.Handler(h{}))`},
		"a server":      {body: "\ts := &http.Server{Addr: \":80\", Handler: h{}}\n\t_ = s.ListenAndServe()", want: `Handler: pagegen.Handler(h{})}`},
		"set elsewhere": {body: "\tvar s = http.Server{Addr: \":80\"}\n\ts.Handler = h{}\n\t_ = s.ListenAndServe()", blocked: "main.go:15: an http.Server gets its handler elsewhere"},
	}
	apps := loadEach(t, cases, func(_ string, c serveCase) map[string]string { return serving(c.body) })
	serve := func(name string) (*ServeSource, error) {
		return serveOf(apps[name].dir, apps[name].pkgs, apps[name].path+"/pagegen")
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := serve(name)
			if err != nil {
				t.Fatal(err)
			}
			if c.blocked != "" {
				if len(got.Blockers) != 1 || got.Blockers[0] != c.blocked {
					t.Errorf("%q", got.Blockers)
				}
				return
			}
			wrapped(t, apps[name].dir, got, "main.go", c.want)
		})
	}
	reload(t, apps)
	for name, c := range cases {
		if c.blocked != "" {
			continue
		}
		t.Run(name+", again", func(t *testing.T) {
			again, err := serve(name)
			if err != nil || len(again.Fixes) != 0 || again.Serves != 1 || len(again.Blockers) != 0 {
				t.Errorf("wrapped, and again %+v, %v", again, err)
			}
		})
	}
}

// wrapped applies the fixes, adds the wrapper's package, and looks for a text.
func wrapped(t *testing.T, dir string, s *ServeSource, file, want string) {
	t.Helper()
	files, err := goapp.Apply(s.Files, s.Fixes)
	if err != nil || len(s.Blockers) != 0 || s.Serves != 1 {
		t.Fatalf("%v %+v", err, s)
	}
	body := string(files[filepath.Join(dir, file)])
	if !strings.Contains(body, want) {
		t.Errorf("%s lacks %s", body, want)
	}
	files[filepath.Join(dir, "pagegen", "p.go")] = []byte("package pagegen\n\nimport \"net/http\"\n\nfunc Handler(h http.Handler) http.Handler { return h }\n")
	for name, body := range files {
		writeFile(t, name, string(body))
	}
}

// TestServeEcho: an app of a contest, which uses echo.
func TestServeEcho(t *testing.T) {
	tier.Slow(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../arenas/isublog/files/_go")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.Rename(filepath.Join(dir, name+".txt"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	module, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Fields(string(module))[1] + "/pagegen"
	got, err := Serve(t.Context(), dir, path)
	if err != nil {
		t.Fatal(err)
	}
	wrapped(t, dir, got, "main.go", "\te.Pre(echo.WrapMiddleware(pagegen.Handler)) // sees every request\n\te.Logger.Fatal(e.Start(")
	again, err := Serve(t.Context(), dir, path)
	if err != nil || len(again.Fixes) != 0 || len(again.Blockers) != 0 {
		t.Errorf("wrapped, and again %+v, %v", again, err)
	}
}
