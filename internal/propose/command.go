package propose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unicode"
)

const (
	maxAnswer = 1 << 20          // bytes on standard output
	maxTime   = 10 * time.Minute // of one question; the caller may give less
	grace     = 3 * time.Second  // between the request to end and its end by force
)

// ask gives the question to a command and returns its answer, and the last
// lines that it said on standard error.
func ask(ctx context.Context, command []string, question []byte) (answer []byte, said []string, err error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	out, errs := &limited{full: cancel}, &tail{}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(question), out, errs
	// The command ends with us, also after kill -9. The kernel watches the thread
	// that started it: it is kept as long as the command runs.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace // also for an answer that a process in the background holds open
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("it cannot be started: %w", err)
	}
	err = cmd.Wait()
	endGroup(cmd.Process.Pid)
	switch {
	case caller.Err() != nil && !errors.Is(caller.Err(), context.DeadlineExceeded):
		return nil, errs.lines(), fmt.Errorf("interrupted: %w", caller.Err())
	case out.over:
		return nil, errs.lines(), fmt.Errorf("it answered with more than %d bytes", maxAnswer)
	case ctx.Err() != nil:
		return nil, errs.lines(), fmt.Errorf("it had not answered after %s", time.Since(began).Round(100*time.Millisecond))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, errs.lines(), fmt.Errorf("it ended with %w", err)
	}
	return out.kept.Bytes(), errs.lines(), nil
}

// endGroup ends what a command left running, politely first.
func endGroup(group int) {
	if syscall.Kill(-group, syscall.SIGTERM) != nil {
		return // nobody is left
	}
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(-group, 0) != nil {
			return
		}
	}
	_ = syscall.Kill(-group, syscall.SIGKILL)
}

// limited keeps an answer and ends the command when it is too long.
//
// Note: the buffer is not embedded, as its ReadFrom would be, and io.Copy would
// read past the limit by it.
type limited struct {
	kept bytes.Buffer
	over bool
	full func()
}

func (l *limited) Write(p []byte) (int, error) {
	if l.over = l.over || l.kept.Len()+len(p) > maxAnswer; l.over {
		l.full()
		return len(p), nil // read on, so that it can end
	}
	return l.kept.Write(p)
}

// tail keeps the last bytes of what a command says.
type tail struct{ kept []byte }

const maxSaid = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxSaid; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// maxLines is how many of the lines that a command said are shown.
const maxLines = 10

// lines are the last lines, free of what would move a terminal's cursor.
func (t *tail) lines() []string {
	var lines []string
	for line := range strings.SplitSeq(string(t.kept), "\n") {
		line = strings.Map(func(r rune) rune {
			if r == '\t' {
				return ' '
			}
			if !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, line)
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-maxLines):]
}
