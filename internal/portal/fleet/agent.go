package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/show/redact"
)

// A Log is one log that an agent follows.
type Log struct {
	Kind string // access or slow
	Path string
}

// Options are for NewAgent.
type Options struct {
	Host string
	Logs []Log
	// Dir has the spool and the positions in the logs. One agent at a time uses it.
	Dir string
	// Send sends one part. A *RejectedError says that it never will be taken.
	Send func(ctx context.Context, p api.FleetPart) error
	// Access says how access logs are read.
	Access accesslog.Options
	Now    func() time.Time
	Log    *slog.Logger
	// Spool bounds the spool, in bytes; 0 for 256 MiB. The oldest parts are dropped.
	Spool int64
}

// A RejectedError is a part that the portal will never take.
type RejectedError struct{ Text string }

func (e *RejectedError) Error() string { return e.Text }

// noFile is the file of a part without lines.
const noFile = "-"

// usualSpool is how many bytes are spooled at most.
const usualSpool = 256 << 20

// An Agent follows the logs of a host.
type Agent struct {
	o     Options
	spool *spool
	tails []*tail
}

// NewAgent opens the folder of an agent. Logs are read from their end at the first start, and from
// where an earlier agent of this folder has ended.
func NewAgent(o Options) (*Agent, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Spool == 0 {
		o.Spool = usualSpool
	}
	s, err := openSpool(filepath.Join(o.Dir, "spool"), o.Spool)
	if err != nil {
		return nil, err
	}
	a := &Agent{o: o, spool: s}
	for _, l := range o.Logs {
		if sources[l.Kind] == iikanji.SourceUnknown {
			return nil, fmt.Errorf("%s: there is no kind of log %q", l.Path, l.Kind)
		}
		t, err := openTail(l, filepath.Join(o.Dir, "positions"))
		if err != nil {
			return nil, err
		}
		a.tails = append(a.tails, t)
	}
	if err := s.advance(a.tails); err != nil {
		return nil, err
	}
	return a, nil
}

// Run closes a window at the end of each minute and sends what is spooled, until ctx ends; then it
// closes the last window.
func (a *Agent) Run(ctx context.Context) error {
	for {
		now := a.o.Now()
		next := now.Truncate(minute).Add(minute)
		timer := time.NewTimer(next.Sub(now))
		select {
		case <-timer.C:
			if err := a.Close(ctx, next.Add(-minute)); err != nil && ctx.Err() == nil {
				return err
			}
			if err := a.Deliver(ctx); err != nil && ctx.Err() == nil {
				a.o.Log.Warn("the portal does not take parts", "error", err)
			}
		case <-ctx.Done():
			timer.Stop()
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			if err := a.Close(end, a.o.Now().Truncate(minute)); err != nil {
				return err
			}
			_ = a.Deliver(end) // it stays in the spool
			return nil
		}
	}
}

// Close ends the windows of a minute: what was added to each log becomes a part in the spool.
func (a *Agent) Close(ctx context.Context, of time.Time) error {
	for _, t := range a.tails {
		pieces, err := t.read()
		trouble := ""
		if err != nil {
			trouble = err.Error()
			a.o.Log.Warn("reading a log", "log", t.log.Path, "error", err)
		}
		if len(pieces) == 0 { // the minute is not missing
			pieces = []piece{{file: noFile}}
		}
		for _, p := range pieces {
			part, err := a.part(ctx, t, p, of, trouble)
			if err == nil {
				err = a.spool.add(part)
			}
			if err == nil && p.file != noFile {
				err = t.keep(p)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// part is the profile of a piece of a log. One that cannot be read has no profile and says why.
func (a *Agent) part(ctx context.Context, t *tail, p piece, of time.Time, trouble string) (api.FleetPart, error) {
	out := api.FleetPart{Kind: t.log.Kind, Host: a.o.Host, Minute: of.UTC(), File: p.file, From: p.from, To: p.to, Trouble: trouble}
	if len(p.text) == 0 {
		return out, nil
	}
	profile, err := a.profile(ctx, t.log, p.text)
	if err != nil {
		out.Trouble = fmt.Sprintf("%s: %v", filepath.Base(t.log.Path), err)
		a.o.Log.Warn("a part of a log cannot be read", "log", t.log.Path, "error", err)
		return out, nil
	}
	if out.Profile, err = pack(profile); err != nil {
		return out, err
	}
	if len(out.Profile) > maxPart {
		out.Trouble, out.Profile = fmt.Sprintf("%s: the profile of a minute has %d bytes", filepath.Base(t.log.Path), len(out.Profile)), nil
	}
	return out, nil
}

func (a *Agent) profile(ctx context.Context, l Log, text []byte) (p *iikanji.Profile, err error) {
	in := []*lines.Input{lines.Bytes(filepath.Base(l.Path), text)}
	if l.Kind == "slow" {
		p, err = slowlog.Read(ctx, in, slowlog.Options{Workers: 1})
	} else {
		o := a.o.Access
		o.Workers, o.Now = 1, a.o.Now()
		p, err = accesslog.Read(ctx, in, o)
	}
	if err != nil {
		return nil, err
	}
	redact.Profile(p, true)
	return p, nil
}

// Deliver sends what is spooled, the oldest first.
func (a *Agent) Deliver(ctx context.Context) error {
	names, err := a.spool.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		p, err := a.spool.read(name)
		if err != nil {
			return err
		}
		p.Sent = a.o.Now()
		err = a.o.Send(ctx, *p)
		if rejected := (*RejectedError)(nil); errors.As(err, &rejected) {
			a.o.Log.Warn("the portal rejects a part", "error", err)
			err = nil
		}
		if err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(a.spool.dir, name)); err != nil {
			return fmt.Errorf("emptying the spool: %w", err)
		}
	}
	return nil
}
