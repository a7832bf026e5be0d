package goapp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// app has routes in the forms of net/http, of routers with methods for HTTP's
// methods, with groups and with functions for a part of the routes. The router is
// the app's own, so that the test needs no module.
const app = `package main

import (
	"net/http"
	"regexp"
)

type context struct{}
type handler func(c *context) error
type router struct{}

func (r *router) GET(path string, h handler, more ...handler) {}
func (r *router) POST(path string, h handler)                 {}
func (r *router) Add(method, path string, h handler)          {}
func (r *router) Get(path string, h http.HandlerFunc)         {}
func (r *router) Group(path string) *router                   { return r }
func (r *router) Route(path string, f func(r *router))        {}

// cache has a method of a name that registers routes elsewhere.
type cache struct{}

func (cache) Get(key string, miss func() string) string { return miss() }

type store interface{ find(id string) string }
type table struct{}

func (t table) find(id string) string { return clean(id) }
func clean(id string) string          { return id }

type app struct{ s store }

func (a *app) list(c *context) error   { return a.show(c) }
func (a *app) show(c *context) error   { a.s.find("1"); return nil }
func (a *app) create(c *context) error { return nil }
func (a app) page(w http.ResponseWriter, r *http.Request) {
	w.Write([]byte(regexp.MustCompile("a+").ReplaceAllString(r.URL.Path, "b")))
}
func logged(h handler) handler { return h }
func never() string            { return "" }

const prefix = "/v2"

func main() {
	a := &app{}
	r := &router{}
	r.GET("/list", a.list)
	r.POST(prefix+"/items/:id", logged(a.create))
	api := r.Group("/api")
	admin := api.Group("/admin")
	admin.GET("/{id:[0-9]+}", a.show)
	r.Route("/sub", func(r *router) {
		r.Get("/page", a.page)
	})
	r.Add("DELETE", "/items/:id", func(c *context) error { return a.create(c) })
	http.HandleFunc("GET /std/{id}", a.page)
	http.HandleFunc("/any", a.page)
	cache{}.Get("not a path", never)
}
`

func writeApp(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/app\n\ngo 1.24\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func routesIn(t *testing.T, text string) ([]Route, error) {
	t.Helper()
	pkgs, err := Load(t.Context(), writeApp(t, text), "./...")
	if err != nil {
		return nil, err
	}
	routes, _ := Routes(pkgs, nil)
	return routes, nil
}

// TestRoutes: every registration is found with its whole path, and nothing else is.
func TestRoutes(t *testing.T) {
	got, err := routesIn(t, app)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	reaches := map[string][]string{}
	for _, h := range got {
		lines = append(lines, h.Route+" "+h.Func)
		reaches[h.Route] = h.Reaches
	}
	want := []string{"ANY /any app.page", "DELETE /items/:id main", "GET /api/admin/:id (*app).show", "GET /list (*app).list",
		"GET /std/:id app.page", "GET /sub/page app.page"}
	for _, w := range want {
		if !slices.Contains(lines, w) {
			t.Errorf("no %q in %q", w, lines)
		}
	}
	if len(lines) != len(want)+1 || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "POST /v2/items/:id ") }) {
		t.Errorf("%q", lines)
	}
	for _, f := range []string{"(*app).list", "(*app).show", "table.find", "clean"} {
		if !slices.Contains(reaches["GET /list"], f) {
			t.Errorf("GET /list does not reach %s: %q", f, reaches["GET /list"])
		}
	}
	if slices.Contains(reaches["GET /list"], "(*app).create") {
		t.Errorf("GET /list reaches %q", reaches["GET /list"])
	}
	if !slices.Contains(reaches["POST /v2/items/:id"], "(*app).create") {
		t.Errorf("a wrapped handler reaches %q", reaches["POST /v2/items/:id"])
	}
}

// TestWrappedHandlers: a handler that is given to a function or a method is the route's, whatever
// else that is given, and the wrapper is reached, too.
func TestWrappedHandlers(t *testing.T) {
	const wrapped = `package main

import "net/http"

type wraps struct{}

func (w *wraps) All(h func(w http.ResponseWriter) error, who func() bool) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) { w.log(); h(rw) }
}
func (w *wraps) log()                            {}
func anybody() bool                              { return true }
func view(w http.ResponseWriter) error           { return find() }
func find() error                                { return nil }
func made(text string) http.HandlerFunc          { return func(http.ResponseWriter, *http.Request) { find() } }
func logged(h http.HandlerFunc) http.HandlerFunc { return h }

func main() {
	w := &wraps{}
	http.HandleFunc("/view", w.All(view, anybody))
	http.HandleFunc("/made", made("x"))
	http.HandleFunc("/literal", logged(func(http.ResponseWriter, *http.Request) { find() }))
}
`
	got, err := routesIn(t, wrapped)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"ANY /view view":    {"(*wraps).All", "(*wraps).log", "anybody", "find", "view"},
		"ANY /made made":    {"find", "made"},
		"ANY /literal main": {"find", "logged"},
	}
	for _, r := range got {
		if w := want[r.Route+" "+r.Func]; !slices.Equal(w, r.Reaches) {
			t.Errorf("%s %s reaches %q, want %q", r.Route, r.Func, r.Reaches, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d routes, want %d", len(got), len(want))
	}
}

// TestRouters: the forms of chi, gin, echo and gorilla's mux. The routers are the app's
// own, with the methods of those.
func TestRouters(t *testing.T) {
	const routers = `package main

import "net/http"

type route struct{}
type router struct{}
type handler = http.HandlerFunc

func (r *router) Get(path string, h handler)                    {}
func (r *router) Group(f any, more ...any) *router              { return r }
func (r *router) Route(path string, f func(*router)) *router    { return r }
func (r *router) With(more ...any) *router                      { return r }
func (r *router) Mount(path string, h any)                      {}
func (r *router) HandleFunc(path string, h handler) *route      { return nil }
func (r *router) Path(path string) *route                       { return nil }
func (r *router) PathPrefix(path string) *route                 { return nil }
func (r *route) Subrouter() *router                             { return nil }
func (r *route) Methods(m ...string) *route                     { return r }
func (r *route) Queries(q ...string) *route                     { return r }
func (r *route) HandlerFunc(h handler) *route                   { return r }

func show(w http.ResponseWriter, r *http.Request) {}
func shops(r *router)                             { r.Get("/shop", show) }

func main() {
	r := &router{}
`
	for name, c := range map[string]struct{ code, want string }{
		"chi: several parameters":        {`r.Get("/image/{id}.{ext}", show)`, "GET /image/:id.:ext"},
		"chi: an expression":             {`r.Get("/@{name:[0-9a-zA-Z_]{1,9}}/x", show)`, "GET /@:name/x"},
		"chi: everything below":          {`r.Get("/files/*", show)`, "GET /files/*"},
		"chi: a group without a path":    {`r.Route("/a", func(r *router) { r.Group(func(r *router) { r.Get("/b", show) }) })`, "GET /a/b"},
		"chi: a group with a middleware": {`r.Route("/a", func(r *router) { r.With(nil).Get("/b", show) })`, "GET /a/b"},
		"chi: a mounted router":          {`s := &router{}; r.Mount("/a", s); s.Get("/b", show)`, "GET /a/b"},
		"gin: a group at once":           {`r.Group("/v1").Get("/b", show)`, "GET /v1/b"},
		"echo: a group for a function":   {`shops(r.Group("/v2"))`, "GET /v2/shop"},
		"mux: a method":                  {`r.HandleFunc("/a", show).Methods("POST")`, "POST /a"},
		"mux: methods behind others":     {`r.HandleFunc("/a", show).Queries("b", "c").Methods(http.MethodPut, "GET")`, "GET /a, PUT /a"},
		"mux: a subrouter":               {`s := r.PathPrefix("/s").Subrouter(); s.HandleFunc("/{id:[0-9]+}", show)`, "ANY /s/:id"},
		"mux: groups at /":               {`r.PathPrefix("/").Subrouter().PathPrefix("/").Subrouter().HandleFunc("/{id}", show)`, "ANY /:id"},
		"mux: one function, two groups":  {`shops(r.PathPrefix("/a").Subrouter()); shops(r.PathPrefix("/b").Subrouter())`, "GET /a/shop, GET /b/shop"},
		"mux: a path and its handler":    {`r.Path("/p").Methods("GET").HandlerFunc(show)`, "GET /p"},
		"net/http: this path alone":      {`http.HandleFunc("GET /{$}", show)`, "GET /"},
		"net/http: everything below":     {`http.HandleFunc("/f/{rest...}", show)`, "ANY /f/*rest"},
		"net/http: any method":           {`http.HandleFunc("/f/", show)`, "ANY /f/"},
	} {
		got, err := routesIn(t, routers+"\t"+c.code+"\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		var routes []string
		for _, r := range got {
			if r.Route != "GET /shop" { // of shops itself, which nothing calls
				routes = append(routes, r.Route)
			}
		}
		if is := strings.Join(routes, ", "); is != c.want {
			t.Errorf("%s: %s, want %s", name, is, c.want)
		}
	}
}

// FuzzPathOf: no path stops the reader, and one without braces stays.
func FuzzPathOf(f *testing.F) {
	f.Add("/image/{id}.{ext}")
	f.Add("/@{name:[0-9a-zA-Z_]+}")
	f.Add("/a/{b...}")
	f.Add("/a/{$}")
	f.Fuzz(func(t *testing.T, path string) {
		got := PathOf(path)
		if !strings.ContainsAny(path, "{}") && !strings.Contains(path, "//") && got != path {
			t.Errorf("%q is %q", path, got)
		}
	})
}
