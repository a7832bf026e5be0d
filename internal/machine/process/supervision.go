package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// A Handle is a supervisor at work.
type Handle struct {
	job     *os.File
	in      *json.Encoder
	replies chan reply
	status  chan string // closed after the end of the process
}

// Replace ends a process, if e is not nil, and starts another one. It returns the
// id of the new process, and a channel that gives how it ended.
func Replace(ctx context.Context, e *End, s Spec, files [3]*os.File) (pid int, status <-chan string, err error) {
	h, err := launch(job{End: e, Start: &s}, files)
	if err != nil {
		return 0, nil, err
	}
	if e != nil {
		if err := h.ended(ctx); err != nil {
			return 0, nil, err
		}
	}
	return h.started(ctx)
}

// Hold ends a process and waits for Go to start the specification. If iikanji
// ends before, the process is started.
func Hold(ctx context.Context, e End, s Spec, files [3]*os.File) (*Handle, error) {
	h, err := launch(job{End: &e, Hold: true, Start: &s}, files)
	if err != nil {
		return nil, err
	}
	return h, h.ended(ctx)
}

// Go starts a process that Hold has ended, with a specification that may have
// changed since.
func (h *Handle) Go(ctx context.Context, s Spec) (pid int, status <-chan string, err error) {
	if err := h.in.Encode(s); err != nil {
		return 0, nil, fmt.Errorf("starting %s: %w", s.Path, err)
	}
	return h.started(ctx)
}

func (h *Handle) ended(ctx context.Context) error {
	r, err := h.next(ctx)
	if err != nil {
		return err
	}
	if !r.Ended {
		return errors.New("ending the process: the supervisor gave no answer")
	}
	return nil
}

func (h *Handle) started(ctx context.Context) (int, <-chan string, error) {
	_ = h.job.Close()
	r, err := h.next(ctx)
	if err != nil {
		return 0, nil, err
	}
	return r.PID, h.status, nil
}

func (h *Handle) next(ctx context.Context) (reply, error) {
	select {
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	case r, ok := <-h.replies:
		if !ok {
			return r, errors.New("restarting a process: the supervisor has ended")
		}
		if r.Error != "" {
			return r, errors.New(r.Error)
		}
		return r, nil
	}
}

// launch starts a supervisor with a job.
func launch(j job, files [3]*os.File) (*Handle, error) {
	if !armed.Load() {
		panic("BUG: MaybeKeep was not called")
	}
	jobRead, jobWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a supervisor: %w", err)
	}
	replyRead, replyWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a supervisor: %w", err), jobRead.Close(), jobWrite.Close())
	}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{keeperName}, Env: []string{}, Dir: "/",
		ExtraFiles:  append([]*os.File{jobRead, replyWrite}, files[:]...),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	err = cmd.Start()
	err = errors.Join(err, jobRead.Close(), replyWrite.Close())
	h := &Handle{job: jobWrite, in: json.NewEncoder(jobWrite), replies: make(chan reply, 4), status: make(chan string, 1)}
	if err == nil {
		go func() { _ = cmd.Wait() }() // reap it; it ends with its process
		go h.read(replyRead)
		err = h.in.Encode(j)
	}
	if err != nil {
		return nil, fmt.Errorf("starting a supervisor: %w", errors.Join(err, jobWrite.Close()))
	}
	return h, nil
}

// read passes on the messages of the supervisor until it ends.
func (h *Handle) read(from *os.File) {
	defer from.Close()
	defer close(h.replies)
	defer close(h.status)
	for d := json.NewDecoder(from); ; {
		var r reply
		if d.Decode(&r) != nil {
			return
		}
		if r.Status != "" {
			h.status <- r.Status
			return
		}
		h.replies <- r
	}
}
