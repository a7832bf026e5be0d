package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	anonymous    = "名無しさん"
	previewLines = 8
)

// A shownArticle is an article as pages show it.
type shownArticle struct {
	ID      int
	Title   string
	Lines   []string
	Created string
}

// A shownComment is a comment as the page of its article shows it.
type shownComment struct {
	Name, Created string
	Lines         []string
}

// A page is the data of all templates.
type page struct {
	Sidebar  []link
	Articles []shownArticle
	Comments []shownComment
}

func created(t time.Time) string { return t.Format(time.DateTime) }

// lines splits a text. Browsers send line breaks of forms as CR LF.
func lines(text string) []string {
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

func show(a article) shownArticle {
	return shownArticle{a.ID, a.Title, lines(a.Body), created(a.CreatedAt)}
}

// render adds the sidebar and sends a page.
func (a *app) render(c echo.Context, name string, p page) error {
	sidebar, err := a.recentlyCommented(c.Request().Context())
	if err != nil {
		return fmt.Errorf("reading the sidebar: %w", err)
	}
	p.Sidebar = sidebar
	t, err := template.ParseFiles("templates/base.html", "templates/"+name+".html")
	if err != nil {
		return fmt.Errorf("reading the template: %w", err)
	}
	var html bytes.Buffer
	if err := t.ExecuteTemplate(&html, "base.html", p); err != nil {
		return fmt.Errorf("filling the template: %w", err)
	}
	return c.HTML(http.StatusOK, html.String())
}

func (a *app) getIndex(c echo.Context) error {
	articles, err := a.newestArticles(c.Request().Context())
	if err != nil {
		return fmt.Errorf("reading the newest articles: %w", err)
	}
	var p page
	for _, one := range articles {
		shown := show(one)
		shown.Lines = shown.Lines[:min(len(shown.Lines), previewLines)]
		p.Articles = append(p.Articles, shown)
	}
	return a.render(c, "index", p)
}

func (a *app) getArticle(c echo.Context) error {
	ctx := c.Request().Context()
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		return echo.ErrNotFound
	}
	one, err := a.article(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return echo.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("reading the article: %w", err)
	}
	comments, err := a.comments(ctx, id)
	if err != nil {
		return fmt.Errorf("reading the comments: %w", err)
	}
	p := page{Articles: []shownArticle{show(one)}}
	for _, k := range comments {
		shown := shownComment{Name: k.Name.String, Created: created(k.CreatedAt), Lines: lines(k.Body)}
		if shown.Name == "" {
			shown.Name = anonymous
		}
		p.Comments = append(p.Comments, shown)
	}
	return a.render(c, "article", p)
}

func (a *app) getPost(c echo.Context) error { return a.render(c, "post", page{}) }

func (a *app) postArticle(c echo.Context) error {
	if err := a.addArticle(c.Request().Context(), c.FormValue("title"), c.FormValue("body")); err != nil {
		return fmt.Errorf("storing the article: %w", err)
	}
	return c.Redirect(http.StatusFound, "/")
}

func (a *app) postComment(c echo.Context) error {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil {
		return echo.ErrNotFound
	}
	if err := a.addComment(c.Request().Context(), id, c.FormValue("name"), c.FormValue("body")); err != nil {
		return fmt.Errorf("storing the comment: %w", err)
	}
	return c.Redirect(http.StatusFound, fmt.Sprintf("/article/%d", id))
}
