package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
)

// An Auth knows who a caller is.
type Auth interface {
	Session(ctx context.Context, cookie string) (who Who, form string, ok bool, err error)
	Login(ctx context.Context, token string) (cookie, form string, ok bool, err error)
	Logout(ctx context.Context, cookie string) error
	// ByToken is the account of a token of a scope: run or worker.
	ByToken(ctx context.Context, scope, token string) (who Who, ok bool, err error)
}

// A WorkerCalls takes the calls of workers.
type WorkerCalls interface {
	Register(ctx context.Context, r Register) error
	Next(ctx context.Context, r Next) (*Assignment, error)
	Beat(ctx context.Context, b Beat) (BeatAnswer, error)
	Finish(ctx context.Context, f Finish) (FinishAnswer, error)
}

// A Need is what a route demands of its caller.
type Need string

const (
	Anyone  Need = "anyone"
	Login   Need = "login"   // any account
	Playing Need = "playing" // a member or leader of a team
	Leading Need = "leader"  // the leader of a team
	Staffed Need = "staff"   // any role of staff
	Desk    Need = "desk"    // support, organiser: who takes part
	Answers Need = "answers" // support, judge, organiser
	Judges  Need = "judges"  // judge, operator, organiser
	Chief   Need = "chief"   // organiser
	Machine Need = "worker"  // a worker's token, never a session
)

// Allows reports whether a caller has what a route demands. Machines are not accounts.
func (n Need) Allows(who Who) bool {
	switch n {
	case Anyone:
		return true
	case Login:
		return who.Account != ""
	case Playing:
		return who.Account != "" && who.Team != "" && (who.Role == Member || who.Role == Leader)
	case Leading:
		return Playing.Allows(who) && who.Role == Leader
	case Staffed:
		return who.Role.Staff()
	case Desk:
		return who.Role == Support || who.Role == Organiser
	case Answers:
		return who.Role == Support || who.Role == Judge || who.Role == Organiser
	case Judges:
		return who.Role == Judge || who.Role == Operator || who.Role == Organiser
	case Chief:
		return who.Role == Organiser
	}
	return false
}

// A Route is one line of the table. Limit is how many requests an account, or an address
// without a login, may make in a minute; 0 for no limit.
type Route struct {
	Method string
	Path   string
	Need   Need
	Limit  int
	Handle func(*Call) error
}

// A Call is one request with its caller.
type Call struct {
	W       http.ResponseWriter
	R       *http.Request
	Who     Who
	Form    string // the token that a form of this session has to send; "" without a session
	Portal  Portal
	People  People
	Logins  Logins
	Notices Notices
	server  *Server
	cookie  string
}

// Options are for NewServer.
type Options struct {
	Portal  Portal
	Auth    Auth
	Workers WorkerCalls
	People  People  // nil: teams are made by staff alone
	Logins  Logins  // nil: links are the only way in
	Notices Notices // nil: the pages alone tell what happens
	Monitor Monitor // nil: nothing watches the portal
	Pages   []Route // pages, beside the routes of this package
	// Error writes the page of an error; nil for plain text.
	Error func(c *Call, status int, text string)
	Hosts []string // names that the Host header may have beside loopback
	TLS   bool     // cookies are for https only
	Log   *slog.Logger
	Now   func() time.Time
}

// A Server serves a portal.
type Server struct {
	o       Options
	routes  []Route
	limits  limiter
	streams counter
}

// NewServer checks the table of routes: one without a need is a mistake of the program.
func NewServer(o Options) (*Server, error) {
	s := &Server{o: o, limits: limiter{counts: map[string]int{}}, streams: counter{each: map[string]int{}}}
	if s.o.Now == nil {
		s.o.Now = time.Now
	}
	s.routes = slices.Concat(s.apiRoutes(), s.besideRoutes(), s.peopleRoutes(), s.noticeRoutes(), s.workerRoutes(), s.monitorRoutes(), o.Pages)
	for _, r := range s.routes {
		if r.Need == "" || r.Method == "" || r.Handle == nil {
			return nil, fmt.Errorf("the route %s %s declares no need", r.Method, r.Path)
		}
	}
	return s, nil
}

// Routes is the table, for tests of all routes.
func (s *Server) Routes() []Route { return s.routes }

// Handler is the table behind the guard.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes {
		mux.HandleFunc(r.Method+" "+r.Path, func(w http.ResponseWriter, req *http.Request) { s.serve(r, w, req) })
	}
	return s.guard(mux)
}

// serve finds out who calls, holds the caller to the route's need and limit, and calls it.
func (s *Server) serve(r Route, w http.ResponseWriter, req *http.Request) {
	c := &Call{W: w, R: req, Portal: s.o.Portal, People: s.o.People, Logins: s.o.Logins, Notices: s.o.Notices, server: s}
	err := s.identify(c, r)
	if err == nil && r.Limit > 0 && !s.limits.allow(r.Path+" "+firstText(c.Who.Account, addressOf(req)), r.Limit, s.o.Now()) {
		err = &RefusedError{Code: "limit", Text: fmt.Sprintf("at most %d requests a minute", r.Limit), Wait: time.Minute}
	}
	if err == nil {
		err = r.Handle(c)
	}
	if err != nil {
		s.fail(c, err)
	}
}

// identify reads the session or the token, and compares it with the need.
func (s *Server) identify(c *Call, r Route) (err error) {
	c.Who = Who{Role: Spectator}
	ctx := c.R.Context()
	if bearer, ok := strings.CutPrefix(c.R.Header.Get("Authorization"), "Bearer "); ok {
		scope := "run"
		if r.Need == Machine {
			scope = "worker"
		}
		who, valid, err := s.o.Auth.ByToken(ctx, scope, bearer)
		if err != nil {
			return err
		}
		if !valid {
			return errLogin
		}
		if r.Need == Machine {
			return nil
		}
		c.Who = who
	} else if cookie, err := c.R.Cookie(s.cookieName()); err == nil && r.Need != Machine {
		who, form, valid, err := s.o.Auth.Session(ctx, cookie.Value)
		if err != nil {
			return err
		}
		if valid {
			c.Who, c.Form, c.cookie = who, form, cookie.Value
		}
	}
	if err := s.place(c); err != nil {
		return err
	}
	if !r.Need.Allows(c.Who) {
		if c.Who.Account == "" {
			return errLogin
		}
		return ErrForbidden
	}
	return s.checkForm(c)
}

// place makes the caller a member of its team in the contest that the path names.
func (s *Server) place(c *Call) error {
	if len(c.Who.Teams) == 0 {
		return nil
	}
	contest := c.R.PathValue("contest")
	if round := c.R.PathValue("round"); round != "" {
		contest, _, _ = strings.Cut(round, "_")
	}
	if job := c.R.PathValue("job"); contest == "" && job != "" && len(c.Who.Teams) > 1 && s.o.People != nil {
		var err error
		if contest, err = s.o.People.ContestOf(c.R.Context(), job); err != nil {
			return err
		}
	}
	if contest != "" {
		c.Who = c.Who.At(contest)
	}
	return nil
}

// errLogin is a request without a login where one is needed.
var errLogin = errors.New("log in first")

// statusOf is the status and the stable code of an error.
func statusOf(err error) (status int, code string) {
	var refused *RefusedError
	switch {
	case errors.Is(err, ErrNotFound):
		return http.StatusNotFound, "not-found"
	case errors.Is(err, ErrForbidden):
		return http.StatusForbidden, "forbidden"
	case errors.Is(err, errLogin):
		return http.StatusUnauthorized, "login"
	case errors.Is(err, errForm):
		return http.StatusForbidden, "form"
	case errors.As(err, &refused) && refused.Code == "limit":
		return http.StatusTooManyRequests, refused.Code
	case errors.As(err, &refused):
		return http.StatusConflict, refused.Code
	case errors.As(err, new(*BadRequestError)):
		return http.StatusBadRequest, "bad-request"
	case errors.Is(err, context.Canceled):
		return 499, "canceled"
	}
	return http.StatusServiceUnavailable, "unavailable"
}

// A BadRequestError is a request that cannot be read.
type BadRequestError struct{ Text string }

func (e *BadRequestError) Error() string { return e.Text }

// A problem is an error as JSON (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Job    string `json:"job,omitempty"`
}

// fail writes an error. The text of an unexpected one goes to the log only.
func (s *Server) fail(c *Call, err error) {
	status, code := statusOf(err)
	text := err.Error()
	if status == 499 {
		return
	}
	if status == http.StatusServiceUnavailable {
		s.o.Log.Error("a request failed", "path", c.R.URL.Path, "error", err)
		text = "the portal cannot do this now; try again in a moment"
		c.W.Header().Set("Retry-After", "5")
	}
	p := problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: text}
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		p.Job = refused.Job
		if refused.Wait > 0 {
			c.W.Header().Set("Retry-After", fmt.Sprint(int(refused.Wait.Seconds())+1))
		}
	}
	if s.o.Error != nil && !strings.HasPrefix(c.R.URL.Path, "/api/") && !strings.HasPrefix(c.R.URL.Path, "/worker/") && !strings.HasPrefix(c.R.URL.Path, "/fleet/") {
		s.o.Error(c, status, text)
		return
	}
	c.W.Header().Set("Content-Type", "application/problem+json")
	c.W.WriteHeader(status)
	if err := json.NewEncoder(c.W).Encode(p); err != nil {
		s.o.Log.Debug("writing an error", "error", err) // the caller is gone
	}
}

// JSON writes an answer.
func (c *Call) JSON(v any) error {
	c.W.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(c.W).Encode(v); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// Read reads a JSON body.
func (c *Call) Read(into any) error {
	d := json.NewDecoder(c.R.Body)
	if err := d.Decode(into); err != nil {
		return &BadRequestError{"reading the body: " + err.Error()}
	}
	return nil
}

func firstText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
