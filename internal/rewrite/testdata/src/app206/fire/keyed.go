package fire

import (
	"fmt"
	"html/template"
	"net/http"
	"path/filepath"
	"strings"
	"time"
)

// Rendered: the name of the file is a parameter, and the functions are local.
func Rendered(w http.ResponseWriter, name string, data any) {
	days := template.FuncMap{
		"day": func(t time.Time) string { return t.Format("2 Jan") },
	}
	t := template.Must(template.New("layout.html").Funcs(days).ParseFiles(file("layout.html"), file(name))) // want `a template is parsed each time; make it once: a later version of the file is not seen`
	t.Execute(w, data)
}

func file(elem ...string) string { return filepath.Join(append([]string{"views"}, elem...)...) }

// Two: two texts choose the template.
func Two(w http.ResponseWriter, r *http.Request, kind, name string) {
	t, err := template.New(kind).Parse(fmt.Sprintf("{{define %q}}x{{end}}", name)) // want `a template is parsed`
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	t.Execute(w, nil)
}

// Called: a local function alone.
func Called(w http.ResponseWriter, r *http.Request) {
	join := func(list []string) string { return strings.Join(list, ", ") }
	t := template.Must(template.New("p").Funcs(template.FuncMap{"join": join}).Parse("{{join .}}")) // want `a template is parsed`
	t.Execute(w, r.Header["Accept"])
	_ = join
}
