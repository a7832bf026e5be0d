package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A body is an answer's value whose bytes follow its frame.
type body[T any] struct {
	value T
	bytes []byte
}

// none is the value of a call or an answer without one. The encoding wants a field.
type none struct{ Nothing bool }

// handle makes a handler of a method that takes arguments and the bytes behind them.
func handleCall[A, R any](s *server, f func(ctx context.Context, args A, in io.Reader) (R, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		defer s.calls.Done()
		var args A
		if err := readFrame(r.Body, &args); err != nil {
			answerWith(w, nil, err)
			return
		}
		out, err := f(r.Context(), args, r.Body)
		if b, ok := any(out).(interface{ parts() (any, []byte) }); ok && err == nil {
			v, bytes := b.parts()
			answerWith(w, v, nil)
			_, _ = w.Write(bytes) // see answerWith
			return
		}
		answerWith(w, out, err)
	}
}

func (b body[T]) parts() (any, []byte) { return b.value, b.bytes }

// mostBody bounds the content of a file that is written by one call, in bytes.
const mostBody = 1 << 30

// content reads the bytes behind the arguments of a call, all of them: a write of half a
// file must not be carried out.
func content(in io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, mostBody+1))
	if err != nil {
		return nil, fmt.Errorf("receiving the content: %w", err)
	}
	if len(b) > mostBody {
		return nil, fmt.Errorf("a content of more than %d bytes is too large for one call", mostBody)
	}
	return b, nil
}

// handler serves all calls by their names.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/Hello", handleCall(s, s.hello))
	s.reads(mux)
	s.writes(mux)
	mux.Handle("/Exec", handleCall(s, func(ctx context.Context, c program, _ io.Reader) (body[status], error) {
		r, err := s.h.Exec(ctx, host.Command{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, As: c.As})
		return body[status]{status{r.Status}, r.Output}, err
	}))
	mux.Handle("/Signal", handleCall(s, func(_ context.Context, a sendSignal, _ io.Reader) (none, error) {
		return none{}, s.h.Signal(a.PID, syscall.Signal(a.Signal))
	}))
	mux.Handle("/Account", handleCall(s, func(context.Context, none, io.Reader) (host.Owner, error) { return s.h.Account() }))
	mux.Handle("/User", handleCall(s, func(_ context.Context, a onePath, _ io.Reader) (host.User, error) { return s.h.User(a.Path) }))
	mux.Handle("/Hold", handleCall(s, func(_ context.Context, a onePath, _ io.Reader) (held, error) {
		c, err := s.h.Hold(a.Path)
		if err != nil || c == nil {
			return held{}, err
		}
		id, err := s.keep(c)
		return held{id, true}, err
	}))
	mux.Handle("/Release", handleCall(s, func(_ context.Context, a handle, _ io.Reader) (none, error) { return none{}, s.release(a.ID) }))
	s.trees(mux)
	mux.HandleFunc("/Dial", s.dial)
	s.work(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := s.began(); err != nil && r.URL.Path != "/Hello" {
			answerWith(w, nil, err)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// dial connects to an address of the host, and copies both ways until one end closes.
func (s *server) dial(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	defer s.calls.Done()
	var to dialTo
	if err := readFrame(r.Body, &to); err != nil {
		answerWith(w, nil, err)
		return
	}
	c, err := s.h.Dial(r.Context(), to.Network, to.Address)
	if err != nil {
		answerWith(w, nil, err)
		return
	}
	stop := context.AfterFunc(r.Context(), func() { c.Close() })
	defer stop()
	answerWith(w, none{}, nil)
	flush := http.NewResponseController(w)
	if err := flush.Flush(); err != nil {
		c.Close()
		return
	}
	go func() { // ends with this handler, which closes r.Body
		_, err := io.Copy(c, r.Body)
		if half, ok := c.(interface{ CloseWrite() error }); ok && err == nil {
			half.CloseWrite()
			return
		}
		c.Close()
	}()
	_, _ = copyFlushed(w, c, flush.Flush) // the end of either side is the end of the connection
	c.Close()
}

// copyFlushed copies what arrives at once.
func copyFlushed(w io.Writer, c net.Conn, flush func() error) (int64, error) {
	buf := make([]byte, 64<<10)
	var all int64
	for {
		n, err := c.Read(buf)
		if n > 0 {
			all += int64(n)
			if _, err := w.Write(buf[:n]); err != nil {
				return all, err
			}
			if err := flush(); err != nil {
				return all, err
			}
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return all, err
		}
	}
}
