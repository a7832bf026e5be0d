package process

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Ready is a question that shows whether a service answers. The first field that is set
// decides; without any, nothing is asked.
type Ready struct {
	Ask func(ctx context.Context) error // as SELECT 1
	URL string                          // of a page, which has any status, or one below Below
	// Network and Address are where the service is reached: for the page, and for a
	// connection on which Send is sent, and the reply must begin with Expect.
	Network, Address string
	Send, Expect     string
	Below            int // limit of the statuses that count; 0 for all
	// Dial connects; nil connects from this machine.
	Dial Dialer
}

// A Dialer connects to an address, as host.Host does.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Once asks once.
func (r Ready) Once(ctx context.Context) error {
	switch {
	case r.Ask != nil:
		return r.Ask(ctx)
	case r.URL != "":
		status, err := PageOver(ctx, r.Dial, r.URL, r.Network, r.Address)
		if err == nil && r.Below > 0 && status >= r.Below {
			err = fmt.Errorf("%s: %d %s", r.URL, status, http.StatusText(status))
		}
		return err
	case r.Address != "":
		return r.exchange(ctx)
	}
	return nil
}

// SelectOne asks a database of this machine SELECT 1.
func SelectOne(ctx context.Context, login host.Login) error {
	return SelectOneOn(ctx, host.Local{}, login)
}

// SelectOneOn asks a database of a host SELECT 1.
func SelectOneOn(ctx context.Context, h host.Host, login host.Login) error {
	db, err := h.SQL(login)
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

// PageOver requests a page over the connections of a Dialer and returns its status; nil connects
// from this machine. The certificate is not checked: what counts is whether the site answers. The
// connection goes to an address, unless it is "".
func PageOver(ctx context.Context, dial Dialer, url, network, address string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	// A transport of its own also ignores the environment's proxy.
	t := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	t.DialContext = dial
	if address != "" {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dial(ctx, network, address)
		}
	}
	res, err := t.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, errors.Join(err, res.Body.Close())
}

// exchange connects, sends a text, if there is one, and compares the beginning of the reply.
func (r Ready) exchange(ctx context.Context) (err error) {
	dial := r.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	conn, err := dial(ctx, r.Network, r.Address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if end, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(end); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(conn, r.Send); err != nil {
		return err
	}
	reply := make([]byte, len(r.Expect))
	if _, err := io.ReadFull(conn, reply); err != nil {
		return fmt.Errorf("reading its reply: %w", err)
	}
	if string(reply) != r.Expect {
		return fmt.Errorf("its reply begins with %q, want %q", reply, r.Expect)
	}
	return nil
}

// ErrEnded is the error of waiting for a process that has ended; the cause is in its log.
var ErrEnded = errors.New("its process has ended")

// A SlowError is that of a question without an answer in time.
type SlowError struct {
	Waited time.Duration
	Last   error
}

func (e *SlowError) Error() string { return fmt.Sprintf("no answer after %v: %v", e.Waited, e.Last) }
func (e *SlowError) Unwrap() error { return e.Last }

// A finalError is an answer that waiting does not change.
type finalError struct{ error }

// Final makes an error of a question the result of Await.
func Final(err error) error { return finalError{err} }

// Await asks until the answer is nil or Final, for at most limit; each question takes at
// most each. It ends early when ended is closed, with ErrEnded, or when ctx ends. A question
// also ends then: another process may have the address and never answer.
func Await(ctx context.Context, limit, each time.Duration, ended <-chan struct{},
	ask func(context.Context) error) error {
	begin := time.Now()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		last := askOnce(ctx, each, ended, ask)
		if last == nil {
			return nil
		}
		if final, ok := last.(finalError); ok {
			return final.error
		}
		if time.Since(begin) > limit {
			return &SlowError{limit, last}
		}
		select {
		case <-ended:
			return ErrEnded
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), last)
		case <-time.After(pause):
		}
	}
}

func askOnce(ctx context.Context, each time.Duration, ended <-chan struct{}, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, each)
	defer cancel()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ask(ctx)
}
