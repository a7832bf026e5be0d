package peer

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// patience is how long a command may take to end after its stream was closed.
const patience = 5 * time.Second

// A Stream is the standard input and output of a command as a connection: one that enters
// a container or a namespace, or ssh itself. Close waits for the command, and kills it if
// it does not end.
type Stream struct {
	net.Conn
	cmd  *exec.Cmd
	said LastWords
	end  func() error
}

// Command starts a command.
func Command(cmd *exec.Cmd) (*Stream, error) {
	in, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	out, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	s := &Stream{Conn: Join(in, out), cmd: cmd}
	cmd.Stderr = &s.said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	s.end = sync.OnceValue(s.wait)
	return s, nil
}

// Said is the end of what the command wrote to its standard error.
func (s *Stream) Said() string { return s.said.String() }

// Close ends the connection and waits for the command.
func (s *Stream) Close() error { return s.end() }

func (s *Stream) wait() error {
	err := s.Conn.Close()
	timer := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() }) // an error: it has ended
	defer timer.Stop()
	werr := s.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(werr, &exit) { // its words have been told before, or nobody asks
		werr = nil
	}
	return errors.Join(err, werr)
}

// LastWords keeps the end of what is written to it.
type LastWords struct {
	mu sync.Mutex
	b  []byte
}

// mostWords is how many bytes LastWords keeps.
const mostWords = 2000

// Write implements io.Writer.
func (l *LastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, p...)
	if extra := len(l.b) - mostWords; extra > 0 {
		l.b = append(l.b[:0], l.b[extra:]...)
	}
	return len(p), nil
}

// String is what was kept, as UTF-8.
func (l *LastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(bytes.ToValidUTF8(l.b, []byte("?"))))
}
