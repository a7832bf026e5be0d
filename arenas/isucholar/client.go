package isucholar

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	requestTimeout    = 5 * time.Second
	initializeTimeout = 20 * time.Second

	userAgent = "iikanji-browser/1"
	jsonType  = "application/json"
)

// An agent is a browser of one user.
type agent struct {
	ct   *contest
	user User
	cl   scenario.Client
}

// browser opens a browser. The user has not logged in.
func (ct *contest) browser(u User) *agent {
	return &agent{ct: ct, user: u, cl: ct.s.NewClient(scenario.ClientOptions{Cache: true, Gzip: true,
		UserAgent: userAgent})}
}

func (a *agent) close() { a.cl.Close() }

// do sends a request. check finds out whether its answer is right.
func (a *agent) do(ctx context.Context, r *scenario.Request, check func(res *scenario.Response) error) error {
	res, err := a.cl.Do(ctx, r)
	if err != nil {
		return err
	}
	defer res.Release()
	return check(res)
}

func (a *agent) get(ctx context.Context, step scenario.Step, path string,
	check func(res *scenario.Response) error) error {
	return a.do(ctx, &scenario.Request{Step: step, Path: path}, check)
}

// request makes a request with a JSON body.
func request(step scenario.Step, method, path string, body any) *scenario.Request {
	text, err := json.Marshal(body)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return &scenario.Request{Step: step, Method: method, Path: path, ContentType: jsonType, Body: text}
}

// send sends JSON. The answer must have a status.
func (a *agent) send(ctx context.Context, step scenario.Step, method, path string, body any, status int) error {
	return a.do(ctx, request(step, method, path, body), wantStatus(status))
}

func wantStatus(status int) func(res *scenario.Response) error {
	return func(res *scenario.Response) error { return scenario.WantStatus(res, status) }
}

// wrong is a failed check of an answer that is not kept.
func wrong(step scenario.Step, check, format string, args ...any) error {
	f := scenario.Wrong(nil, check, format, args...)
	f.Step = step
	return f
}

// initialize calls POST /initialize.
func (ct *contest) initialize(ctx context.Context) error {
	a := ct.browser(User{})
	defer a.close()
	r := &scenario.Request{Step: stepInitialize, Method: http.MethodPost, Path: "/initialize", Timeout: initializeTimeout}
	return a.do(ctx, r, func(res *scenario.Response) error {
		var v struct{ Language string }
		if err := scenario.WantJSON(res, http.StatusOK, &v); err != nil {
			return err
		}
		if v.Language == "" {
			return scenario.Wrong(res, "initialize-language", "no language")
		}
		ct.s.Say("initialized, an app in %.20s", v.Language)
		return nil
	})
}

// login logs in and checks who that is.
func (a *agent) login(ctx context.Context) error {
	if err := a.send(ctx, stepLogin, http.MethodPost, "/login", map[string]string{"code": a.user.Code,
		"password": a.user.Password}, http.StatusOK); err != nil {
		return err
	}
	return a.me(ctx)
}

// me checks GET /api/users/me.
func (a *agent) me(ctx context.Context) error {
	return a.get(ctx, stepMe, "/api/users/me", func(res *scenario.Response) error {
		var v struct {
			Code, Name string
			IsAdmin    *bool `json:"is_admin"`
		}
		if err := scenario.WantJSON(res, http.StatusOK, &v); err != nil {
			return err
		}
		if v.Code != a.user.Code || v.Name != a.user.Name || v.IsAdmin == nil || *v.IsAdmin != a.user.teaches() {
			return scenario.Wrong(res, "me", "want user %s (%s)", a.user.Code, a.user.Name)
		}
		return nil
	})
}

// teaches reports whether the user is a teacher.
func (u User) teaches() bool { return u.Code != "" && u.Code[0] == 'T' }
