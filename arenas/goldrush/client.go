package goldrush

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// A player is a client of one game: a process in a group of its own, which ends with the
// game.
type player struct {
	cmd    *exec.Cmd
	output *tail
	began  time.Time
	done   chan struct{} // closed when the process has ended
	err    error         // of the process, once done is closed
}

// startPlayer starts a client.
func startPlayer(p arena.Program, env []string, log io.Writer) (*player, error) {
	out := &tail{log: log}
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, append(p.Env, env...), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if p.UID != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(p.UID), Gid: uint32(p.GID)}
	}
	cmd.WaitDelay = time.Second // a child that left the group may keep the pipe open
	pl := &player{cmd: cmd, output: out, began: time.Now(), done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The client is killed when the thread that started it ends, so that it does not
		// outlive this process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			pl.err = cmd.Wait()
			close(pl.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	return pl, nil
}

// await waits for the end of the process, at most for d.
func (p *player) await(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

// stop kills the group and waits until its first process has ended. Killing a group that is
// gone has no effect.
func (p *player) stop() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// ended reports whether the process has ended, and how: "" for status 0.
func (p *player) ended() (how string, ended bool) {
	select {
	case <-p.done:
	default:
		return "", false
	}
	var exit *exec.ExitError
	switch {
	case p.err == nil, errors.Is(p.err, exec.ErrWaitDelay):
		return "", true
	case errors.As(p.err, &exit) && exit.Exited():
		return fmt.Sprintf("status %d", exit.ExitCode()), true
	}
	return p.err.Error(), true
}

// Limits of what is kept of a client's output, in bytes: in memory, and in its log.
const (
	tailMost = 4 << 10
	logMost  = 1 << 20
)

// A tail keeps the end of an output, and writes its beginning into a log.
type tail struct {
	mu     sync.Mutex
	log    io.Writer
	logged int
	kept   []byte
}

// Write implements io.Writer. An error of the log is ignored: the client goes on.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := min(len(b), logMost-t.logged); n > 0 && t.log != nil {
		_, _ = t.log.Write(b[:n])
		t.logged += n
	}
	t.kept = append(t.kept, b[max(0, len(b)-tailMost):]...)
	t.kept = append([]byte(nil), t.kept[max(0, len(t.kept)-tailMost):]...)
	return len(b), nil
}

// lines are the last few lines of the output, for a message.
func (t *tail) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(string(t.kept), "?"))
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, fmt.Sprintf("%.200s", line))
		}
	}
	if len(lines) == 0 {
		return "it printed nothing"
	}
	return "its last lines: " + strings.Join(lines[max(0, len(lines)-3):], " | ")
}
