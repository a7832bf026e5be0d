package isuports

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	requestTimeout    = 30 * time.Second
	adminTimeout      = 60 * time.Second // of the walks over the admin's billing
	initializeTimeout = 30 * time.Second

	agent    = "iikanji-browser/1"
	formType = "application/x-www-form-urlencoded"
)

// An account is one browser with one session.
type account struct {
	ct *contest
	cl scenario.Client
}

// browser opens a browser of a host. With an empty token it has no session, with
// timeout 0 the timeout of every request.
func (ct *contest) browser(tenant, token string, timeout time.Duration) *account {
	cl := ct.s.NewClient(scenario.ClientOptions{Host: tenant + "." + ct.domain, Gzip: true, Timeout: timeout, UserAgent: agent})
	if token != "" {
		cl.SetCookie(sessionCookie, token)
	}
	return &account{ct: ct, cl: cl}
}

// close closes the browser.
func (a *account) close() { a.cl.Close() }

// An admin, an organizer and a guest are accounts; each has the requests of its
// role. A guest is a player who has logged in.
type (
	admin     struct{ *account }
	organizer struct {
		*account
		tenant *tenant
	}
	guest struct {
		*account
		player *player
	}
)

// admin logs in as the admin.
func (ct *contest) admin(timeout time.Duration) (admin, error) {
	token, err := claimsOf(roleAdmin, roleAdmin, adminTenant, time.Now()).signed(ct.key)
	if err != nil {
		return admin{}, err
	}
	return admin{ct.browser(adminTenant, token, timeout)}, nil
}

// organizer logs in as the organizer of a tenant.
func (ct *contest) organizer(t *tenant) (organizer, error) {
	token, err := claimsOf(roleOrganizer, roleOrganizer, t.name, time.Now()).signed(ct.key)
	if err != nil {
		return organizer{}, err
	}
	return organizer{ct.browser(t.name, token, 0), t}, nil
}

// guest logs in as a player. The token of a player is signed once.
func (ct *contest) guest(p *player) (guest, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == "" {
		token, err := claimsOf(rolePlayer, p.id, p.tenant.name, time.Now()).signed(ct.key)
		if err != nil {
			return guest{}, err
		}
		p.token = token
	}
	return guest{ct.browser(p.tenant.name, p.token, 0), p}, nil
}

// do sends a request and counts it if check finds its answer right. A fault costs
// what its step costs.
func (a *account) do(ctx context.Context, r *scenario.Request, check func(res *scenario.Response) error) error {
	res, err := a.cl.Do(ctx, r)
	if err == nil {
		err = check(res)
		res.Release()
	}
	if err != nil {
		return weigh(err, cost(r.Step))
	}
	if r.Step < scoringSteps {
		a.ct.s.Add(scenario.Event(r.Step), 1)
	}
	return nil
}

func (a *account) get(ctx context.Context, step scenario.Step, path string, check func(res *scenario.Response) error) error {
	return a.do(ctx, &scenario.Request{Step: step, Path: path}, check)
}

// post sends a form.
func (a *account) post(ctx context.Context, step scenario.Step, path string, form url.Values, check func(res *scenario.Response) error) error {
	return a.do(ctx, &scenario.Request{Step: step, Method: http.MethodPost, Path: path, ContentType: formType,
		Body: []byte(form.Encode())}, check)
}

// refused sends a request that must be refused. A refusal as expected is a
// success.
func (a *account) refused(ctx context.Context, r *scenario.Request, check string, status int) error {
	return a.do(ctx, r, func(res *scenario.Response) error { return checkRefusal(res, check, status) })
}

// maxDelay limits how long a target may have the benchmarker wait with 429.
const maxDelay = 30 * time.Second

// A busyError is a request that the target puts off.
type busyError struct{ after time.Duration }

func (busyError) Error() string { return "the target refuses growth for now" }

// growing sends a request that makes the load grow. The target may put it off with
// status 429 and Retry-After, without penalty.
func (a *account) growing(ctx context.Context, step scenario.Step, path string, form url.Values, check func(res *scenario.Response) error) error {
	for {
		err := a.post(ctx, step, path, form, func(res *scenario.Response) error {
			if d, ok := retryAfter(res, time.Now()); ok {
				return busyError{d}
			}
			return check(res)
		})
		var busy busyError
		if !errors.As(err, &busy) {
			return err
		}
		a.ct.putOff.Add(1)
		if !scenario.Sleep(ctx, busy.after) {
			return &scenario.Fault{Kind: iikanji.FaultCut, Step: step, Message: "the phase ended while the target refused growth"}
		}
	}
}

// retryAfter reads the header of an answer with status 429.
func retryAfter(res *scenario.Response, now time.Time) (time.Duration, bool) {
	text := res.Get("retry-after")
	if res.Status != http.StatusTooManyRequests || text == "" {
		return 0, false
	}
	d, err := time.ParseDuration(text + "s")
	if err != nil {
		at, err := http.ParseTime(text)
		if err != nil {
			return 0, false
		}
		d = at.Sub(now)
	}
	return min(max(d, 0), maxDelay), true
}
