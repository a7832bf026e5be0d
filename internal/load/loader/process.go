package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// maxOutput is how many bytes of each output are kept, the last ones.
const maxOutput = 4 << 20

// A process is a command that runs to its end in a process group of its own.
type process struct {
	text   string // for sh -c
	dir    string
	env    []string
	limit  time.Duration
	onLine func(line []byte) // called with each whole line of the output; nil for no one
}

// An ending is how a command ended.
type ending struct {
	status      int // -1 after a signal
	output      Output
	took        time.Duration
	timeout     bool
	interrupted bool
}

// errLimit ends a command that takes too long.
var errLimit = errors.New("the time limit of the benchmarker")

func (p *process) run(ctx context.Context) (*ending, error) {
	if p.text == "" {
		return nil, errNoCommand
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.limit, errLimit)
	defer cancel()
	var mu sync.Mutex // both outputs call onLine
	out, err := &tail{mu: &mu, onLine: p.onLine}, &tail{mu: &mu, onLine: p.onLine}
	cmd := exec.CommandContext(limited, "/bin/sh", "-c", p.text)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, p.env, out, err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second // a child that left the group may keep the pipe open
	began := time.Now()
	failed := cmd.Run()
	e := &ending{took: time.Since(began), output: Output{Out: out.bytes(), Err: err.bytes()}, status: -1}
	var exit *exec.ExitError
	switch {
	case errors.Is(context.Cause(limited), errLimit):
		e.timeout = true
	case ctx.Err() != nil:
		e.interrupted = true
	case failed != nil && !errors.As(failed, &exit) && !errors.Is(failed, exec.ErrWaitDelay):
		return nil, fmt.Errorf("running the benchmarker: %w", failed)
	default:
		e.status = cmd.ProcessState.ExitCode()
	}
	return e, nil
}

// A tail keeps the last bytes that are written to it and calls onLine with lines.
type tail struct {
	mu     *sync.Mutex
	onLine func([]byte)
	kept   []byte
	line   []byte
}

var _ io.Writer = (*tail)(nil)

// maxLine is the maximum length of a line that is compared with marks.
const maxLine = 64 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept = append(t.kept, b...); len(t.kept) > 2*maxOutput {
		t.kept = append([]byte(nil), t.kept[len(t.kept)-maxOutput:]...)
	}
	if t.onLine == nil {
		return len(b), nil
	}
	for rest := b; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			if len(t.line) < maxLine {
				t.line = append(t.line, rest...)
			}
			break
		}
		t.onLine(append(t.line, rest[:i]...))
		t.line, rest = t.line[:0], rest[i+1:]
	}
	return len(b), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept[max(0, len(t.kept)-maxOutput):]
}
