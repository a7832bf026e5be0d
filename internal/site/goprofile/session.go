package goprofile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// A Session is a profile that is being taken.
type Session struct{ conn *net.UnixConn }

// maxProfile bounds the size of a profile.
const maxProfile = 64 << 20

// answerLimit bounds how long the app may take to begin, and to write its profile.
const answerLimit = 10 * time.Second

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
	// The app answers when the profile has begun.
	answer := make([]byte, len(begun))
	err = conn.SetDeadline(time.Now().Add(answerLimit))
	if err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	switch {
	case errors.Is(err, io.EOF), err == nil && string(answer) != begun:
		err = errors.New("the app sent none; another profile may be running")
	case err == nil:
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the CPU profile: %w", err), conn.Close())
	}
	return &Session{conn}, nil
}

// begun is what a probe sends at the begin of a profile.
const begun = "begun\n"

// A Result is what an app sent at the end of a Session.
type Result struct {
	Profile []byte // in the format of pprof
	Cache   *Cache // what its query cache did meanwhile; nil: it has none
}

// End ends the profile and returns it.
func (s *Session) End() (out Result, err error) {
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	if err := s.conn.SetDeadline(time.Now().Add(answerLimit)); err != nil {
		return out, fmt.Errorf("ending the CPU profile: %w", err)
	}
	if err := s.conn.CloseWrite(); err != nil {
		return out, fmt.Errorf("ending the CPU profile: %w", err)
	}
	all, err := io.ReadAll(io.LimitReader(s.conn, maxProfile))
	if err == nil {
		out, err = parse(all)
	}
	if err != nil {
		return Result{}, fmt.Errorf("reading the CPU profile: %w", err)
	}
	return out, nil
}

// parse reads what a probe sends: the length of the profile, the profile, and the
// counters of a query cache before and after the load, each in a line.
func parse(all []byte) (out Result, err error) {
	head, rest, _ := bytes.Cut(all, []byte("\n"))
	n, err := strconv.Atoi(string(head))
	if err != nil || n < 0 || n > len(rest) {
		return out, fmt.Errorf("it is cut off after %d bytes", len(all))
	}
	out.Profile = rest[:n]
	before, rest, _ := bytes.Cut(rest[n:], []byte("\n"))
	after, _, complete := bytes.Cut(rest, []byte("\n"))
	if len(after) == 0 || !complete {
		return out, nil
	}
	out.Cache, err = cacheBetween(before, after)
	return out, err
}
