package livesite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/machine/process"
)

// A DiedError is a service that ended without being asked to.
type DiedError struct {
	Service string
	How     string // "" if unknown
	Log     string
}

func (e *DiedError) Error() string {
	text := fmt.Sprintf("service %s has ended", e.Service)
	if e.How != "" {
		text += " (" + e.How + ")"
	}
	return text
}

// Hints tells where to look.
func (e *DiedError) Hints() []string {
	if e.Log == "" {
		return nil
	}
	return []string{"its log is " + e.Log}
}

// watch waits in the background for the end of the service's process.
func (s *Subject) watch(r *running) {
	p := r.process()
	if p == nil || s.died == nil {
		return
	}
	s.watches.Go(func() {
		if process.AwaitEndOn(s.ctx, r.host, p.PID) == nil { // else the site was closed, or its machine is lost
			s.ended(r, p)
		}
	})
}

// ended notes the end of a process that was not asked for.
func (s *Subject) ended(r *running, p *process.Process) {
	status := r.lastStatus()
	r.mu.Lock()
	now, asked := r.proc, r.asked
	if now != nil && now.PID == p.PID && now.Started == p.Started && !asked {
		r.proc = nil
	}
	r.mu.Unlock()
	if asked || now == nil || now.PID != p.PID || s.ctx.Err() != nil {
		return
	}
	if s.succeeded(r, p) {
		return
	}
	err := error(&DiedError{r.Name, status, r.Logs.Output})
	if !s.deaths.Expected() && s.cut(r) {
		again := s.reviveCut(r)
		if again == nil {
			return
		}
		err = errors.Join(err, again)
	}
	if !s.deaths.Note(r.Name, err) {
		s.died(err)
	}
}

// successorWait is how long a daemon that has executed its program again may take until its
// new process can be found.
const successorWait = 3 * time.Second

// succeeded reports whether another process has taken the place of one that has ended, and
// takes that for the service's. A daemon that executes its program again at a signal, as
// php-fpm, goes into the background again: its process answers for a while, and then ends.
func (s *Subject) succeeded(r *running, old *process.Process) bool {
	if r.origin == nil || r.origin.Way.Signal == 0 {
		return false
	}
	err := process.Await(s.ctx, successorWait, successorWait, nil, func(context.Context) error {
		if err := s.refind(r); err != nil {
			return err
		}
		if p := r.process(); p == nil || p.ID() == old.ID() || p.Program != old.Program {
			return errors.New("it has no other process")
		}
		return nil
	})
	if err != nil {
		r.forget(old)
		return false
	}
	s.watch(r)
	return true
}

// statusWait is how long a supervisor may take to report how its process ended.
const statusWait = 300 * time.Millisecond

// lastStatus is how a process that iikanji started has ended, "" if unknown.
func (r *running) lastStatus() string {
	r.mu.Lock()
	child := r.child
	r.mu.Unlock()
	if child == nil {
		return ""
	}
	select {
	case <-child.Done:
		return child.Status
	case <-time.After(statusWait):
		return ""
	}
}

// Use opens a site, calls do with it, and closes it. The context of do ends also
// when a service ends without a candidate on trial, unless Options.Ended is set; the
// cause is the reason.
func Use(ctx context.Context, o Options, do func(ctx context.Context, s *Subject) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := Open(ctx, o)
	if err != nil {
		return err
	}
	if s.died = o.Ended; s.died == nil {
		s.died = cancel
	}
	defer func() {
		cancel(nil)
		err = joinErrors(err, s.Close())
	}()
	for _, name := range s.names {
		s.watch(s.running()[name])
	}
	err = do(ctx, s)
	return withCause(ctx, err)
}
