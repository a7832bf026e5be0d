package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Limits of the time until a service answers. A database that was killed first
// recovers from its redo log; an app may wait for its database.
const (
	databaseWait = 90 * time.Second
	appWait      = 30 * time.Second
	nginxWait    = 10 * time.Second
	// questionWait limits one poll.
	questionWait = 2 * time.Second
)

// await polls until question returns nil. It ends early when the process ends
// or ctx is done.
func await(ctx context.Context, p *process, limit time.Duration, question func(context.Context) error) error {
	begin := time.Now()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		last := p.ask(ctx, question)
		if last == nil {
			return nil
		}
		var port *PortError
		var config *ConfigError
		if errors.As(last, &port) || errors.As(last, &config) { // waiting does not fix these
			return last
		}
		if time.Since(begin) > limit {
			return &NotReadyError{Service: p.name, Waited: limit.String(), Last: last}
		}
		select {
		case <-p.done:
			return errDied
		case <-ctx.Done():
			return fmt.Errorf("waiting for the %s: %w", p.name, ctx.Err())
		case <-time.After(pause):
		}
	}
}

// ask polls once. It ends when the process ends, because another process may
// have its port and never answer.
func (p *process) ask(ctx context.Context, question func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, questionWait)
	defer cancel()
	go func() {
		select {
		case <-p.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return question(ctx)
}

// errDied means that the polled process has ended; the cause is in its log.
var errDied = errors.New("died")

// get requests a page. Any response counts as success.
func get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	t := &http.Transport{DisableKeepAlives: true} // also ignores the environment's proxy
	res, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return errors.Join(err, res.Body.Close())
}

// askHTTP returns a poll that checks that a service answers on its port, and
// that the listening process belongs to root.
func (s *Stack) askHTTP(service string, port int, root *process) func(context.Context) error {
	ready := "/" + strings.TrimPrefix(s.arena.App.Ready, "/")
	return func(ctx context.Context) error {
		if err := get(ctx, fmt.Sprintf("http://127.0.0.1:%d%s", port, ready)); err != nil {
			return err
		}
		return ownPort(service, port, root.PID)
	}
}
