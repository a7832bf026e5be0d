package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// pollWait limits one poll.
const pollWait = 2 * time.Second

// await polls until question returns nil. It ends early when the process ends
// or ctx is done.
func await(ctx context.Context, p *process.Child, limit time.Duration, question func(context.Context) error) error {
	begin := time.Now()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		last := poll(ctx, p, question)
		if last == nil {
			return nil
		}
		var port *PortError
		var config *ConfigError
		if errors.As(last, &port) || errors.As(last, &config) { // waiting does not fix these
			return last
		}
		if time.Since(begin) > limit {
			return &NotReadyError{Service: p.Name, Waited: limit.String(), Last: last}
		}
		select {
		case <-p.Done:
			return errDied
		case <-ctx.Done():
			return fmt.Errorf("waiting for the %s: %w", p.Name, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// poll polls once. It ends when the process ends, because another process may
// have its port and never answer.
func poll(ctx context.Context, p *process.Child, question func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, pollWait)
	defer cancel()
	go func() {
		select {
		case <-p.Done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return question(ctx)
}

// errDied means that the polled process has ended; the cause is in its log.
var errDied = errors.New("died")

// readiness returns the poll that shows whether a service is up, see arena.Ready.
func (s *Stack) readiness(svc *arena.Service, p *process.Child) func(context.Context) error {
	place := s.places.Service(svc.Name)
	network, address := "tcp", place.Address
	if address == "" {
		network, address = "unix", place.Socket
	}
	ask := func(ctx context.Context) error { return exchange(ctx, network, address, svc.Ready) }
	switch {
	case engineOf(svc).ping != nil:
		return func(ctx context.Context) error { return engineOf(svc).ping(ctx, place) }
	case address == "":
		return func(context.Context) error { return nil }
	case svc.Ready.Path != "":
		ask = func(ctx context.Context) error { return get(ctx, network, address, svc.Ready.Path) }
	}
	return func(ctx context.Context) error {
		if err := ask(ctx); err != nil || place.Port == 0 {
			return err
		}
		return ownPort(svc.Name, place.Port, p.PID)
	}
}

// get requests a page. Any response counts as success.
func get(ctx context.Context, network, address, path string) error {
	host := address
	if network == "unix" {
		host = "localhost"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/"+strings.TrimPrefix(path, "/"), nil)
	if err != nil {
		return err
	}
	// A transport of its own also ignores the environment's proxy.
	t := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	res, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return errors.Join(err, res.Body.Close())
}

// exchange connects, sends the text of a readiness check, if there is one, and
// compares the beginning of the reply.
func exchange(ctx context.Context, network, address string, r arena.Ready) (err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
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
