package web

import (
	"io/fs"
	"net/http"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// noticePages are the acts on the addresses to which an account is told what happens.
func (s *site) noticePages() []api.Route {
	return []api.Route{
		{Method: "GET", Path: "/sw.js", Need: api.Anyone, Handle: serviceWorker},
		{Method: "POST", Path: "/me/notices", Need: api.Login, Limit: 30, Handle: s.changeNotices},
	}
}

// serviceWorker is the script that shows notices. It is at the root: its place bounds its pages.
func serviceWorker(c *api.Call) error {
	text, err := fs.ReadFile(files, "static/sw.js")
	if err != nil {
		return err
	}
	c.W.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	c.W.Header().Set("Cache-Control", "no-cache")
	_, _ = c.W.Write(text) // an error: the reader is gone
	return nil
}

// changeNotices adds, removes or tests addresses.
func (s *site) changeNotices(c *api.Call) error {
	if c.Notices == nil {
		return api.ErrNotFound
	}
	ctx := c.R.Context()
	var err error
	switch act := c.R.PostFormValue("act"); act {
	case "mail", "webhook":
		var made *api.Subscription
		made, err = c.Notices.Subscribe(ctx, c.Who, api.NewSubscription{Channel: act, Address: strings.TrimSpace(c.R.PostFormValue("address")), Kinds: c.R.PostForm["kinds"]})
		if err == nil && made.Secret != "" { // it is shown once
			return s.meWith(c, http.StatusOK, made.Secret, nil)
		}
	case "remove":
		err = c.Notices.Unsubscribe(ctx, c.Who, c.R.PostFormValue("subscription"))
	case "test":
		err = c.Notices.Test(ctx, c.Who)
	default:
		err = &api.BadRequestError{Text: "there is no such act"}
	}
	return s.meDone(c, err)
}
