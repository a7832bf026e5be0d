package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

//go:embed templates static
var files embed.FS

// Pages are the routes of the pages.
func Pages() []api.Route {
	return []api.Route{
		{Method: "GET", Path: "/{$}", Need: api.Anyone, Handle: home},
		{Method: "GET", Path: "/login", Need: api.Anyone, Limit: 10, Handle: signIn},
		{Method: "POST", Path: "/logout", Need: api.Login, Handle: signOut},
		{Method: "GET", Path: "/r/{round}", Need: api.Anyone, Handle: showBoard},
		{Method: "GET", Path: "/r/{round}/team", Need: api.Playing, Handle: showTeam},
		{Method: "POST", Path: "/r/{round}/team/run", Need: api.Playing, Limit: 10, Handle: postRun},
		{Method: "GET", Path: "/r/{round}/jobs/{job}", Need: api.Login, Handle: showJob},
		{Method: "POST", Path: "/r/{round}/jobs/{job}/cancel", Need: api.Playing, Limit: 20, Handle: postCancel},
		{Method: "GET", Path: "/static/{file}", Need: api.Anyone, Handle: static},
	}
}

// A page is what a template gets.
type page struct {
	Title string
	Who   api.Who
	Form  string
	Round *api.Round
	Board *api.Board
	Team  *api.Team
	Jobs  []api.Job
	Job   *api.Job
	Queue *api.Queue
	Open  []api.Round
	Error string
}

var functions = template.FuncMap{
	"score": func(v float64) string { return fmt.Sprintf("%.0f", v) },
	"clock": func(t time.Time, zone string) string {
		if t.IsZero() {
			return ""
		}
		if at, err := time.LoadLocation(zone); err == nil {
			t = t.In(at)
		}
		return t.Format("15:04:05")
	},
	"percent": func(p *float64) string { return fmt.Sprintf("%.0f %%", 100**p) },
	"seconds": func(d time.Duration) string { return d.Round(time.Second).String() },
}

// render writes a page.
func render(c *api.Call, name string, p page) error {
	t, err := template.New("").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/"+name+".html")
	if err != nil {
		return fmt.Errorf("reading a template: %w", err)
	}
	p.Who, p.Form = c.Who, c.Form
	var text bytes.Buffer
	if err := t.ExecuteTemplate(&text, "layout", p); err != nil {
		return fmt.Errorf("making a page: %w", err)
	}
	c.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	if _, err := text.WriteTo(c.W); err != nil {
		return nil // the reader is gone
	}
	return nil
}

// Error writes the page of an error.
func Error(c *api.Call, status int, text string) {
	c.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.W.WriteHeader(status)
	// The status is written: an error of the page itself cannot be shown any more.
	_ = render(c, "error", page{Title: http.StatusText(status), Error: text})
}

func home(c *api.Call) error {
	rounds, err := c.Portal.Rounds(c.R.Context(), c.Who)
	if err != nil {
		return err
	}
	return render(c, "home", page{Title: "Rounds", Open: rounds})
}

// signIn takes the token of a login link. The answer is a redirect, so that the token stays in
// no history of the browser.
func signIn(c *api.Call) error {
	ok, err := c.SignIn(c.R.URL.Query().Get("token"))
	if err != nil {
		return err
	}
	if !ok {
		return &api.BadRequestError{Text: "this link was used already, or is not valid any more"}
	}
	http.Redirect(c.W, c.R, "/", http.StatusSeeOther)
	return nil
}

func signOut(c *api.Call) error {
	if err := c.SignOut(); err != nil {
		return err
	}
	http.Redirect(c.W, c.R, "/", http.StatusSeeOther)
	return nil
}

func showBoard(c *api.Call) error {
	round, err := c.Portal.Round(c.R.Context(), c.Who, c.R.PathValue("round"))
	if err != nil {
		return err
	}
	b, err := c.Portal.Board(c.R.Context(), c.Who, round.ID)
	if err != nil {
		return err
	}
	return render(c, "board", page{Title: round.Title.In("en"), Round: round, Board: b})
}

func showTeam(c *api.Call) error {
	ctx := c.R.Context()
	round, err := c.Portal.Round(ctx, c.Who, c.R.PathValue("round"))
	if err != nil {
		return err
	}
	p := page{Title: "Team", Round: round, Error: c.R.URL.Query().Get("refused")}
	if p.Team, err = c.Portal.Team(ctx, c.Who, round.ID, c.Who.Team); err != nil {
		return err
	}
	if p.Jobs, err = c.Portal.Jobs(ctx, c.Who, round.ID, c.Who.Team); err != nil {
		return err
	}
	if p.Queue, err = c.Portal.Queue(ctx, c.Who, round.ID); err != nil {
		return err
	}
	return render(c, "team", p)
}

func postRun(c *api.Call) error {
	round := c.R.PathValue("round")
	job, err := c.Portal.Enqueue(c.R.Context(), c.Who, api.Enqueue{Round: round, Host: c.R.PostFormValue("host"), Note: c.R.PostFormValue("note"), Key: c.R.PostFormValue("key")})
	to := "/r/" + url.PathEscape(round) + "/"
	if refused, ok := err.(*api.RefusedError); ok {
		to += "team?refused=" + url.QueryEscape(refused.Text)
	} else if err != nil {
		return err
	} else {
		to += "jobs/" + url.PathEscape(job.ID)
	}
	http.Redirect(c.W, c.R, to, http.StatusSeeOther)
	return nil
}

func showJob(c *api.Call) error {
	round, err := c.Portal.Round(c.R.Context(), c.Who, c.R.PathValue("round"))
	if err != nil {
		return err
	}
	job, err := c.Portal.Job(c.R.Context(), c.Who, c.R.PathValue("job"))
	if err != nil {
		return err
	}
	return render(c, "job", page{Title: fmt.Sprintf("Run %d", job.Number), Round: round, Job: job})
}

func postCancel(c *api.Call) error {
	job, err := c.Portal.Cancel(c.R.Context(), c.Who, c.R.PathValue("job"), "cancelled by the team")
	if err != nil {
		return err
	}
	http.Redirect(c.W, c.R, "/r/"+url.PathEscape(job.Round)+"/jobs/"+url.PathEscape(job.ID), http.StatusSeeOther)
	return nil
}

// static serves a file of the folder static.
func static(c *api.Call) error {
	name := path.Join("static", path.Base(c.R.PathValue("file")))
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return api.ErrNotFound
	}
	c.W.Header().Set("Cache-Control", "public, max-age=300")
	http.ServeContent(c.W, c.R, name, time.Time{}, bytes.NewReader(text))
	return nil
}
