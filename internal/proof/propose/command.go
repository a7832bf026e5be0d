package propose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode"
)

const (
	maxAnswer = 1 << 20          // bytes on standard output
	maxTime   = 10 * time.Minute // for an answer; the context may end earlier
	grace     = 3 * time.Second  // between SIGTERM and SIGKILL
)

// exchange writes the question to a command and returns its answer, and the last
// lines of its standard error.
func exchange(ctx context.Context, command []string, question []byte) (answer []byte, stderr []string, err error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	out, errs := &limited{full: cancel}, &tail{}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(question), out, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace // also when a background process keeps standard output open
	began := time.Now()
	mark := fmt.Sprintf("%s=%d.%d", markName, os.Getpid(), began.UnixNano())
	cmd.Env = append(os.Environ(), mark)
	release, err := adopt(mark)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, nil, fmt.Errorf("starting it: %w", err)
	}
	closePipe, err := guarded(cmd)
	if err != nil {
		return nil, nil, fmt.Errorf("starting it: %w", err)
	}
	defer closePipe()
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("starting it: %w", err)
	}
	err = cmd.Wait()
	endGroup(cmd.Process.Pid)
	switch {
	case caller.Err() != nil && !errors.Is(caller.Err(), context.DeadlineExceeded):
		return nil, errs.lines(), fmt.Errorf("interrupted: %w", caller.Err())
	case out.over:
		return nil, errs.lines(), fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	case ctx.Err() != nil:
		return nil, errs.lines(), fmt.Errorf("no answer within %s", time.Since(began).Round(100*time.Millisecond))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, errs.lines(), fmt.Errorf("it ended with %w", err)
	}
	return out.kept.Bytes(), errs.lines(), nil
}

// endGroup ends the processes that a command left running: SIGTERM, then SIGKILL.
func endGroup(group int) {
	if syscall.Kill(-group, syscall.SIGTERM) != nil {
		return // no process is left
	}
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(-group, 0) != nil {
			return
		}
	}
	_ = syscall.Kill(-group, syscall.SIGKILL)
}

// limited keeps an answer and calls full when it is too long.
//
// The buffer is not embedded: io.Copy would use its ReadFrom, past the limit.
type limited struct {
	kept bytes.Buffer
	over bool
	full func()
}

func (l *limited) Write(p []byte) (int, error) {
	if l.over = l.over || l.kept.Len()+len(p) > maxAnswer; l.over {
		l.full()
		return len(p), nil // keep reading, so that the command does not block
	}
	return l.kept.Write(p)
}

// tail keeps the last bytes of a command's standard error.
type tail struct{ kept []byte }

const maxTail = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// maxLines is the number of shown lines of a command's standard error.
const maxLines = 10

// lines returns the last lines without unprintable characters.
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
