package main

import (
	"fmt"
	"html/template"
	"log"
	"net/http"
	"path/filepath"
	"strings"
	text "text/template"
)

// Handlers that parse their templates for each page.

func page(names ...string) string { return filepath.Join(append([]string{"pages"}, names...)...) }

// render parses the page whose name it is given, with functions of its own.
//
// Fires: APP206
func render(w http.ResponseWriter, name string, data interface{}) {
	funcs := template.FuncMap{
		"loud": func(s string) string { return strings.ToUpper(s) },
	}
	t := template.Must(template.New("frame.html").Funcs(funcs).ParseFiles(page("frame.html"), page(name)))
	if err := t.Execute(w, data); err != nil {
		log.Print(err)
	}
}

// shown parses one file and answers on an error.
//
// Fires: APP206
func shown(w http.ResponseWriter, r *http.Request, name string) {
	t, err := template.ParseFiles("pages/" + name + ".html")
	if err != nil {
		http.NotFound(w, r)
		return
	}
	_ = t.Execute(w, r.FormValue("from"))
}

// listed has its files in a slice.
//
// Fires: APP206
func listed(w http.ResponseWriter, part string, data interface{}) error {
	files := []string{
		page("frame.html"),
		page(part),
	}
	t, err := template.New("frame.html").Funcs(template.FuncMap{"loud": strings.ToLower}).ParseFiles(files...)
	if err != nil {
		return err
	}
	return t.ExecuteTemplate(w, "frame.html", data)
}

// paired depends on two texts.
//
// Fires: APP206
func paired(w http.ResponseWriter, kind, name string) {
	text.Must(text.New(name).Parse(fmt.Sprintf("%s: {{.}} of %s\n", kind, name))).Execute(w, 3)
}

// plain depends on nothing but its functions.
//
// Fires: APP206
func plain(w http.ResponseWriter, data interface{}) {
	joined := func(list []string) string { return strings.Join(list, "+") }
	t := text.Must(text.New("plain").Funcs(text.FuncMap{"joined": joined}).Parse("<{{joined .}}>"))
	_ = t.Execute(w, data)
}

// chosen computes the name of its file.
//
// Fires: APP206
func chosen(w http.ResponseWriter, r *http.Request) {
	name := "one.html"
	if r.FormValue("from") != "" {
		name = "two.html"
	}
	t := template.Must(template.New("frame.html").Funcs(template.FuncMap{"loud": strings.ToUpper}).ParseFiles(page("frame.html"), page(name)))
	_ = t.Execute(w, name)
}

// greeting has a function of the request.
//
// Lookalike: APP206
func greeting(w http.ResponseWriter, r *http.Request) {
	who := r.FormValue("from")
	t := template.Must(template.New("g").Funcs(template.FuncMap{"who": func() string { return who }}).Parse("hello {{who}}"))
	_ = t.Execute(w, nil)
}

func views(w http.ResponseWriter, r *http.Request) {
	switch from := r.FormValue("from"); r.FormValue("view") {
	case "render":
		render(w, "one.html", from)
		render(w, "two.html", from)
	case "shown":
		shown(w, r, from)
	case "listed":
		if err := listed(w, from, "x"); err != nil {
			fail(w, err)
		}
	case "paired":
		paired(w, "kind", from)
		paired(w, from, "kind")
	case "plain":
		plain(w, []string{from, "b"})
	case "chosen":
		chosen(w, r)
	default:
		greeting(w, r)
	}
}
