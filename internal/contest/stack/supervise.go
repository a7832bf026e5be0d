package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// armed is set if this binary can be its own supervisor. Without the check, a
// program that never calls MaybeSupervise would start copies of itself endlessly.
var armed atomic.Bool

// MaybeSupervise turns the process into a stack's supervisor if it was executed
// as one, and then never returns. It must be the first call of main, and of
// TestMain in tests that bring a stack up.
func MaybeSupervise() {
	armed.Store(true)
	limited()
	if len(os.Args) != 2 || os.Args[0] != supervisorName {
		return
	}
	if err := supervise(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "iikanji: supervising %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A supervisor is one loop in one thread. Only this thread forks, reaps and
// signals, so these operations cannot race. The parent-death signal of a child is
// bound to the forking thread, which here lives as long as the supervisor.
type supervisor struct {
	dir      string
	conn     *net.UnixConn
	children map[string]*child
	closing  bool
	cpus     unix.CPUSet // the supervisor's own at its start
	mark     string      // every child inherits it, see leftovers
}

type child struct {
	spec
	proc
	stopping bool
	step     int       // index into Stop; len(Stop) is SIGKILL
	due      time.Time // of the next step
	waiters  []int     // requests to answer when the child has ended
}

// lastWait limits the wait for a killed process. The kernel may not end it (a
// dead disk), and the supervisor must not hang then.
const lastWait = 10 * time.Second

func supervise(dir string) error {
	runtime.LockOSThread()
	unix.CloseOnExec(socketFD)
	unix.CloseOnExec(lockFD)
	s := &supervisor{dir: dir, children: map[string]*child{}}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming a subreaper: %w", err)
	}
	if err := unix.SchedGetaffinity(0, &s.cpus); err != nil {
		return fmt.Errorf("asking for our CPUs: %w", err)
	}
	c, err := net.FileConn(os.NewFile(socketFD, "socket"))
	if err != nil {
		return fmt.Errorf("taking the socket: %w", err)
	}
	s.conn = c.(*net.UnixConn)
	if err := s.record(); err != nil {
		return err
	}
	s.loop()
	return s.sweep()
}

// loop ends when every child has been stopped and has ended.
func (s *supervisor) loop() {
	signals := make(chan os.Signal, 16)
	// Caught, not ignored: children would inherit an ignored signal.
	signal.Notify(signals, unix.SIGCHLD, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGPIPE)
	requests := make(chan request)
	go s.read(requests)
	s.send(event{ID: -1}) // hello
	for !s.closing || len(s.children) > 0 {
		select {
		case r, ok := <-requests:
			if !ok {
				requests, s.closing = nil, true
				break
			}
			s.serve(r)
		case sig := <-signals:
			s.closing = s.closing || sig == unix.SIGTERM
		case <-s.next():
		}
		s.reap()
		s.advance(time.Now())
	}
}

// read passes requests from the socket to a channel and closes it when the
// stack has ended.
func (s *supervisor) read(requests chan<- request) {
	defer close(requests)
	for d := json.NewDecoder(s.conn); ; {
		var r request
		if d.Decode(&r) != nil {
			return
		}
		requests <- r
	}
}

// send sends an event to the stack; it gives up after a second.
func (s *supervisor) send(e event) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = json.NewEncoder(s.conn).Encode(e) // if the stack has ended, read notices
}

// next fires when the next stop step of a child is due.
func (s *supervisor) next() <-chan time.Time {
	var first time.Time
	for _, c := range s.children {
		if c.stopping && (first.IsZero() || c.due.Before(first)) {
			first = c.due
		}
	}
	if first.IsZero() {
		return nil
	}
	return time.After(time.Until(first))
}

func (s *supervisor) serve(r request) {
	switch r.Op {
	case opStart:
		p, err := s.start(*r.Spec)
		e := event{ID: r.ID, Name: r.Spec.Name, Proc: &p}
		if err != nil {
			e = event{ID: r.ID, Error: err.Error()}
		}
		s.send(e)
	case opStop:
		c := s.children[r.Name]
		if c == nil {
			s.send(event{ID: r.ID})
			return
		}
		c.waiters = append(c.waiters, r.ID)
		c.beginStop(time.Now())
	case opSignal:
		e := event{ID: r.ID}
		// A child that is not reaped yet keeps its pid.
		if c := s.children[r.Name]; c == nil {
			e.Error = fmt.Sprintf("the %s does not run", r.Name)
		} else if err := unix.Kill(c.PID, r.Signal); err != nil {
			e.Error = err.Error()
		}
		s.send(e)
	case opDown:
		s.closing = true
	case opKill:
		s.closing = true
		for _, c := range s.children {
			c.stopping, c.step, c.due = true, len(c.Stop), time.Now()
		}
	}
}

// start forks a process and records it. Between the two, only its session and
// its mark identify the process (see leftovers).
func (s *supervisor) start(sp spec) (proc, error) {
	if s.closing {
		return proc{}, errors.New("the stack is stopping")
	}
	if s.children[sp.Name] != nil {
		return proc{}, fmt.Errorf("the %s runs already", sp.Name)
	}
	pid, err := s.fork(sp)
	if err != nil {
		return proc{}, err
	}
	p, err := readProc(pid)
	if err != nil { // cannot happen: a child that is not reaped is in /proc
		p = proc{PID: pid}
	}
	s.children[sp.Name] = &child{spec: sp, proc: p}
	if err := s.record(); err != nil {
		_ = unix.Kill(-pid, unix.SIGKILL)
		return proc{}, err
	}
	return p, nil
}

func (s *supervisor) fork(sp spec) (int, error) {
	in, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := openLog(sp)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	argv0 := sp.Path
	if len(sp.Limits) > 0 {
		if sp, err = sp.through(os.Getpid()); err != nil {
			return 0, err
		}
		argv0 = limitedName
	}
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if sp.Drop {
		attr.Credential = &syscall.Credential{Uid: uint32(sp.UID), Gid: uint32(sp.GID)}
	}
	cpus := s.cpus
	if sp.CPUs != nil {
		cpus.Zero()
		for _, c := range sp.CPUs {
			cpus.Set(c)
		}
	}
	// The child inherits this thread's CPU affinity.
	if err := unix.SchedSetaffinity(0, &cpus); err != nil {
		return 0, fmt.Errorf("pinning the %s to CPUs %v: %w", sp.Name, sp.CPUs, err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &s.cpus) }()
	pid, err := syscall.ForkExec(sp.Path, append([]string{argv0}, sp.Args...), &syscall.ProcAttr{
		Dir: sp.Dir, Env: append(sp.Env, s.mark), Sys: attr,
		Files: []uintptr{in.Fd(), out.Fd(), out.Fd()},
	})
	if err != nil {
		return 0, fmt.Errorf("executing %s: %w", sp.Path, err)
	}
	return pid, nil
}

// openLog never follows a symbolic link: the services' user can write to the log
// folder, and the supervisor may be root.
func openLog(sp spec) (*os.File, error) {
	f, err := os.OpenFile(sp.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o640)
	if err != nil {
		return nil, fmt.Errorf("opening the log of the %s: %w", sp.Name, err)
	}
	if sp.Drop {
		if err := f.Chown(sp.UID, sp.GID); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// reap reaps ended children, including orphans that it inherited as subreaper.
func (s *supervisor) reap() {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		for _, c := range s.children {
			if c.PID == pid {
				s.ended(c, ws)
				break
			}
		}
	}
}

// ended kills the rest of a process's group, reports its end and answers waiting
// stop requests.
func (s *supervisor) ended(c *child, ws unix.WaitStatus) {
	_ = unix.Kill(-c.PID, unix.SIGKILL)
	delete(s.children, c.Name)
	_ = s.record() // an ended process in the record does no harm
	for _, path := range c.Sweep {
		_ = os.Remove(path)
	}
	s.send(event{Name: c.Name, Proc: &c.proc, Status: statusText(ws), OK: ws.Exited() && ws.ExitStatus() == 0, Stopped: c.stopping})
	for _, id := range c.waiters {
		s.send(event{ID: id})
	}
}

func statusText(ws unix.WaitStatus) string {
	if ws.Signaled() {
		return "signal: " + ws.Signal().String()
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}

// advance starts to stop the children of the highest rank if the stack is going
// down, and takes the next stop step of each child whose wait is over.
func (s *supervisor) advance(now time.Time) {
	if s.closing {
		top := -1
		for _, c := range s.children {
			top = max(top, c.Rank)
		}
		for _, c := range s.children {
			if c.Rank == top {
				c.beginStop(now)
			}
		}
	}
	for name, c := range s.children {
		if !c.stopping || now.Before(c.due) {
			continue
		}
		if c.step > len(c.Stop) { // SIGKILL had no effect either
			delete(s.children, name)
			continue
		}
		if c.step == len(c.Stop) {
			_ = unix.Kill(-c.PID, unix.SIGKILL)
			c.due = now.Add(lastWait)
		} else {
			_ = unix.Kill(c.PID, c.Stop[c.step].Signal)
			c.due = now.Add(time.Duration(c.Stop[c.step].WaitMS) * time.Millisecond)
		}
		c.step++
	}
}

// beginStop starts the stop steps of a child.
func (c *child) beginStop(now time.Time) {
	if !c.stopping {
		c.stopping, c.due = true, now
	}
}

// record writes processes.json.
func (s *supervisor) record() error {
	self, err := readProc(os.Getpid())
	if err != nil {
		return err
	}
	rec := processes{Boot: bootID(), Supervisor: self, Services: map[string]proc{}, Jobs: map[string]proc{}}
	s.mark = mark(rec)
	for name, c := range s.children {
		if c.Rank == rankJob {
			rec.Jobs[name] = c.proc
		} else {
			rec.Services[name] = c.proc
		}
	}
	b, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	return host.Local{}.Write(filepath.Join(s.dir, processesFile), append(b, '\n'), 0o644)
}

// sweep kills processes that left their process group (for example a daemon of
// the app) and became children of the supervisor when their parent died.
func (s *supervisor) sweep() error {
	for end := time.Now().Add(lastWait); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s.reap()
		left := slices.DeleteFunc(descendants(os.Getpid()), func(p proc) bool { return p.state == 'Z' })
		if len(left) == 0 {
			break
		}
		for _, p := range left {
			_ = unix.Kill(p.PID, unix.SIGKILL)
		}
	}
	s.reap()
	return os.Remove(filepath.Join(s.dir, processesFile))
}
