package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/show/chart"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/*
var staticFiles embed.FS

// An asset is a file of /static with its digest, which is part of its address.
type asset struct {
	media string
	body  []byte
}

// assets are the static files by their names with digests, and their addresses by their
// plain names. Only a page loads them: every command would start later.
var assets = sync.OnceValues(loadAssets)

// loadAssets reads the static files; the style sheet begins with that of the charts.
func loadAssets() (map[string]asset, map[string]string) {
	all, urls := map[string]asset{}, map[string]string{}
	entries, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, e := range entries {
		body, err := fs.ReadFile(staticFiles, "static/"+e.Name())
		if err != nil {
			panic("BUG: " + err.Error())
		}
		if e.Name() == "ui.css" {
			body = append([]byte(chart.CSS), body...)
		}
		stem, ending, _ := strings.Cut(e.Name(), ".")
		name := fmt.Sprintf("%s-%.8x.%s", stem, sha256.Sum256(body), ending)
		all[name] = asset{mime.TypeByExtension("." + ending), body}
		urls[e.Name()] = "/static/" + name
	}
	return all, urls
}

func static(w http.ResponseWriter, r *http.Request) {
	files, _ := assets()
	a, ok := files[r.PathValue("file")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.media)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.body) // the browser may be gone
}

// templates are the pages by the name of their file. The first page parses them.
var templates = sync.OnceValue(parseTemplates)

func parseTemplates() map[string]*template.Template {
	_, assetURLs := assets()
	funcs := template.FuncMap{
		"asset": func(name string) string {
			if assetURLs[name] == "" {
				panic("BUG: there is no static file " + name)
			}
			return assetURLs[name]
		},
		"clean":   report.Clean,
		"effect":  document.Effect,
		"ratio":   document.Ratio,
		"points":  document.Points,
		"gain":    document.Gain,
		"mark":    document.ResultMark,
		"word":    document.ResultWord,
		"took":    func(d time.Duration) string { return report.Duration(d) },
		"clock":   func(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" },
		"percent": report.Percent,
		"minutes": func(d time.Duration) string { return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60) },
		"class":   resultClass,
		"count":   func(n int64) string { return report.Count(n) },
		"factor":  report.Factor,
		"number":  func(n int, thing string) string { return report.Number(n, thing) },
		"add":     func(a, b int) int { return a + b },
		"entry":   func(path, name, here string) entry { return entry{path, name, path == here} },
	}
	layout := template.Must(template.New("layout.html").Funcs(funcs).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	pages, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	all := map[string]*template.Template{}
	for _, name := range pages {
		if base := path.Base(name); base != "layout.html" && base != "parts.html" {
			all[strings.TrimSuffix(base, ".html")] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, name))
		}
	}
	return all
}

// An entry is one entry of the navigation.
type entry struct {
	Path, Name string
	Current    bool
}

// resultClass is the class of a result in the style sheet.
func resultClass(result string) string {
	switch result {
	case "keep", "kept", "provisional":
		return "keep"
	case "revert", "reverted", "dropped", "undone":
		return "revert"
	}
	return "other"
}

// A Page is what every page has.
type Page struct {
	Title   string
	Target  string
	Here    string // path of the page's entry in the navigation
	Session *session
	Traces  bool // there is a receiver of traces
	Actions bool // there are actions
	Team    bool // there is a page of a team
	Running string
	Tables  map[string]*Table
	Data    any
}

// Form is the form token of the session.
func (p *Page) Form() string {
	if p.Session == nil {
		return ""
	}
	return p.Session.form
}

// A view is one page: its template, title, tables and data.
type view struct {
	name, title, here string
	tables            []*Table
	data              any
}

// A failure is an error with the status of its answer. Its text is shown.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func notFound(format string, args ...any) error {
	return &failure{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// page makes a handler of a function that builds a view.
func (s *Server) page(build func(*http.Request) (*view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := build(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if name := r.URL.Query().Get("tsv"); name != "" {
			s.file(w, r, v, name)
			return
		}
		s.write(w, r, http.StatusOK, v)
	}
}

// file writes one table of a page.
func (s *Server) file(w http.ResponseWriter, r *http.Request, v *view, name string) {
	for _, t := range v.tables {
		if t.Name == name {
			w.Header().Set("Content-Type", "text/tab-separated-values; charset=utf-8")
			w.Header().Set("Content-Disposition", `attachment; filename="`+t.Name+`.tsv"`)
			if err := t.view(r.URL).write(w); err != nil {
				s.o.Log.Debug("writing a table", "error", err)
			}
			return
		}
	}
	s.fail(w, r, notFound("this page has no table of that name"))
}

// write renders a page into a buffer first, so that an error has a page of its own.
func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, v *view) {
	p := &Page{Title: v.title, Target: s.o.Target, Here: v.here, Session: s.sessions.of(r), Traces: s.o.Traces != nil, Actions: s.o.Program != "", Team: s.o.Day != nil, Tables: map[string]*Table{}, Data: v.data}
	p.Running = s.running()
	for _, t := range v.tables {
		p.Tables[t.Name] = t.view(r.URL).cut(r.URL)
	}
	var b bytes.Buffer
	if err := templates()[v.name].ExecuteTemplate(&b, "layout.html", p); err != nil {
		s.o.Log.Error("rendering a page", "page", v.name, "error", err)
		http.Error(w, "the page could not be rendered; the program's log has the reason", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the browser may be gone
}

// fail answers with the page of an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := &failure{http.StatusInternalServerError, err.Error()}
	switch {
	case errors.As(err, &f):
	case errors.Is(err, fs.ErrNotExist):
		f = &failure{http.StatusNotFound, err.Error()}
	default:
		s.o.Log.Error("making a page", "path", r.URL.Path, "error", err)
	}
	s.write(w, r, f.status, &view{name: "error", title: http.StatusText(f.status), data: f.text})
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, notFound("there is no page %s", r.URL.Path))
}
