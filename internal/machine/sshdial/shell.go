package sshdial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/iikanji/iikanji/internal/machine/peer"
)

// A shell is a session as a connection.
type shell struct {
	client  *client
	session *ssh.Session
	in      io.Reader
	out     io.WriteCloser
	said    peer.LastWords
	end     func() error

	writing sync.Mutex // of out: a channel of SSH does not stand a write while it is closed
}

// shell starts sh, whatever the account's own shell is.
func (c *client) shell(ctx context.Context) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { c.Close() })
	session, err := c.NewSession()
	if err != nil {
		stop()
		return nil, err
	}
	s := &shell{client: c, session: session}
	session.Stderr = &s.said
	if s.in, err = session.StdoutPipe(); err == nil {
		s.out, err = session.StdinPipe()
	}
	if err == nil {
		err = session.Start("exec sh")
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.end = sync.OnceValue(s.closeAll)
	return s, nil
}

// Read and the others implement net.Conn. Deadlines are not kept: pings find a dead
// connection.
func (s *shell) Read(p []byte) (int, error)     { return s.in.Read(p) }
func (s *shell) Close() error                   { return s.end() }
func (s *shell) LocalAddr() net.Addr            { return s.client.LocalAddr() }
func (s *shell) RemoteAddr() net.Addr           { return s.client.RemoteAddr() }
func (*shell) SetDeadline(time.Time) error      { return nil }
func (*shell) SetReadDeadline(time.Time) error  { return nil }
func (*shell) SetWriteDeadline(time.Time) error { return nil }

// Write writes to the shell; after Close it returns an error.
func (s *shell) Write(p []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.out.Write(p)
}

// Said is the end of what the shell wrote to its standard error.
func (s *shell) Said() string { return s.said.String() }

// patience is how long the far end may take to end after its input was closed: it
// finishes a write that is under way.
const patience = 5 * time.Second

func (s *shell) closeAll() error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.session.Wait() // its status: the far end has said why before, or nobody asks
	}()
	closed := make(chan error, 1)
	go func() {
		s.writing.Lock() // a write that the far end does not take ends with the connection
		defer s.writing.Unlock()
		closed <- s.out.Close()
	}()
	var err error
	late := time.After(patience)
	select {
	case err = <-closed:
		select {
		case <-ended:
		case <-late:
		}
	case <-late:
	}
	if errors.Is(err, io.EOF) { // the session has ended already
		err = nil
	}
	if cerr := s.client.close(); cerr != nil && !errors.Is(cerr, io.EOF) {
		err = errors.Join(err, fmt.Errorf("closing the connection: %w", cerr))
	}
	return err
}
