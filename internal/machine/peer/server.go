package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/user"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Options of the far end.
type Options struct {
	// Lock is a file that only one near end may have for writing; readers need none.
	// Empty: any number may write.
	Lock string
	// Wait is how long Lock is waited for.
	Wait time.Duration
	// Claim is a file that names the site for which the host is written; another site is
	// refused. Empty: none is.
	Claim string
	// Ping is after how much silence the other end is asked for a sign of life, and
	// Lost how long it may take to give one. Zero: 2 s and 8 s.
	Ping, Lost time.Duration
	// Tasks are what the far end carries out where the data are.
	Tasks []host.Served
}

// Serve answers the calls of one near end on a connection, until the connection ends.
// A write that is under way then is finished; what waits for others (commands,
// connections) is ended. It is nil if the near end closed the connection.
func Serve(ctx context.Context, conn net.Conn, h host.Host, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{h: h, o: o, open: map[uint64]io.Closer{}}
	defer s.close()
	l := newOneListener(conn)
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	web := &http.Server{
		Handler: s.handler(), BaseContext: func(net.Listener) context.Context { return ctx },
		Protocols: onlyHTTP2(), HTTP2: settings(o), ErrorLog: log.New(io.Discard, "", 0),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				l.Close()
			}
		},
	}
	err := web.Serve(l)
	cancel()
	s.calls.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func onlyHTTP2() *http.Protocols {
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	return &p
}

// settings are those of both ends.
func settings(o Options) *http.HTTP2Config {
	if o.Ping == 0 {
		o.Ping, o.Lost = 2*time.Second, 8*time.Second
	}
	return &http.HTTP2Config{
		MaxConcurrentStreams: 1000, SendPingTimeout: o.Ping, PingTimeout: o.Lost, MaxReadFrameSize: 1 << 20,
		MaxReceiveBufferPerConnection: 16 << 20, MaxReceiveBufferPerStream: 4 << 20,
	}
}

// A server answers the calls of one near end.
type server struct {
	h host.Host
	o Options

	calls sync.WaitGroup

	mu     sync.Mutex
	fence  *fence // nil before hello
	open   map[uint64]io.Closer
	lastID uint64
}

// mostOpen bounds the files and locks that a near end may hold.
const mostOpen = 4096

// keep gives a file or a lock a number.
func (s *server) keep(c io.Closer) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= mostOpen {
		return 0, errors.Join(errors.New("too many open files"), c.Close())
	}
	s.lastID++
	s.open[s.lastID] = c
	return s.lastID, nil
}

func (s *server) kept(id uint64) (io.Closer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.open[id]
	return c, ok
}

func (s *server) release(id uint64) error {
	s.mu.Lock()
	c, ok := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if !ok {
		return os.ErrClosed
	}
	return c.Close()
}

func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		c.Close()
	}
}

// hello makes the fence and takes the lock.
func (s *server) hello(ctx context.Context, in hello, _ io.Reader) (welcome, error) {
	if in.Protocol != protocol {
		return welcome{}, fmt.Errorf("the other end speaks version %d of the calls, this one %d", in.Protocol, protocol)
	}
	out := welcome{PID: os.Getpid()}
	var err error
	if out.Account, err = s.h.Account(); err != nil {
		return out, err
	}
	if out.Hostname, err = os.Hostname(); err != nil {
		return out, err
	}
	if me, err := user.Current(); err == nil {
		out.Login = me.Username
	}
	if len(in.Folders) > 0 {
		err := s.takeLock(ctx)
		if err == nil {
			err = s.claim(in.Claim)
		}
		if err != nil {
			return out, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence != nil {
		return out, errors.New("a second hello")
	}
	s.fence = newFence(s.h, in.Folders)
	return out, nil
}

// takeLock waits for the lock of the host.
func (s *server) takeLock(ctx context.Context) error {
	if s.o.Lock == "" {
		return nil
	}
	if err := s.h.Create(s.o.Lock, nil, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("making the lock: %w", err)
	}
	for end := time.Now().Add(s.o.Wait); ; {
		c, err := s.h.Hold(s.o.Lock)
		if err != nil {
			return fmt.Errorf("taking the lock: %w", err)
		}
		if c != nil {
			_, err = s.keep(c)
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: %w", s.o.Lock, ErrHeld)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// began returns the fence, or an error before hello.
func (s *server) began() (*fence, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence == nil {
		return nil, errors.New("a call before hello")
	}
	return s.fence, nil
}

// answerWith writes the frame of an answer.
func answerWith(w http.ResponseWriter, v any, err error) {
	out := answer{Err: failureOf(err)}
	if err == nil {
		var merr error
		if out.Value, merr = encode(v); merr != nil {
			out = answer{Err: failureOf(merr)}
		}
	}
	b, err := appendFrame(nil, out)
	if err != nil {
		b, _ = appendFrame(nil, answer{Err: failureOf(err)})
	}
	// A near end that does not take its answer is gone, which its next call would find.
	_, _ = w.Write(b)
}
