package isuxi

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	userAgent = "iikanji-isuxi/1"
	formType  = "application/x-www-form-urlencoded"
)

// A user is a user of the set with its browser. Several threads of the load may use it at
// once, and log it out meanwhile, as in the contest.
type user struct {
	ct *contest
	member
	cl scenario.Client
}

// profilePath and the others are the addresses of the user's pages.
func (m *member) profilePath() string { return "/profile/" + m.Account }
func (m *member) entriesPath() string { return "/diary/entries/" + m.Account }

// do sends a request. check finds out whether its answer is right.
func (u *user) do(ctx context.Context, r *scenario.Request, check func(res *scenario.Response) error) error {
	start := time.Now()
	res, err := u.cl.Do(ctx, r)
	defer res.Release()
	if u.ct.poll > 0 && err == nil {
		// The contest's clients look for their answer every few milliseconds.
		scenario.Sleep(ctx, u.ct.poll-time.Since(start)%u.ct.poll)
	}
	if err := u.ct.count(res, err); err != nil {
		return err
	}
	return check(res)
}

func (u *user) get(ctx context.Context, step scenario.Step, path string, check func(res *scenario.Response) error) error {
	return u.do(ctx, &scenario.Request{Step: step, Path: path}, check)
}

// post sends a form.
func (u *user) post(ctx context.Context, step scenario.Step, path string, form url.Values, check func(res *scenario.Response) error) error {
	return u.do(ctx, &scenario.Request{Step: step, Method: http.MethodPost, Path: path, ContentType: formType,
		Body: []byte(form.Encode())}, check)
}

// want checks a status. The fault has the name of a check.
func want(check string, status int) func(res *scenario.Response) error {
	return func(res *scenario.Response) error {
		if res.Status != status {
			return scenario.Wrong(res, check, "status %d, want %d", res.Status, status)
		}
		return nil
	}
}

// wantRedirect checks that an answer leads to a path.
func wantRedirect(path string) func(res *scenario.Response) error {
	return func(res *scenario.Response) error {
		if res.Status != http.StatusFound && res.Status != http.StatusSeeOther && res.Status != http.StatusTemporaryRedirect {
			return scenario.Wrong(res, "redirect-status", "status %d, want 302, 303 or 307", res.Status)
		}
		to := res.Get("location")
		if u, err := url.Parse(to); err == nil && u.Path != "" {
			to = u.Path
		}
		if to != path {
			return scenario.Wrong(res, "redirect-path", "a redirect to %.100q, want %s", res.Get("location"), path)
		}
		return nil
	}
}

// isRedirect checks that an answer is a redirect to anywhere.
func isRedirect(res *scenario.Response) error {
	if res.Status/100 != 3 {
		return scenario.Wrong(res, "redirect-status", "status %d, want a redirect", res.Status)
	}
	return nil
}

func ignore(*scenario.Response) error { return nil }

// login fills in and sends the form.
func (u *user) login(ctx context.Context, check func(res *scenario.Response) error) error {
	return u.post(ctx, stepPostLogin, "/login", url.Values{"email": {u.Email}, "password": {u.Account}}, check)
}

// arrive looks at the form and logs in.
func (u *user) arrive(ctx context.Context) error {
	if err := u.get(ctx, stepLogin, "/login", want("login-form", http.StatusOK)); err != nil {
		return err
	}
	return u.login(ctx, wantRedirect("/"))
}

// comment posts a comment on the entry with a path.
func (u *user) comment(ctx context.Context, entry, text string, check func(res *scenario.Response) error) error {
	path := strings.Replace(entry, "/diary/entry/", "/diary/comment/", 1)
	return u.post(ctx, stepPostComment, path, url.Values{"comment": {text}}, check)
}

// write posts an entry.
func (u *user) write(ctx context.Context, title, content string, private bool, check func(res *scenario.Response) error) error {
	form := url.Values{"title": {title}, "content": {content}}
	if private {
		form.Set("private", "checked")
	}
	return u.post(ctx, stepPostEntry, "/diary/entry", form, check)
}

// befriend makes the user a friend of another one.
func (u *user) befriend(ctx context.Context, other *user, check func(res *scenario.Response) error) error {
	return u.post(ctx, stepPostFriend, "/friends/"+other.Account, nil, check)
}

// inTime is an error for a write that took too long.
func inTime(check func(res *scenario.Response) error) func(res *scenario.Response) error {
	return func(res *scenario.Response) error {
		if err := check(res); err != nil {
			return err
		}
		if res.Took > slowWrite {
			return &scenario.Fault{Kind: iikanji.FaultTimeout, Step: res.Step, Check: slow, Weight: weightSlow, Example: scenario.ExampleOf(res),
				Message: "a write took longer than " + slowWrite.String()}
		}
		return nil
	}
}
