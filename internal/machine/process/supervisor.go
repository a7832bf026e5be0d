package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// armed is set if this binary can be its own supervisor. Without the check, a
// program that never calls MaybeSupervise would start copies of itself endlessly.
var armed atomic.Bool

// MaybeSupervise turns the process into a supervisor, or into the step between fork and
// execution of one's process, if it was executed as such, and then never returns. It must
// be the first call of main, and of TestMain in tests that start or restart services.
func MaybeSupervise() {
	armed.Store(true)
	maybeStart()
	if len(os.Args) != 2 || os.Args[0] != supervisorName {
		return
	}
	if err := supervise(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "iikanji: supervising: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A supervisor is one loop in one thread. Only this thread forks and reaps, so these
// cannot race. The parent-death signal of a child is bound to the forking thread, which
// here lives as long as the supervisor. Signals are sent to identities, also by others.
type supervisor struct {
	supervised
	conn     *net.UnixConn
	children map[string]*child
	closing  bool
	hurry    context.Context // ends when the gentle steps are over for all
	kill     context.CancelFunc
	stuck    chan *child // children that do not end, not even killed
	owed     *Spec       // to be started when iikanji ends; nil for nothing
	mark     string      // every child inherits it, see Record.Mark
}

type child struct {
	Spec
	ID
	stopping bool
	waiters  []int // requests to answer when the child has ended
}

func supervise(told string) error {
	runtime.LockOSThread()
	s := &supervisor{children: map[string]*child{}, stuck: make(chan *child, 1)}
	if err := json.Unmarshal([]byte(told), &s.supervised); err != nil {
		return err
	}
	for fd := socketFD; fd < filesFD+3; fd++ {
		unix.CloseOnExec(fd)
	}
	s.hurry, s.kill = context.WithCancel(context.Background())
	defer s.kill()
	if !s.Outlives {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("becoming a subreaper: %w", err)
		}
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
				requests = nil
				s.left()
				break
			}
			s.serve(r)
		case sig := <-signals:
			s.closing = s.closing || sig == unix.SIGTERM && !s.Outlives
		case c := <-s.stuck:
			delete(s.children, c.Name)
		}
		s.reap()
		s.advance()
	}
}

// left does what is due when iikanji has ended: all children are stopped, or what is owed
// is started. A supervisor that outlives iikanji ends with its process.
func (s *supervisor) left() {
	s.closing = true
	if s.owed != nil {
		_, _ = s.start(*s.owed) // nobody is left to hear of an error
	}
}

// read passes requests from the socket to a channel and closes it when iikanji has ended.
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

// send sends an event to iikanji; it gives up after a second.
func (s *supervisor) send(e event) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = json.NewEncoder(s.conn).Encode(e) // if iikanji has ended, read notices
}

// answer answers a request.
func (s *supervisor) answer(id int, err error) {
	e := event{ID: id}
	if err != nil {
		e.Error = err.Error()
	}
	s.send(e)
}

func (s *supervisor) serve(r request) {
	switch r.Op {
	case opStart:
		s.owed = nil
		id, err := s.start(*r.Spec)
		if err != nil {
			s.answer(r.ID, err)
			return
		}
		s.send(event{ID: r.ID, Name: r.Spec.Name, Proc: &id})
		if s.Outlives {
			for fd := filesFD; fd < filesFD+3; fd++ {
				_ = unix.Close(fd) // a reader of the output sees its end with the process
			}
		}
	case opHold:
		err := r.End.Do(s.hurry)
		if err == nil {
			s.owed = r.Spec
		}
		s.answer(r.ID, err)
	case opStop:
		c := s.children[r.Name]
		if c == nil {
			s.answer(r.ID, nil)
			return
		}
		c.waiters = append(c.waiters, r.ID)
		s.stop(c)
	case opSignal:
		err := fmt.Errorf("the %s does not run", r.Name)
		if c := s.children[r.Name]; c != nil {
			err = c.Signal(r.Sig)
		}
		s.answer(r.ID, err)
	case opDown:
		s.closing = true
	case opKill:
		s.closing = true
		s.kill()
		for _, c := range s.children {
			s.stop(c)
		}
	}
}

// start forks a process and records it. Between the two, only its session and its mark
// identify the process.
func (s *supervisor) start(sp Spec) (ID, error) {
	if s.closing && !s.Outlives {
		return ID{}, errors.New("the stack is stopping")
	}
	if s.children[sp.Name] != nil {
		return ID{}, fmt.Errorf("the %s runs already", sp.Name)
	}
	pid, err := s.fork(sp)
	if err != nil {
		return ID{}, err
	}
	id, err := IDOf(pid)
	if err != nil { // cannot happen: a child that is not reaped is in /proc
		id = ID{PID: pid}
	}
	s.children[sp.Name] = &child{Spec: sp, ID: id}
	if err := s.record(); err != nil {
		_ = unix.Kill(-pid, unix.SIGKILL)
		return ID{}, err
	}
	return id, nil
}

func (s *supervisor) fork(sp Spec) (int, error) {
	if sp.Log == "" {
		return sp.fork(s.Outlives, [3]uintptr{filesFD, filesFD + 1, filesFD + 2})
	}
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
	sp.Env = append(sp.Env, s.mark)
	return sp.fork(s.Outlives, [3]uintptr{in.Fd(), out.Fd(), out.Fd()})
}

// openLog never follows a symbolic link: the services' user can write to the log
// folder, and the supervisor may be root.
func openLog(sp Spec) (*os.File, error) {
	f, err := os.OpenFile(sp.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o640)
	if err != nil {
		return nil, fmt.Errorf("opening the log of the %s: %w", sp.Name, err)
	}
	if os.Geteuid() == 0 && sp.UID != 0 {
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
// stop requests. A daemon of a site has left its first process, which ends at once.
func (s *supervisor) ended(c *child, ws unix.WaitStatus) {
	if s.Outlives {
		s.closing = true
	} else {
		_ = unix.Kill(-c.PID, unix.SIGKILL)
	}
	delete(s.children, c.Name)
	_ = s.record() // an ended process in the record does no harm
	for _, path := range c.Sweep {
		_ = os.Remove(path)
	}
	s.send(event{Name: c.Name, Proc: &c.ID, Status: statusText(ws), Stopped: c.stopping,
		OK: ws.Exited() && ws.ExitStatus() == 0})
	for _, id := range c.waiters {
		s.answer(id, nil)
	}
}

func statusText(ws unix.WaitStatus) string {
	if ws.Signaled() {
		return "signal: " + ws.Signal().String()
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}

// advance stops the children of the highest rank if the supervisor is closing.
func (s *supervisor) advance() {
	if !s.closing || s.Outlives {
		return
	}
	top := -1
	for _, c := range s.children {
		top = max(top, c.Rank)
	}
	for _, c := range s.children {
		if c.Rank == top {
			s.stop(c)
		}
	}
}

// stop ends a child by its steps.
func (s *supervisor) stop(c *child) {
	if c.stopping {
		return
	}
	c.stopping = true
	go func() {
		if (End{ID: c.ID, Steps: c.Stop}).Do(s.hurry) != nil && c.Alive() {
			s.stuck <- c
		}
	}()
}

// record writes the file that has the processes of the supervisor.
func (s *supervisor) record() error {
	if s.Record == "" {
		return nil
	}
	self, err := IDOf(os.Getpid())
	if err != nil {
		return err
	}
	rec := Record{Boot: Boot(), Supervisor: self, Services: map[string]ID{}, Jobs: map[string]ID{}}
	s.mark = rec.Mark()
	for name, c := range s.children {
		if c.Rank == RankJob {
			rec.Jobs[name] = c.ID
		} else {
			rec.Services[name] = c.ID
		}
	}
	b, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	return host.Local{}.Write(s.Record, append(b, '\n'), 0o644)
}

// RankJob is the rank of jobs: build, setup, load, check. No arena has as many services.
const RankJob = 1 << 20

// Mark is a variable that every process of a supervisor with a record inherits from it. Its
// value identifies the supervisor.
func (r Record) Mark() string {
	return fmt.Sprintf("IIKANJI_STACK=%d:%d", r.Supervisor.PID, r.Supervisor.Start)
}

// sweep kills processes that left their process group (for example a daemon of
// the app) and became children of the supervisor when their parent died.
func (s *supervisor) sweep() error {
	if s.Outlives {
		return nil
	}
	err := EndAll(context.Background(), nil, func() ([]ID, error) {
		s.reap()
		return Descendants(os.Getpid()), nil
	})
	s.reap()
	return errors.Join(err, os.Remove(s.Record))
}
