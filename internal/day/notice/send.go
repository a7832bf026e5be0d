package notice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Limits of one notice.
const (
	tryTime    = 5 * time.Second
	retryAfter = 500 * time.Millisecond
	maxRetry   = 2 * time.Second // the longest wait that a receiver may ask for
	maxAnswer  = 64 << 10
)

// A Sender sends notices to the receivers of a site.
type Sender struct {
	Refs    []target.Ref
	Getenv  func(string) string
	Read    func(path string) ([]byte, error)
	Forbids func(host string) bool // hosts that are never connected to; nil for none
}

// An Outcome is how one receiver was told.
type Outcome struct {
	Receiver string `json:"receiver"` // the reference, without the address
	Form     string `json:"form,omitempty"`
	Failure  string `json:"failure,omitempty"` // one line, "" if it was told
}

// Send tells all receivers at once, and returns when each was told or has failed.
func (s *Sender) Send(ctx context.Context, n Notice) []Outcome {
	out := make([]Outcome, len(s.Refs))
	var all sync.WaitGroup
	for i, ref := range s.Refs {
		all.Go(func() {
			out[i] = Outcome{Receiver: string(ref)}
			f, err := s.one(ctx, ref, n)
			out[i].Form = string(f)
			if err != nil {
				out[i].Failure = plain.Cut(plain.Line(err.Error()), maxLine)
			}
		})
	}
	all.Wait()
	return out
}

// one tells one receiver. The error never has the address.
func (s *Sender) one(ctx context.Context, ref target.Ref, n Notice) (form, error) {
	u, err := s.address(ref)
	if err != nil {
		return "", err
	}
	f := formOf(u)
	body, err := n.body(f)
	if err != nil {
		return f, err
	}
	wait, err := s.try(ctx, u, body)
	if err == nil || wait < 0 {
		return f, err
	}
	timer := time.NewTimer(max(wait, retryAfter))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return f, err
	case <-timer.C:
	}
	_, err = s.try(ctx, u, body)
	return f, err
}

// address is the address that a reference stands for.
func (s *Sender) address(ref target.Ref) (*url.URL, error) {
	text := ""
	if name := ref.Env(); name != "" {
		if text = s.Getenv(name); text == "" {
			return nil, fmt.Errorf("the variable %s is not set", name)
		}
	} else {
		path, name := ref.File()
		b, err := s.Read(path)
		if err != nil {
			return nil, fmt.Errorf("reading the address: %w", err)
		}
		for l := range strings.Lines(string(b)) {
			key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "export "), "=")
			if ok && strings.TrimSpace(key) == name {
				text = strings.Trim(strings.TrimSpace(value), `"'`)
			}
		}
		if text == "" {
			return nil, fmt.Errorf("%s has no line %s=…", path, name)
		}
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("its value is not an http or https address") // not the value: it may be a secret
	}
	if s.Forbids != nil && s.Forbids(u.Host) {
		return nil, errForbidden
	}
	return u, nil
}

// errForbidden is the error of a receiver on a host that the rules forbid.
var errForbidden = errors.New("its host is one that this contest forbids to connect to")

// client follows no redirect: the notice would go to another receiver. Of its connections
// none stays. A name that stands for an address which may not be connected to is refused
// when it is known which one it is.
func (s *Sender) client() *http.Client {
	dialer := &net.Dialer{Timeout: tryTime, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if s.Forbids != nil && s.Forbids(address) {
			return errForbidden
		}
		return nil
	}}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: maxAnswer,
			DialContext: dialer.DialContext, TLSHandshakeTimeout: tryTime},
	}
}

// try sends once. wait is how long to wait before another try, below 0 for none.
func (s *Sender) try(ctx context.Context, u *url.URL, body []byte) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return -1, errors.New("its address cannot be asked")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "iikanji")
	c := s.client()
	defer c.CloseIdleConnections()
	res, err := c.Do(req)
	if err != nil {
		return 0, reason(ctx, err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // the status alone counts
	switch {
	case res.StatusCode < 300:
		return -1, nil
	case res.StatusCode < 400:
		return -1, fmt.Errorf("the receiver answers %d, a redirect, which is not followed", res.StatusCode)
	}
	err = fmt.Errorf("the receiver answers %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode < 500 {
		return -1, err
	}
	seconds, parsed := strconv.ParseFloat(strings.TrimSpace(res.Header.Get("Retry-After")), 64)
	if parsed != nil || !(seconds > 0) {
		return 0, err
	}
	if seconds > maxRetry.Seconds() {
		return -1, fmt.Errorf("%w, and wants to be asked again in %g s", err, seconds)
	}
	return time.Duration(seconds * float64(time.Second)), err
}

// reason is why a request failed, without the address.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("no answer within %v", tryTime)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.Is(err, errForbidden):
		return errForbidden
	case errors.As(err, &dns):
		return errors.New("its host is not found")
	case errors.As(err, &op):
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the receiver closed the connection")
	}
	return errors.New("the answer is not one of HTTP")
}
