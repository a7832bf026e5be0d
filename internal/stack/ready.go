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

// Limits of the time until a service answers. A database that was killed reads
// its log again first; an app may wait for its database.
const (
	databaseWait = 90 * time.Second
	appWait      = 30 * time.Second
	nginxWait    = 10 * time.Second
	// questionWait bounds one question.
	questionWait = 2 * time.Second
)

// await asks until the answer is no error. It ends early when the process
// does, and with ctx.
func await(ctx context.Context, p *process, limit time.Duration, question func(context.Context) error) error {
	begin := time.Now()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		last := p.ask(ctx, question)
		if last == nil {
			return nil
		}
		var port *PortError
		var config *ConfigError
		if errors.As(last, &port) || errors.As(last, &config) { // no waiting mends these
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

// ask asks once; the end of the process is the end of the question, since
// somebody else may have its port and be silent.
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

// errDied says that the process asked has ended; its log says why.
var errDied = errors.New("died")

// get asks for a page; any answer at all will do.
func get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	t := &http.Transport{DisableKeepAlives: true} // no proxy from the environment either
	res, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return errors.Join(err, res.Body.Close())
}

// askHTTP is the question whether the service on a port answers, and is ours.
func (s *Stack) askHTTP(service string, port int, root *process) func(context.Context) error {
	ready := "/" + strings.TrimPrefix(s.arena.App.Ready, "/")
	return func(ctx context.Context) error {
		if err := get(ctx, fmt.Sprintf("http://127.0.0.1:%d%s", port, ready)); err != nil {
			return err
		}
		return ownPort(service, port, root.PID)
	}
}
