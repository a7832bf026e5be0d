package goprofile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A Session is a profile that is being taken.
type Session struct{ conn *net.UnixConn }

// maxProfile bounds the size of a profile.
const maxProfile = 64 << 20

// endLimit bounds how long the app may take to write its profile.
const endLimit = 10 * time.Second

// Begin starts a profile at the socket of a Probe.
func Begin(ctx context.Context, socket string) (*Session, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("starting the CPU profile: %w", err)
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("starting the CPU profile: %T is no unix socket", c), c.Close())
	}
	return &Session{conn}, nil
}

// End ends the profile and returns it, in the format of pprof.
func (s *Session) End() (profile []byte, err error) {
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	if err := s.conn.SetDeadline(time.Now().Add(endLimit)); err != nil {
		return nil, fmt.Errorf("ending the CPU profile: %w", err)
	}
	if err := s.conn.CloseWrite(); err != nil {
		return nil, fmt.Errorf("ending the CPU profile: %w", err)
	}
	profile, err = io.ReadAll(io.LimitReader(s.conn, maxProfile))
	if err == nil && len(profile) == 0 {
		err = errors.New("the app sent none; another profile may be running")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the CPU profile: %w", err)
	}
	return profile, nil
}
