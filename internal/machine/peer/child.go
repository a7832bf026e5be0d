package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// patience is how long a child may take to end after its connection was closed.
const patience = 5 * time.Second

// A Child is a Peer whose far end is reached through a command: one that enters a
// container or a namespace, or ssh itself.
type Child struct {
	*Peer
	cmd  *exec.Cmd
	said *lastWordsOf
	wait func() error
}

// Start runs the command and begins the calls on its standard input and output. What it
// writes to standard error is part of the errors.
func Start(ctx context.Context, cmd *exec.Cmd, s Setup) (*Child, error) {
	in, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	c := &Child{cmd: cmd, said: &lastWordsOf{}}
	cmd.Stderr = c.said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("reaching %s: %w", s.Name, err)
	}
	c.wait = sync.OnceValue(cmd.Wait)
	c.Peer, err = Connect(ctx, Join(in, out), s)
	if err != nil {
		return nil, c.explain(errors.Join(err, c.end()), s.Name)
	}
	return c, nil
}

// explain adds what the command said.
func (c *Child) explain(err error, name string) error {
	if words := c.said.text(); words != "" {
		return fmt.Errorf("reaching %s: %w; the command said: %s", name, err, words)
	}
	return fmt.Errorf("reaching %s: %w", name, err)
}

// Close ends the connection and waits for the command.
func (c *Child) Close() error { return errors.Join(c.Peer.Close(), c.end()) }

// end waits for the command, and kills it after a while.
func (c *Child) end() error {
	timer := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() }) // an error: it has ended
	defer timer.Stop()
	err := c.wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) { // the far end says why before, or nobody asks
		return nil
	}
	return err
}

// lastWordsOf keeps the end of what a command writes.
type lastWordsOf struct {
	mu sync.Mutex
	b  []byte
}

func (l *lastWordsOf) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, p...)
	if extra := len(l.b) - 2000; extra > 0 {
		l.b = append(l.b[:0], l.b[extra:]...)
	}
	return len(p), nil
}

func (l *lastWordsOf) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(bytes.ToValidUTF8(l.b, []byte("?"))))
}
