package process

import (
	"context"
	"os"
)

// A Held is a process of a site that was ended and waits to be started again. If iikanji
// ends before, its supervisor starts it.
type Held struct{ supervisor *Supervisor }

// Hold ends a process, if e is not nil, and waits for Go to start the specification.
func Hold(ctx context.Context, e *End, s Spec, files [3]*os.File) (*Held, error) {
	c, err := Launch(ctx, Options{Dir: "/", Outlives: true, Files: files})
	if err != nil {
		return nil, err
	}
	if e == nil {
		return &Held{c}, nil
	}
	if err := c.call(ctx, request{Op: opHold, End: e, Spec: &s}); err != nil {
		c.release()
		return nil, err
	}
	return &Held{c}, nil
}

// Go starts the process, with a specification that may have changed since Hold.
func (h *Held) Go(s Spec) (*Child, error) {
	p, err := h.supervisor.Start(s)
	if err != nil {
		h.supervisor.release()
	}
	return p, err
}

// Drop cancels the start: another program has started the process.
func (h *Held) Drop(ctx context.Context) error { return h.supervisor.Down(ctx) }

// release closes iikanji's end of the socket: the supervisor goes on alone.
func (c *Supervisor) release() { _ = c.conn.Close() }
