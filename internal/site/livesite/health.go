package livesite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Limits of the time until a service answers.
const (
	serviceWait = time.Minute
	oneAsk      = 2 * time.Second
	onePage     = 30 * time.Second // a page of a slow site
)

func waitOf(s *target.Service) time.Duration {
	return cmp.Or(process.EngineOf(s.Engine).StartWait, serviceWait)
}

// A NotReadyError is a service that does not answer in time.
type NotReadyError struct {
	Service string
	Waited  time.Duration
	Last    error
	Log     string // file to look into, "" if unknown
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("service %s does not answer after %v: %v", e.Service, e.Waited, e.Last)
}

func (e *NotReadyError) Unwrap() error { return e.Last }

// Hints tells where to look.
func (e *NotReadyError) Hints() []string {
	if e.Log == "" {
		return nil
	}
	return []string{"its log is " + e.Log}
}

// Ask asks a service once whether it answers.
func (s *Subject) Ask(ctx context.Context, service *target.Service) error {
	h, limit := service.Check(), oneAsk
	if h.URL != "" {
		limit = onePage
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ready := s.ready(service, h)
	ready.Dial = s.hosts[service.Host].Dial
	return ready.Once(ctx)
}

// ready is the question of a service's health.
func (s *Subject) ready(service *target.Service, h target.Health) process.Ready {
	switch {
	case h.URL != "":
		return process.Ready{URL: h.URL, Below: http.StatusInternalServerError}
	case h.TCP != "":
		return process.Ready{Network: "tcp", Address: h.TCP}
	case h.Unix != "":
		return process.Ready{Network: "unix", Address: h.Unix}
	case h.SQL:
		return process.Ready{Ask: func(ctx context.Context) error { return s.selectOne(ctx, service) }}
	}
	return process.Ready{}
}

// AskSite asks once whether the site answers at its URL. Where a service of the site
// listens at the URL's port, it is asked there: the name of a site need not lead to this
// machine.
func (s *Subject) AskSite(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, onePage)
	defer cancel()
	on, address := s.frontAddress()
	status, err := process.PageOver(ctx, on.Dial, s.URL(), "tcp", address)
	if rest, plain := strings.CutPrefix(s.URL(), "http://"); err == nil && plain && status == http.StatusBadRequest {
		if tls, err := process.PageOver(ctx, on.Dial, "https://"+rest, "tcp", address); err == nil && tls != http.StatusBadRequest {
			return &OverTLSError{"https://" + rest}
		}
	}
	if err == nil && status >= http.StatusInternalServerError {
		err = fmt.Errorf("%s: %d %s", s.URL(), status, http.StatusText(status))
	}
	return err
}

// An OverTLSError is a site whose URL has the scheme http, and which answers over TLS.
type OverTLSError struct{ URL string }

func (e *OverTLSError) Error() string {
	return "the site answers over TLS only, and its URL has the scheme http"
}

// Hints tells what to write.
func (e *OverTLSError) Hints() []string { return []string{fmt.Sprintf("write url = %q", e.URL)} }

// frontAddress is the machine, and the address there, at which the service that listens at
// the port of the site's URL can be reached; this machine and "" if none of the services
// does. Of several, the web server is meant.
func (s *Subject) frontAddress() (on host.Host, address string) {
	on = s.hosts[""]
	u, err := url.Parse(s.URL())
	if err != nil {
		return on, ""
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	web := false
	for i := range s.File().Services {
		service := &s.File().Services[i]
		if _, p, err := net.SplitHostPort(service.Listen); err != nil || p != port || web {
			continue
		}
		if web = service.Role == iikanji.RoleWeb; web || address == "" {
			on, address = s.hosts[service.Host], target.Reachable(service.Listen)
		}
	}
	return on, address
}

func (s *Subject) selectOne(ctx context.Context, service *target.Service) error {
	login, err := s.login(service)
	if err != nil {
		return err
	}
	login.Schema = ""
	return process.SelectOneOn(ctx, s.hosts[service.Host], login)
}

// await asks until the service answers, its process ends or the time is over.
func (s *Subject) await(ctx context.Context, r *running) error {
	began := time.Now()
	err := process.Await(ctx, waitOf(r.Service), onePage, nil, func(ctx context.Context) error {
		last := s.Ask(ctx, r.Service)
		if last == nil {
			last = s.refind(r)
		}
		if why, ended := r.ended(); last != nil && ended {
			why := fmt.Errorf("%w: %s", process.ErrEnded, why)
			return process.Final(&NotReadyError{r.Name, time.Since(began).Round(time.Millisecond), why, r.Logs.Output})
		}
		return last
	})
	var slow *process.SlowError
	switch {
	case errors.As(err, &slow):
		return &NotReadyError{r.Name, slow.Waited, slow.Last, r.Logs.Output}
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("waiting for service %s: %w", r.Name, err)
	}
	return err
}

// ended reports how a process that iikanji started has ended. A daemon's first
// process ends with status 0 while the daemon goes on.
func (r *running) ended() (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.child == nil {
		return "", false
	}
	select {
	case <-r.child.Done:
		child := r.child
		r.child = nil
		return child.Status, !child.OK
	default:
		return "", false
	}
}
