package ui

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

// A job is the child process of the latest action. There is one at a time.
type job struct {
	program string
	mu      sync.Mutex
	cmd     *exec.Cmd
	args    []string
	out     tail
	running bool
	result  string
	done    sync.WaitGroup
}

func newJob(program string) *job { return &job{program: program} }

var errBusy = errors.New("another action is running: stop it first")

// start runs the program with arguments. They are never read by a shell.
func (j *job) start(args []string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running {
		return errBusy
	}
	j.args, j.result, j.out = args, "", tail{}
	j.cmd = exec.Command(j.program, args...)
	j.cmd.Stdout, j.cmd.Stderr = lockedTail{j}, lockedTail{j}
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C of this program is passed on once, by interrupt
	if err := j.cmd.Start(); err != nil {
		j.result = err.Error()
		return err
	}
	j.running = true
	cmd := j.cmd
	j.done.Go(func() {
		err := cmd.Wait()
		j.mu.Lock()
		defer j.mu.Unlock()
		j.running, j.result = false, "done"
		if err != nil {
			j.result = err.Error()
		}
	})
	return nil
}

// interrupt sends the child what Ctrl-C sends. It reports whether one runs.
func (j *job) interrupt() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.running {
		return false
	}
	return j.cmd.Process.Signal(syscall.SIGINT) == nil
}

// wait waits for the end of the child.
func (j *job) wait() { j.done.Wait() }

// A jobState is the state of a job for a page.
type jobState struct {
	Command string
	Running bool
	Result  string
	Output  []string
}

func (j *job) state() jobState {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := jobState{Running: j.running, Result: j.result}
	if j.args != nil {
		s.Command = "iikanji " + strings.Join(j.args, " ")
	}
	for _, line := range j.out.lines {
		s.Output = append(s.Output, report.Clean(redact.Text(line)))
	}
	if len(j.out.rest) > 0 {
		s.Output = append(s.Output, report.Clean(redact.Text(string(j.out.rest))))
	}
	return s
}

// maxOutput bounds the lines of a job's output, and the bytes of one line.
const (
	maxOutput     = 400
	maxOutputLine = 2_000
)

// A tail is the last lines of an output.
type tail struct {
	lines []string
	rest  []byte
}

func (t *tail) add(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			t.rest = append(t.rest, b[:min(len(b), max(0, maxOutputLine-len(t.rest)))]...)
			return
		}
		line := append(t.rest, b[:min(i, max(0, maxOutputLine-len(t.rest)))]...)
		t.lines, t.rest, b = append(t.lines, string(line)), nil, b[i+1:]
		if n := len(t.lines); n > maxOutput {
			t.lines = t.lines[n-maxOutput:]
		}
	}
}

// lockedTail writes into the tail of a job.
type lockedTail struct{ j *job }

func (l lockedTail) Write(b []byte) (int, error) {
	l.j.mu.Lock()
	defer l.j.mu.Unlock()
	l.j.out.add(b)
	return len(b), nil
}
