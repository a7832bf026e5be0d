package field

import (
	"os"
	"path/filepath"
	"testing"
)

const routesGo = `package main

import "net/http"

func none(http.ResponseWriter, *http.Request) {}

func main() {
	http.HandleFunc("GET /", none)
	http.HandleFunc("GET /users/{name}", none)
	http.HandleFunc("GET /users/settings", none)
	http.HandleFunc("POST /users/{name}/posts", none)
	http.HandleFunc("/files/", none)
	http.HandleFunc("GET /assets/{path...}", none)
	http.HandleFunc("GET /{page}", none)
}
`

// TestRoutesOf: routes with a fixed word are read, and again once a file is written.
// Those that would also take what the web server answers itself are left out.
func TestRoutesOf(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/app\n\ngo 1.24\n")
	write("main.go", routesGo)
	f := &Field{}
	if got := len(f.routesOf(t.Context(), dir)); got != 4 {
		t.Errorf("%d routes, want 4", got)
	}
	write("more.go", "package main\n\nimport \"net/http\"\n\nfunc init() { http.HandleFunc(\"GET /tags/{tag}\", none) }\n")
	if got := len(f.routesOf(t.Context(), dir)); got != 5 {
		t.Errorf("after another file was written: %d routes, want 5", got)
	}
	if got := f.routesOf(t.Context(), filepath.Join(dir, "gone")); got != nil {
		t.Errorf("of no folder: %v", got)
	}
}

func TestTellsApart(t *testing.T) {
	for route, want := range map[string]bool{
		"GET /": true, "GET /users/{name}": true, "/users/:name": true, "POST /api/isu/:id/icon": true,
		"/": false, "/:page": false, "GET /{year}/{month}": false, "/files/": false, "GET /<int:id>": false,
	} {
		if got := tellsApart(route); got != want {
			t.Errorf("%s: %v", route, got)
		}
	}
}
