package ui

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// policy is the content security policy of every answer: styles, scripts and
// updates of this server only, no inline code, no frame.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard checks the Host and the origin of each request, and sets the headers of
// each answer.
func (s *Server) guard(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection() // refuses unsafe requests of other origins
	inner := origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.knownHost(r.Host) { // a name that another site points at this address
			http.Error(w, "this host name is not served: use --host to allow it", http.StatusMisdirectedRequest)
			return
		}
		if from := r.Header.Get("Origin"); from != "" && from != "http://"+r.Host && from != "https://"+r.Host {
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		open := r.URL.Path == "/session" || r.URL.Path == "/actions" || strings.HasPrefix(r.URL.Path, "/static/")
		if s.o.Private && !open && s.sessions.of(r) == nil {
			http.Redirect(w, r, "/actions", http.StatusSeeOther)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// maxForm bounds the body of a form.
const maxForm = 64 << 10

// knownHost reports whether a Host header names this machine by a loopback address
// or by an allowed name.
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

// A session is a browser that gave the token.
type session struct {
	form  string // token of its forms
	since time.Time
}

// sessions are the open sessions, by the digest of their cookie.
type sessions struct {
	mu    sync.Mutex
	token string
	open  map[string]*session
}

const (
	cookieName  = "iikanji"
	maxSessions = 100
)

func newSessions(token string) *sessions {
	return &sessions{token: token, open: map[string]*session{}}
}

// secret is 256 random bits.
func secret() string { return rand.Text() + rand.Text() }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func same(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(digest(a)), []byte(digest(b))) == 1
}

// of returns the session of a request, nil for none.
func (s *sessions) of(r *http.Request) *session {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[digest(c.Value)]
}

// begin opens a session if the token is right, and sets its cookie.
func (s *sessions) begin(w http.ResponseWriter, token string, now time.Time) bool {
	if !same(s.token, token) {
		return false
	}
	value := secret()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxSessions {
		clear(s.open)
	}
	s.open[digest(value)] = &session{form: secret(), since: now}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return true
}

// end closes the session of a request.
func (s *sessions) end(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(cookieName); err == nil {
		s.mu.Lock()
		delete(s.open, digest(c.Value))
		s.mu.Unlock()
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// act wraps an action: it needs a session, and the form token of that session.
func (s *Server) act(do func(http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		session := s.sessions.of(r)
		if session == nil {
			http.Error(w, "give the token first, on the page Actions", http.StatusForbidden)
			return
		}
		if !same(session.form, r.PostFormValue("form")) {
			http.Error(w, "the form is not of this session: load the page again", http.StatusForbidden)
			return
		}
		do(w, r)
	}
}

// signIn takes the token.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	if !s.sessions.begin(w, strings.TrimSpace(r.PostFormValue("token")), s.o.Now()) {
		time.Sleep(tokenDelay)
		http.Redirect(w, r, "/actions?wrong=1", http.StatusSeeOther)
		return
	}
	http.Redirect(w, r, "/actions", http.StatusSeeOther)
}

// tokenDelay slows down guessing. The token itself is too long to be guessed.
const tokenDelay = 200 * time.Millisecond

func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	s.sessions.end(w, r)
	http.Redirect(w, r, "/actions", http.StatusSeeOther)
}
