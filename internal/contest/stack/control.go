package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A control is the stack's end of the socket to its supervisor.
type control struct {
	cmd  *exec.Cmd
	conn *net.UnixConn
	gone chan struct{} // closed when the supervisor has ended

	mu      sync.Mutex
	last    int // ID of the last request
	waiting map[int]chan event
	running map[string]*process
}

// A process is a started child.
type process struct {
	proc
	name string
	done chan struct{} // closed when the process has ended; the fields below are valid after that
	// status is as in "exit status 1"; ok: it is 0; stopped: the stack ended the process.
	status      string
	ok, stopped bool
	ended       time.Time // when the supervisor reported the end
}

// helloWait limits the supervisor's start.
const helloWait = 20 * time.Second

// newControl executes this binary again as the folder's supervisor and passes
// it the open lock file.
func newControl(ctx context.Context, dir, log string, lock *os.File) (*control, error) {
	if !armed.Load() || os.Getenv(supervisorVariable) != "" {
		panic("BUG: main (in tests: TestMain too) must call stack.MaybeSupervise first")
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making the supervisor's socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "stack")
	defer ours.Close() // net.FileConn duplicates the descriptor
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, fmt.Errorf("making the supervisor's socket: %w", err)
	}
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	defer out.Close()
	c := &control{conn: conn.(*net.UnixConn), gone: make(chan struct{}), waiting: map[int]chan event{}, running: map[string]*process{}}
	c.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{supervisorName, dir}, Dir: dir, Stdout: out, Stderr: out,
		Env: append(os.Environ(), supervisorVariable+"=1"), ExtraFiles: []*os.File{theirs, lock}, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the supervisor: %w", err), c.conn.Close())
	}
	hello := make(chan event, 1)
	c.waiting[-1] = hello
	go c.read()
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	if _, err := c.await(ctx, hello); err != nil {
		_ = c.cmd.Process.Kill()
		<-c.gone
		return nil, fmt.Errorf("starting the supervisor: %w (its log is %s)", err, log)
	}
	return c, nil
}

// read handles the supervisor's events until the supervisor has ended.
func (c *control) read() {
	d := json.NewDecoder(c.conn)
	for {
		var e event
		if d.Decode(&e) != nil {
			break
		}
		c.take(e)
	}
	_ = c.conn.Close()
	_ = c.cmd.Wait() // the end of the socket is enough; the exit status adds nothing
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.running {
		p.status = "its supervisor was killed"
		close(p.done)
		delete(c.running, name)
	}
	close(c.gone)
}

func (c *control) take(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.ID == 0 {
		if p := c.running[e.Name]; p != nil {
			p.status, p.ok, p.stopped, p.ended = e.Status, e.OK, e.Stopped, time.Now()
			close(p.done)
			delete(c.running, e.Name)
		}
		return
	}
	if e.Proc != nil { // the answer to a start; it arrives before the event of the process's end
		if p := c.running[e.Name]; p != nil {
			p.proc = *e.Proc
		}
	}
	if w := c.waiting[e.ID]; w != nil {
		delete(c.waiting, e.ID)
		w <- e
	}
}

var errSupervisorGone = errors.New("the stack's supervisor is gone")

func (c *control) await(ctx context.Context, answer <-chan event) (event, error) {
	select {
	case e := <-answer:
		if e.Error != "" {
			return e, errors.New(e.Error)
		}
		return e, nil
	case <-c.gone:
		return event{}, errSupervisorGone
	case <-ctx.Done():
		return event{}, ctx.Err()
	}
}

// call sends a request and waits for its answer.
func (c *control) call(ctx context.Context, r request) (event, error) {
	answer, err := c.send(r)
	if err != nil {
		return event{}, err
	}
	return c.await(ctx, answer)
}

func (c *control) send(r request) (<-chan event, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	r.ID = c.last
	answer := make(chan event, 1)
	c.waiting[r.ID] = answer
	_ = c.conn.SetWriteDeadline(time.Now().Add(helloWait))
	if err := json.NewEncoder(c.conn).Encode(r); err != nil {
		return nil, errors.Join(errSupervisorGone, err)
	}
	return answer, nil
}

// startWait limits the supervisor's fork and exec.
const startWait = 30 * time.Second

// start starts a process. It takes no context: a start must run to its end, or
// cleanup would not know the process.
func (c *control) start(sp spec) (*process, error) {
	p := &process{name: sp.Name, done: make(chan struct{})}
	sp.Env = lastWins(sp.Env)
	c.mu.Lock()
	if c.running[sp.Name] != nil {
		c.mu.Unlock()
		return nil, fmt.Errorf("starting the %s: it runs already", sp.Name)
	}
	c.running[sp.Name] = p
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), startWait)
	defer cancel()
	if _, err := c.call(ctx, request{Op: opStart, Spec: &sp}); err != nil {
		c.mu.Lock()
		delete(c.running, sp.Name)
		c.mu.Unlock()
		return nil, fmt.Errorf("starting the %s: %w", sp.Name, err)
	}
	return p, nil
}

// lastWins keeps only the last value of each variable. Programs differ in which
// of two values they use; most use the first.
func lastWins(env []string) []string {
	at := map[string]int{}
	var out []string
	for _, kv := range env {
		k, _, _ := strings.Cut(kv, "=")
		if i, ok := at[k]; ok {
			out[i] = kv
			continue
		}
		at[k] = len(out)
		out = append(out, kv)
	}
	return out
}

// stop ends a process by its stop steps and waits for it. If ctx ends first, the
// steps still continue.
func (c *control) stop(ctx context.Context, name string) error {
	if _, err := c.call(ctx, request{Op: opStop, Name: name}); err != nil {
		return fmt.Errorf("stopping the %s: %w", name, err)
	}
	return nil
}

// signal sends a signal to a service.
func (c *control) signal(ctx context.Context, name string, sig syscall.Signal) error {
	_, err := c.call(ctx, request{Op: opSignal, Name: name, Signal: sig})
	return err
}

// run starts a process and waits for its end; ok in the result means status 0.
func (c *control) run(ctx context.Context, sp spec) (*process, error) {
	p, err := c.start(sp)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.done:
		return p, nil
	case <-ctx.Done():
		_ = c.stop(context.Background(), sp.Name) // the stop steps limit the wait; the error to return is ctx's
		return nil, fmt.Errorf("running the %s: %w", sp.Name, ctx.Err())
	}
}

// down stops everything and waits for the supervisor's end. If ctx ends first,
// the remaining processes are killed.
func (c *control) down(ctx context.Context) error {
	if _, err := c.send(request{Op: opDown}); err != nil {
		<-c.gone // read sees the closed socket too
		return nil
	}
	select {
	case <-c.gone:
		return nil
	case <-ctx.Done():
	}
	_, _ = c.send(request{Op: opKill}) // no error to handle: a supervisor that has ended has killed its children
	select {
	case <-c.gone:
		return nil
	case <-time.After(2 * lastWait):
	}
	_ = c.cmd.Process.Kill()
	<-c.gone
	return errors.New("stopping the stack: its supervisor did not end and was killed")
}
