package gosource

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/rewrite"
	"github.com/iikanji/iikanji/internal/site/fact"
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

// TestFacts: the places of levers are facts with paths relative to the source; a
// package with errors is a problem.
func TestFacts(t *testing.T) {
	known, problems, err := Facts(t.Context(), "shop", writeApp(t, app), "", rewrite.Facts{})
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v", problems, err)
	}
	i := slices.IndexFunc(known, func(f iikanji.Fact) bool { return fact.TopicCode.Is(f) })
	if i < 0 || known[i].Target != "shop" || !strings.HasPrefix(known[i].Key, "APP206 main.go:") || !strings.Contains(fact.Text(known[i]), `"func":"app.page"`) {
		t.Errorf("%+v", known)
	}
	_, problems, err = Facts(t.Context(), "shop", writeApp(t, "package main\n\nfunc main() { undefined() }\n"), "", rewrite.Facts{})
	if err != nil || len(problems) == 0 {
		t.Errorf("source with an error: %v, %v", problems, err)
	}
}

// TestFactsOfProgram: of a module with several programs, the facts of one are of the
// packages that it is built from, with its statements; an ending stays in a path.
func TestFactsOfProgram(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module example.org/two\n\ngo 1.24\n",
		"shop/main.go":  program("shop", `db.QueryRow("SELECT name FROM item WHERE id = ?", lib.ID(r))`),
		"stock/main.go": program("stock", `db.QueryRow("SELECT room FROM stock WHERE id = ?", lib.ID(r))`),
		"lib/lib.go":    "package lib\n\nimport (\n\t\"net/http\"\n\t\"regexp\"\n)\n\nfunc ID(r *http.Request) string { return regexp.MustCompile(\"[0-9]+\").FindString(r.URL.Path) }\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	known, problems, err := Facts(t.Context(), "shop", dir, "./shop", rewrite.Facts{})
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v", problems, err)
	}
	var got []string
	for _, f := range known {
		got = append(got, f.Topic+" "+f.Key)
		if fact.TopicSends.Is(f) && (!strings.Contains(fact.Text(f), "SELECT name FROM item") || !strings.Contains(fact.Text(f), `"func":"show"`)) {
			t.Errorf("%+v", f)
		}
	}
	want := []string{"code APP206 lib/lib.go:8 ID", "handler GET /shop/:id.png", "sends shop/main.go:15"}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no %q in %q", w, got)
		}
	}
	if slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "stock") }) {
		t.Errorf("facts of the other program: %q", got)
	}
}

// program is a program with one route whose handler sends a statement.
func program(name, send string) string {
	return `package main

import (
	"database/sql"
	"net/http"

	"example.org/two/lib"
)

var db *sql.DB

func show(w http.ResponseWriter, r *http.Request) {
	var v string
	// the next line sends
	` + send + `.Scan(&v)
}

type router struct{}

func (router) Get(string, http.HandlerFunc) {}

func main() { router{}.Get("/` + name + `/{id}.png", show) }
`
}

// TestSchemaOf: unique keys of whole columns count, and tables of two schemas with
// one name do not.
func TestSchemaOf(t *testing.T) {
	table := func(key string, tab catalog.Table) iikanji.Fact { return fact.TopicTable.Fact("db", key, tab, false) }
	got := SchemaOf([]iikanji.Fact{
		table("a.Orders", catalog.Table{Schema: "a", Name: "Orders", Columns: []catalog.Column{{Name: "ID", Type: "int(11)"}, {Name: "note", Type: "text", Nullable: true}},
			Indexes: []catalog.Index{{Unique: true, Parts: []catalog.IndexPart{{Column: "ID"}}}, {Unique: true, Parts: []catalog.IndexPart{{Column: "note", Prefix: 9}}},
				{Parts: []catalog.IndexPart{{Column: "note"}}}}}),
		fact.TopicSize.Fact("db", "a.Orders", catalog.TableSize{Rows: 12, Lengths: map[string]iikanji.Bytes{"note": 300}}, true),
		table("a.t", catalog.Table{Schema: "a", Name: "t"}), table("b.t", catalog.Table{Schema: "b", Name: "t"}),
	})
	o := got.Tables["orders"]
	if len(got.Tables) != 1 || o.Rows != 12 || len(o.Unique) != 1 || o.Unique[0][0] != "id" || o.Columns["note"].MeanBytes != 300 || !o.Columns["id"].NotNull || o.Columns["note"].NotNull {
		t.Errorf("%+v", got)
	}
}

// TestOtherPrograms: places in a program that serves no route are not listed for the
// app, while another program of the module serves some.
func TestOtherPrograms(t *testing.T) {
	dir := writeApp(t, app)
	const generator = "package main\n\nimport \"time\"\n\nfunc main() {\n\tfor range time.Tick(5 * time.Second) {\n\t}\n}\n"
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "generate"), 0o755), os.WriteFile(filepath.Join(dir, "generate", "main.go"), []byte(generator), 0o644)); err != nil {
		t.Fatal(err)
	}
	res, err := rewrite.Run(t.Context(), dir, []string{"./..."}, rewrite.Facts{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	places, _ := placesOf(dir, res)
	if !slices.ContainsFunc(places, func(p fact.CodePlace) bool { return p.File == "generate/main.go" }) {
		t.Fatalf("the levers find nothing in the generator: %+v", places)
	}
	known, _, err := Facts(t.Context(), "shop", dir, "", rewrite.Facts{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range known {
		if strings.Contains(f.Key, "generate/") {
			t.Errorf("a fact of the generator: %+v", f)
		}
	}
}
