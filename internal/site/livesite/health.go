package livesite

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Limits of the time until a service answers. A database that was killed first
// recovers from its log.
const (
	databaseWait = 3 * time.Minute
	serviceWait  = time.Minute
	oneAsk       = 2 * time.Second
	onePage      = 30 * time.Second // a page of a slow site
)

func waitOf(s *target.Service) time.Duration {
	if s.Engine.MySQLFamily() {
		return databaseWait
	}
	return serviceWait
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
	switch {
	case h.URL != "":
		_, err := get(ctx, h.URL, "")
		return err
	case h.TCP != "":
		return dial(ctx, s.host, "tcp", h.TCP)
	case h.Unix != "":
		return dial(ctx, s.host, "unix", h.Unix)
	case h.SQL:
		return s.selectOne(ctx, service)
	}
	return nil
}

func dial(ctx context.Context, h host.Host, network, address string) error {
	conn, err := h.Dial(ctx, network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// AskSite asks once whether the site answers at its URL. Where a service of the site
// listens at the URL's port, it is asked there: the name of a site need not lead to this
// machine.
func (s *Subject) AskSite(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, onePage)
	defer cancel()
	address := s.frontAddress()
	status, err := get(ctx, s.URL(), address)
	if rest, plain := strings.CutPrefix(s.URL(), "http://"); err == nil && plain && status == http.StatusBadRequest {
		if tls, err := get(ctx, "https://"+rest, address); err == nil && tls != http.StatusBadRequest {
			return &OverTLSError{"https://" + rest}
		}
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

// frontAddress is where the service that listens at the port of the site's URL can be
// reached; "" if none of the services does.
func (s *Subject) frontAddress() string {
	u, err := url.Parse(s.URL())
	if err != nil {
		return ""
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	for i := range s.options.File.Services {
		if listen := s.options.File.Services[i].Listen; listen != "" {
			if _, p, err := net.SplitHostPort(listen); err == nil && p == port {
				return target.Reachable(listen)
			}
		}
	}
	return ""
}

// get expects an answer below 500, and returns its status. The certificate of a site is not
// checked: what counts is whether it answers. The connection goes to an address, unless
// it is "".
func get(ctx context.Context, url, address string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	t := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // also ignores the environment's proxy
	if address != "" {
		t.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
	}
	res, err := t.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusInternalServerError {
		return res.StatusCode, fmt.Errorf("%s: %s", url, res.Status)
	}
	return res.StatusCode, nil
}

func (s *Subject) selectOne(ctx context.Context, service *target.Service) error {
	login, err := s.login(service)
	if err != nil {
		return err
	}
	login.Schema = ""
	db, err := host.Local{}.SQL(login)
	if err != nil {
		return err
	}
	defer db.Close()
	var one int
	if err := db.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil {
		return fmt.Errorf("SELECT 1: %w", err)
	}
	return nil
}

// await asks until the service answers, its process ends or the time is over.
func (s *Subject) await(ctx context.Context, r *running) error {
	limit := waitOf(r.Service)
	began := time.Now()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		last := s.Ask(ctx, r.Service)
		if last == nil {
			if last = s.refind(r); last == nil {
				last = r.isAgain()
			}
			if last == nil {
				return nil
			}
		}
		if why, ended := r.ended(); ended {
			return &NotReadyError{r.Name, time.Since(began).Round(time.Millisecond), fmt.Errorf("its process has ended: %s", why), r.Logs.Output}
		}
		if time.Since(began) > limit {
			return &NotReadyError{r.Name, limit, last, r.Logs.Output}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for service %s: %w", r.Name, errors.Join(context.Cause(ctx), last))
		case <-time.After(pause):
		}
	}
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
