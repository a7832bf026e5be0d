package livesite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Restart implements field.Subject.
func (s *Subject) Restart(ctx context.Context, service string) error {
	r, ok := s.running()[service]
	if !ok {
		return fmt.Errorf("no service %q", service)
	}
	if r.InFiles() { // nothing runs
		return nil
	}
	again := func() error { return s.restartAlone(ctx, r) }
	if isBacking(r.Service) {
		return s.whileDown(ctx, r, again)
	}
	return again()
}

// restartAlone restarts a service, whatever is connected to it.
func (s *Subject) restartAlone(ctx context.Context, r *running) error {
	r.act.Lock()
	defer r.act.Unlock()
	r.expect(true)
	defer r.expect(false)
	if err := s.comeBack(ctx, r, s.restartOnce(ctx, r)); err != nil {
		return s.noteOutage(r, err)
	}
	r.expect(false) // before the watch: a daemon's first process may have ended already
	s.watch(r)
	return joinErrors(s.writePID(r), s.forgetOutage(r))
}

// restartOnce restarts a service and waits until it answers.
func (s *Subject) restartOnce(ctx context.Context, r *running) error {
	if err := s.restart(ctx, r); err != nil {
		return fmt.Errorf("restarting service %s: %w", r.Name, err)
	}
	r.begins()
	if err := s.await(ctx, r); err != nil { // it may still run: the site's own scripts must find it
		return joinErrors(err, s.writePID(r))
	}
	return nil
}

// restart ends and starts a service; it does not wait until it answers.
func (s *Subject) restart(ctx context.Context, r *running) error {
	switch r.Method() {
	case target.ByUnit:
		return s.command(ctx, r, "systemctl restart "+host.Quote(r.Unit))
	case target.ByCommand:
		return s.byCommand(ctx, r)
	case target.ByParent:
		return s.byParent(ctx, r)
	}
	if r.far() {
		return r.mayEnd()
	}
	return s.byProcess(ctx, r)
}

// byCommand restarts a service with commands of the file. An interrupt does not cut off a
// restart that has begun: the service would stay down.
func (s *Subject) byCommand(ctx context.Context, r *running) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.Commands.Restart != "" {
		return s.toTheEnd(ctx, r, r.Commands.Restart)
	}
	if r.process() != nil {
		if err := s.toTheEnd(ctx, r, r.Commands.Stop); err != nil && (ctx.Err() == nil || r.runs()) {
			return err
		}
	}
	return s.toTheEnd(ctx, r, r.Commands.Start)
}

// toTheEnd runs a command that has some more time when ctx ends.
func (s *Subject) toTheEnd(ctx context.Context, r *running, text string) error {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-time.After(serviceWait):
			cancel(context.Cause(ctx))
		case <-late.Done():
		}
	})()
	return s.command(late, r, text)
}

// byProcess ends the process and starts it as it was found, or has it execute its program
// again.
func (s *Subject) byProcess(ctx context.Context, r *running) error {
	if err := s.testStart(ctx, r); err != nil {
		return err
	}
	if sig := r.origin.Way.Signal; sig != 0 {
		return s.bySignal(ctx, r, sig)
	}
	spec, err := s.specOf(r)
	if err != nil {
		return err
	}
	r.mu.Lock()
	held := r.held
	r.held = nil
	r.mu.Unlock()
	if held == nil {
		r.ends()
		if held, err = process.Hold(ctx, r.endOf(syscall.SIGTERM), spec, r.origin.Files); err != nil {
			return err
		}
	}
	if back, err := r.startedByKeeper(ctx, held, spec); back || err != nil {
		return joinErrors(err, s.forgetOriginals(r))
	}
	if err := r.start(held, spec); err != nil {
		return err
	}
	return s.forgetOriginals(r)
}

// start starts a process that was ended.
func (r *running) start(held *process.Held, spec process.Spec) error {
	child, err := held.Go(spec)
	if err != nil {
		return err
	}
	p, err := process.ReadProcess(r.host, child.PID)
	if err != nil { // a daemon's first process may have ended already
		p = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proc, r.child, r.started = p, child, &spec
	return nil
}

// bySignal has a process execute its program again, and returns when the processes that it
// had started have ended.
func (s *Subject) bySignal(ctx context.Context, r *running, sig syscall.Signal) error {
	p := r.process()
	if p == nil || !p.Alive(r.host) {
		return &NotRunningError{Service: r.Name, By: "its process, which has ended"}
	}
	old := process.ChildrenOn(r.host, p.PID)
	if err := r.host.Signal(p.PID, sig); err != nil {
		return err
	}
	return process.Await(ctx, serviceWait, serviceWait, nil, func(context.Context) error {
		if left, _ := process.Listed(old)(); len(left) > 0 {
			return fmt.Errorf("process %d, which it had started before, still runs after %s", left[0].PID, unix.SignalName(sig))
		}
		return nil
	})
}

// byParent ends the process and waits for the one that its supervisor starts.
func (s *Subject) byParent(ctx context.Context, r *running) error {
	old := r.process()
	if e := r.endOf(syscall.SIGTERM); e != nil {
		if err := r.end(ctx, *e); err != nil {
			return err
		}
	}
	return process.Await(ctx, serviceWait, serviceWait, nil, func(context.Context) error {
		if err := s.refind(r); err != nil {
			return err
		}
		if p := r.process(); old != nil && p.ID() == old.ID() {
			return errors.New("its supervisor has not started it again")
		}
		return nil
	})
}

// end ends a process of the service from this process, or from the far end of its machine.
func (r *running) end(ctx context.Context, e process.End) error {
	done := make(chan error, 1)
	go func() { done <- process.EndOn(context.WithoutCancel(ctx), r.host, e) }()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-done:
		return err
	}
}

// commandWait limits the time of one command of the file.
const commandWait = 5 * time.Minute

// A CommandError is a command that failed.
type CommandError struct {
	Command, Output string
	Status          int
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("the command %q ended with status %d: %s", e.Command, e.Status, e.Output)
}

// command runs a shell command of the file on the machine of a service.
func (s *Subject) command(ctx context.Context, r *running, text string, env ...string) error {
	return s.shell(ctx, r.host, host.Command{Env: r.environment(env...), Dir: s.folder(r)}, text)
}

// shell runs a shell command on a machine, in the folder and the environment of c.
func (s *Subject) shell(ctx context.Context, on host.Host, c host.Command, text string) error {
	ctx, cancel := context.WithTimeout(ctx, commandWait)
	defer cancel()
	c.Path, c.Args = "/bin/sh", []string{"-c", text}
	res, err := on.Exec(ctx, c)
	if err != nil {
		return err
	}
	if res.Status != 0 {
		return &CommandError{text, firstLines(res.Output), res.Status}
	}
	return nil
}

// firstLines is the begin of an output, printable.
func firstLines(b []byte) string {
	return plain.Cut(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(string(b)), "?")), 1000)
}

// refind finds the process of a service again.
func (s *Subject) refind(r *running) error {
	if p := r.process(); p != nil && p.Alive(r.host) && r.Listen == "" && r.Socket == "" && r.Unit == "" {
		return r.isAgain(p) // a job: it is found by its process
	}
	m, err := process.ReadMachine(r.host)
	if err != nil {
		return err
	}
	p, err := Find(m, r.Service)
	if err == nil {
		err = r.isAgain(p)
	}
	if err == nil { // another program at its address is not the service: the next restart must not end it
		r.set(p)
	}
	return err
}

// writePID writes the id of the process into the files that held that of the process
// before: scripts and supervisors of the site end the service by them. A file that the
// service writes itself has the new id by now, because the service answers.
func (s *Subject) writePID(r *running) error {
	p := r.process()
	if r.PIDFile == "" || p == nil || r.Method() != target.ByProcess || r.far() {
		return nil
	}
	before := r.filed
	r.filed = p.PID
	siblings, _ := r.host.Glob(filepath.Join(filepath.Dir(r.PIDFile), "*.pid")) // the pattern is well formed
	for _, path := range append(siblings, r.PIDFile) {
		b, err := r.host.Read(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the process id of service %s: %w", r.Name, err)
		}
		old := strings.TrimSpace(string(b))
		writesItself := process.EngineOf(r.Engine).WritesPID
		if _, err := strconv.Atoi(old); err != nil || old == strconv.Itoa(p.PID) ||
			old != strconv.Itoa(before) && (path != r.PIDFile || writesItself) { // of another service
			continue
		}
		if err := r.host.Write(path, []byte(strings.Replace(string(b), old, strconv.Itoa(p.PID), 1)), 0o644); err != nil {
			return fmt.Errorf("writing the process id of service %s: %w", r.Name, err)
		}
	}
	return nil
}

// Kill implements field.Subject. A service that iikanji starts itself is started
// also if iikanji ends before it does so.
func (s *Subject) Kill(ctx context.Context) error {
	for _, name := range s.names { // before the first one is killed
		if r := s.running()[name]; r.origin != nil {
			if err := r.mayEnd(); err != nil {
				return err
			}
		}
	}
	var errs []error
	for _, name := range s.names {
		r := s.running()[name]
		r.act.Lock()
		r.expect(true)
		if err := s.kill(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("killing service %s: %w", name, err))
		}
		r.act.Unlock()
	}
	return errors.Join(errs...)
}

func (s *Subject) kill(ctx context.Context, r *running) error {
	e := r.endOf(syscall.SIGKILL)
	if e == nil {
		return nil
	}
	if r.Method() != target.ByProcess || r.far() {
		if err := r.end(ctx, *e); err != nil {
			return err
		}
		r.set(nil)
		return nil
	}
	spec, err := s.specOf(r)
	if err != nil {
		return err
	}
	r.ends()
	held, err := process.Hold(ctx, e, spec, r.origin.Files)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.held, r.proc = held, nil
	r.mu.Unlock()
	return nil
}
