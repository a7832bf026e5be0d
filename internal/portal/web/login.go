package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// loginPages are the ways in and out, and the page of an account.
func (s *site) loginPages() []api.Route {
	return []api.Route{
		{Method: "GET", Path: "/login", Need: api.Anyone, Handle: s.askSignIn},
		{Method: "POST", Path: "/login", Need: api.Anyone, Limit: 10, Handle: s.signIn},
		{Method: "POST", Path: "/login/password", Need: api.Anyone, Limit: 10, Handle: s.password},
		{Method: "POST", Path: "/login/create", Need: api.Anyone, Limit: 10, Handle: s.createAccount},
		{Method: "GET", Path: "/login/{provider}", Need: api.Anyone, Limit: 10, Handle: s.beginSignIn},
		{Method: "GET", Path: "/login/{provider}/back", Need: api.Anyone, Limit: 10, Handle: s.finishSignIn},
		{Method: "POST", Path: "/logout", Need: api.Login, Handle: s.signOut},
		{Method: "GET", Path: "/me", Need: api.Login, Handle: s.me},
		{Method: "POST", Path: "/me/password", Need: api.Login, Limit: 10, Handle: s.setPassword},
		{Method: "POST", Path: "/me/session", Need: api.Login, Limit: 60, Handle: s.endSession},
	}
}

// goal is where a login leads to: a path of this portal.
func goal(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\\r\n") {
		return "/"
	}
	return text
}

// askSignIn shows a button for a link's token: programs that look at links in mails and chats
// would use up a link that a GET takes.
func (s *site) askSignIn(c *api.Call) error {
	return s.signInWith(c, http.StatusOK, goal(c.R.URL.Query().Get("next")), nil)
}

// signInWith shows the ways in, with what was refused.
func (s *site) signInWith(c *api.Call, status int, next string, refused error) error {
	p := page{Title: "title.login", Token: c.R.URL.Query().Get("token"), Goal: next, Lang: languageOf(c)}
	p.words = s.words[p.Lang]
	if refused != nil {
		p.Error, p.Typed = p.Refusal(refused), c.R.PostForm
	}
	if c.Logins != nil {
		p.Providers = c.Logins.Providers()
		var err error
		if p.Taking, err = c.Logins.Taking(c.R.Context()); err != nil {
			return err
		}
	}
	p.Passwords = c.Logins != nil
	return s.render(c, status, "login", p)
}

// signIn takes the token of a login link.
func (s *site) signIn(c *api.Call) error {
	ok, err := c.SignIn(c.R.PostFormValue("token"))
	if err != nil {
		return err
	}
	if !ok {
		return s.signInWith(c, http.StatusBadRequest, "/", &api.RefusedError{Code: "link"})
	}
	http.Redirect(c.W, c.R, "/", http.StatusSeeOther)
	return nil
}

// entered leads a browser with a new session to where it was going.
func (s *site) entered(c *api.Call, cookie, next string, err error) error {
	var refused *api.RefusedError
	if errors.As(err, &refused) {
		status := http.StatusForbidden
		if refused.Wait > 0 {
			status = http.StatusTooManyRequests
		}
		return s.signInWith(c, status, next, err)
	}
	if err == nil {
		err = c.Enter(cookie)
	}
	if err != nil {
		return err
	}
	http.Redirect(c.W, c.R, next, http.StatusSeeOther)
	return nil
}

func (s *site) password(c *api.Call) error {
	if c.Logins == nil {
		return api.ErrNotFound
	}
	cookie, err := c.Logins.Password(c.R.Context(), c.R.PostFormValue("login"), c.R.PostFormValue("password"), c.R.PostFormValue("code"))
	return s.entered(c, cookie, goal(c.R.PostFormValue("next")), err)
}

func (s *site) createAccount(c *api.Call) error {
	if c.Logins == nil {
		return api.ErrNotFound
	}
	cookie, err := c.Logins.Create(c.R.Context(), c.R.PostFormValue("name"), c.R.PostFormValue("login"), c.R.PostFormValue("password"))
	return s.entered(c, cookie, goal(c.R.PostFormValue("next")), err)
}

// stateCookie binds a sign-in to the browser that began it.
const stateCookie = "sign-in"

// beginSignIn leads a browser to a provider. It is a GET: a policy of forms would hold the way
// to another server.
func (s *site) beginSignIn(c *api.Call) error {
	if c.Logins == nil {
		return api.ErrNotFound
	}
	address, state, err := c.Logins.Begin(c.R.Context(), c.R.PathValue("provider"), goal(c.R.URL.Query().Get("next")))
	if err != nil {
		return err
	}
	c.Keep(stateCookie, state, 600)
	http.Redirect(c.W, c.R, address, http.StatusSeeOther)
	return nil
}

func (s *site) finishSignIn(c *api.Call) error {
	if c.Logins == nil {
		return api.ErrNotFound
	}
	cookie, next, err := c.Logins.Finish(c.R.Context(), c.R.PathValue("provider"), c.Kept(stateCookie), c.R.URL.Query())
	c.Keep(stateCookie, "", -1)
	return s.entered(c, cookie, goal(next), err)
}

func (s *site) signOut(c *api.Call) error {
	if err := c.SignOut(); err != nil {
		return err
	}
	http.Redirect(c.W, c.R, "/", http.StatusSeeOther)
	return nil
}

// me is the page of an account.
func (s *site) me(c *api.Call) error { return s.meWith(c, http.StatusOK, "", nil) }

// meWith shows the page with a secret that was just made, or with what was refused.
func (s *site) meWith(c *api.Call, status int, secret string, refused error) (err error) {
	p := page{Title: "title.me", Lang: languageOf(c), Link: secret}
	p.words = s.words[p.Lang]
	if refused != nil {
		p.Error, p.Typed = p.Refusal(refused), c.R.PostForm
	}
	if c.Logins != nil {
		p.Passwords = true
		if p.Sessions, err = c.Logins.Sessions(c.R.Context(), c.Who, c.Cookie()); err != nil {
			return err
		}
		if c.Who.Role.Staff() || c.R.URL.Query().Get("authenticator") != "" || p.Was("secret", "") != "" {
			p.Secret = p.Was("secret", c.Logins.NewSecret())
		}
	}
	if c.Notices != nil {
		p.Notices, p.PushKey, p.Mails = true, c.Notices.Key(), c.Notices.Mails()
		if p.Subscriptions, err = c.Notices.Subscriptions(c.R.Context(), c.Who); err != nil {
			return err
		}
	}
	return s.render(c, status, "me", p)
}

func (s *site) setPassword(c *api.Call) error {
	if c.Logins == nil {
		return api.ErrNotFound
	}
	n := api.NewPassword{Login: c.R.PostFormValue("login"), Password: c.R.PostFormValue("password"), Code: c.R.PostFormValue("code")}
	if n.Code != "" {
		n.Secret = c.R.PostFormValue("secret")
	}
	return s.meDone(c, c.Logins.SetPassword(c.R.Context(), c.Who, c.Cookie(), n))
}

func (s *site) endSession(c *api.Call) error {
	if c.Logins == nil {
		return api.ErrNotFound
	}
	return s.meDone(c, c.Logins.EndSession(c.R.Context(), c.Who, c.R.PostFormValue("session")))
}

// meDone shows the page of the account after an act.
func (s *site) meDone(c *api.Call, err error) error {
	var refused *api.RefusedError
	switch {
	case errors.As(err, &refused):
		return s.meWith(c, http.StatusConflict, "", err)
	case err != nil:
		return err
	}
	http.Redirect(c.W, c.R, "/me", http.StatusSeeOther)
	return nil
}
