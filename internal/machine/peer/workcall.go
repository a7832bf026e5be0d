package peer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

var _ host.Worker = (*Peer)(nil)

// Work has the far end carry a task out.
func (p *Peer) Work(ctx context.Context, task string, args, out any) error {
	live, end := p.both(ctx)
	defer end()
	body, err := p.begin(live, "Work/"+task, args, nil, 0, nil)
	if err != nil {
		return p.early(ctx, err)
	}
	defer body.Close()
	more, err := p.result(ctx, body, func(decode func(any) error) error { return decode(out) })
	if err == nil && !more {
		return p.broken(ctx, io.ErrUnexpectedEOF)
	}
	return err
}

// Feed has the far end run a feed.
func (p *Peer) Feed(ctx context.Context, feed string, every time.Duration, latest func() any, take func(decode func(any) error) error) error {
	live, end := p.both(ctx)
	defer end()
	send, sending := io.Pipe()
	body, err := p.begin(live, "Work/"+feed, latest(), send, -1, nil)
	if err != nil {
		send.Close()
		return p.early(ctx, err)
	}
	defer body.Close()
	defer sending.Close()
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-live.Done():
				return
			case <-tick.C:
			}
			b, err := appendFrame(nil, latest())
			if err == nil {
				_, err = sending.Write(b)
			}
			if err != nil { // the feed has ended, which its result says
				return
			}
		}
	}()
	for {
		more, err := p.result(ctx, body, take)
		if err != nil || !more {
			return err
		}
	}
}

// both is a context that ends with the caller's and with the connection.
func (p *Peer) both(ctx context.Context) (context.Context, context.CancelFunc) {
	live, end := context.WithCancel(ctx)
	stop := context.AfterFunc(p.ctx, end)
	return live, func() { stop(); end() }
}

// early is the error of a call that did not begin.
func (p *Peer) early(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// result reads one result of a task; more is false at their end.
func (p *Peer) result(ctx context.Context, body io.Reader, take func(decode func(any) error) error) (more bool, err error) {
	var a answer
	switch err := readFrame(body, &a); {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return false, nil
	case err != nil:
		return false, p.broken(ctx, err)
	case a.Err != nil:
		return false, a.Err.err()
	}
	return true, take(func(v any) error { return decode(a.Value, v) })
}

// work serves the tasks. Each result is a frame behind that of the answer; an error is the
// last one.
func (s *server) work(mux *http.ServeMux) {
	for _, task := range s.o.Tasks {
		mux.HandleFunc("/Work/"+task.Called(), func(w http.ResponseWriter, r *http.Request) {
			s.calls.Add(1)
			defer s.calls.Done()
			flush := http.NewResponseController(w).Flush
			answerWith(w, none{}, nil)
			if flush() != nil { // the near end is gone
				return
			}
			err := task.Serve(r.Context(), s.h, func(v any) error { return readFrame(r.Body, v) }, func(v any) error {
				value, err := encode(v)
				if err != nil {
					return err
				}
				b, err := appendFrame(nil, answer{Value: value})
				if err != nil {
					return err
				}
				if _, err := w.Write(b); err != nil {
					return err
				}
				return flush()
			})
			if err != nil && r.Context().Err() == nil {
				b, err := appendFrame(nil, answer{Err: failureOf(err)})
				if err == nil {
					_, _ = w.Write(b) // see answerWith
				}
			}
		})
	}
}
