package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// pollWait limits one poll.
const pollWait = 2 * time.Second

// await polls until question returns nil. It ends early when the process ends, with
// process.ErrEnded, or ctx is done.
func await(ctx context.Context, p *process.Child, limit time.Duration, question func(context.Context) error) error {
	err := process.Await(ctx, limit, pollWait, p.Done, func(ctx context.Context) error {
		last := question(ctx)
		var port *PortError
		var config *ConfigError
		if errors.As(last, &port) || errors.As(last, &config) { // waiting does not fix these
			return process.Final(last)
		}
		return last
	})
	var slow *process.SlowError
	switch {
	case errors.As(err, &slow):
		return &NotReadyError{Service: p.Name, Waited: limit.String(), Last: slow.Last}
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("waiting for the %s: %w", p.Name, ctx.Err())
	}
	return err
}

// readiness returns the poll that shows whether a service is up, see arena.Ready.
func (s *Stack) readiness(svc *arena.Service, p *process.Child) func(context.Context) error {
	place := s.places.Service(svc.Name)
	ready := process.Ready{Network: "tcp", Address: place.Address, Send: svc.Ready.Send, Expect: svc.Ready.Expect}
	authority := place.Address
	if place.Address == "" {
		ready.Network, ready.Address, authority = "unix", place.Socket, "localhost"
	}
	switch {
	case process.EngineOf(svc.Engine).SQL:
		login := host.Login{Socket: place.Socket, User: place.User, Password: place.Password, Schema: place.Schema}
		return func(ctx context.Context) error { return process.SelectOne(ctx, login) }
	case svc.Ready.Path != "" && ready.Address != "":
		scheme := "http://"
		if svc.TLS {
			scheme = "https://"
		}
		ready.URL = scheme + authority + "/" + strings.TrimPrefix(svc.Ready.Path, "/")
	}
	return func(ctx context.Context) error {
		if err := ready.Once(ctx); err != nil || place.Port == 0 {
			return err
		}
		return ownPort(svc.Name, place.Port, p.PID)
	}
}
