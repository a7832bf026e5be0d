package api

import (
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// policy is the content security policy of every answer: styles, scripts, images and
// connections of this server only, no inline code, no frame.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// maxBody bounds a request; a worker's result and a host's profile may be larger.
const (
	maxBody       = 256 << 10
	maxWorkerBody = 16 << 20
	maxFleetBody  = 2 << 20
)

// guard checks the Host and the origin of each request, bounds its body, and sets the headers
// of each answer.
func (s *Server) guard(next http.Handler) http.Handler {
	inner := http.NewCrossOriginProtection().Handler(next) // refuses unsafe requests of other origins
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if s.o.TLS {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if !s.knownHost(r.Host) {
			http.Error(w, "this host name is not served", http.StatusMisdirectedRequest)
			return
		}
		limit := int64(maxBody)
		switch {
		case strings.HasPrefix(r.URL.Path, "/worker/"):
			limit = maxWorkerBody
		case strings.HasPrefix(r.URL.Path, "/fleet/"):
			limit = maxFleetBody
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		inner.ServeHTTP(w, r)
	})
}

// knownHost reports whether a Host header names this portal.
func (s *Server) knownHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if ip, err := netip.ParseAddr(name); err == nil && ip.IsLoopback() {
		return true
	}
	return strings.EqualFold(name, "localhost") || slices.ContainsFunc(s.o.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// cookieName is that of sessions. Browsers take a name with __Host- from https alone, and
// then for this host only.
func (s *Server) cookieName() string {
	if s.o.TLS {
		return "__Host-portal"
	}
	return "portal"
}

// SignIn opens a session with a login token; ok is false for one that is not valid.
func (c *Call) SignIn(token string) (ok bool, err error) {
	cookie, _, ok, err := c.server.o.Auth.Login(c.R.Context(), token)
	if err != nil || !ok {
		return false, err
	}
	return true, c.Enter(cookie)
}

// Enter gives the browser a new session. An earlier one of it ends.
func (c *Call) Enter(cookie string) error {
	if c.cookie != "" {
		if err := c.server.o.Auth.Logout(c.R.Context(), c.cookie); err != nil {
			return err
		}
	}
	c.setCookie(cookie, 12*3600)
	return nil
}

// SignOut ends the session.
func (c *Call) SignOut() error {
	if c.cookie == "" {
		return nil
	}
	c.setCookie("", -1)
	return c.server.o.Auth.Logout(c.R.Context(), c.cookie)
}

func (c *Call) setCookie(value string, age int) {
	http.SetCookie(c.W, &http.Cookie{Name: c.server.cookieName(), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: c.server.o.TLS, SameSite: http.SameSiteLaxMode})
}

// errForm is an unsafe request of a session without the token of its forms.
var errForm = errors.New("the form is not of this session: load the page again")

// checkForm holds unsafe requests of a session to the token of its forms, which is a field
// "form" or a header Portal-Form. Requests with a bearer token need none.
func (s *Server) checkForm(c *Call) error {
	if c.cookie == "" || c.R.Method == http.MethodGet || c.R.Method == http.MethodHead {
		return nil
	}
	got := c.R.Header.Get("Portal-Form")
	if got == "" && strings.HasPrefix(c.R.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		got = c.R.PostFormValue("form")
	}
	if subtle.ConstantTimeCompare([]byte(got), []byte(c.Form)) != 1 {
		return errForm
	}
	return nil
}

// addressOf is the address of a caller, without its port.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// A limiter counts requests by key in whole minutes.
type limiter struct {
	mu     sync.Mutex
	minute int64
	counts map[string]int
}

// allow counts a request.
func (l *limiter) allow(key string, most int, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := now.Unix() / 60; minute != l.minute {
		l.minute = minute
		clear(l.counts)
	}
	l.counts[key]++
	return l.counts[key] <= most
}

// Base is the address of the portal as the caller used it; its host was checked.
func (c *Call) Base() string {
	if c.server.o.TLS {
		return "https://" + c.R.Host
	}
	return "http://" + c.R.Host
}

// Cookie is the cookie of the caller's session.
func (c *Call) Cookie() string { return c.cookie }

// Keep gives the browser a value for some seconds, for this portal alone; Kept is the value.
func (c *Call) Keep(name, value string, seconds int) {
	http.SetCookie(c.W, &http.Cookie{Name: c.server.cookieName() + "-" + name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: c.server.o.TLS, SameSite: http.SameSiteLaxMode})
}

// Kept is the value of Keep; "" for none.
func (c *Call) Kept(name string) string {
	cookie, err := c.R.Cookie(c.server.cookieName() + "-" + name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// A counter counts open streams.
type counter struct {
	mu   sync.Mutex
	all  int
	each map[string]int // by account
}

// now is how many streams are open.
func (n *counter) now() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all
}

// enter counts a stream of an account, "" for none, until leave is called. ok is false if there
// are too many.
func (n *counter) enter(account string) (leave func(), ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all >= streamsOfAll || account != "" && n.each[account] >= streamsOfAccount {
		return nil, false
	}
	n.all++
	if account != "" {
		n.each[account]++
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.all--
		if account == "" {
			return
		}
		if n.each[account]--; n.each[account] == 0 {
			delete(n.each, account)
		}
	}, true
}
