package process

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

// A Supervisor is iikanji's end of the socket to a supervisor.
type Supervisor struct {
	cmd  *exec.Cmd
	conn *net.UnixConn
	gone chan struct{} // closed when the supervisor has ended

	mu      sync.Mutex
	last    int // ID of the last request
	waiting map[int]chan event
	running map[string]*Child
}

// A Child is a started process.
type Child struct {
	ID
	Name string
	Done chan struct{} // closed when the process has ended; the fields below are valid after that
	// Status is as in "exit status 1"; OK: it is 0; Stopped: iikanji ended the process.
	Status      string
	OK, Stopped bool
	Ended       time.Time // when the supervisor reported the end
}

// Options are what a supervisor is started with.
type Options struct {
	Dir  string   // its folder
	Env  []string // its environment, which its processes do not get
	Log  string   // file for its own output; "" for none
	Lock *os.File // a file that stays open until it ends; nil for none
	// Record is the file with its processes; "" for none.
	Record string
	// Outlives is for one process of a site, which goes on when iikanji ends: the supervisor
	// has its standard files, and ends with it. Another supervisor ends its processes, with
	// all that these have started, when iikanji ends for any reason.
	Outlives bool
	Files    [3]*os.File
}

// helloWait limits the supervisor's start.
const helloWait = 20 * time.Second

// Launch executes this binary again as a supervisor.
func Launch(ctx context.Context, o Options) (*Supervisor, error) {
	if !armed.Load() || os.Getenv(supervisorVariable) != "" {
		panic("BUG: main (in tests: TestMain too) must call process.MaybeSupervise first")
	}
	told, err := json.Marshal(supervised{Record: o.Record, Outlives: o.Outlives})
	if err != nil {
		return nil, err
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making the supervisor's socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "iikanji")
	defer ours.Close() // net.FileConn duplicates the descriptor
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, fmt.Errorf("making the supervisor's socket: %w", err)
	}
	c := &Supervisor{conn: conn.(*net.UnixConn), gone: make(chan struct{}),
		waiting: map[int]chan event{}, running: map[string]*Child{}}
	c.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{supervisorName, string(told)}, Dir: o.Dir,
		ExtraFiles: []*os.File{theirs},
		Env:        append(append([]string{}, o.Env...), supervisorVariable+"=1"), SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if o.Outlives {
		c.cmd.ExtraFiles = append(c.cmd.ExtraFiles, o.Files[:]...)
	} else if o.Lock != nil {
		c.cmd.ExtraFiles = append(c.cmd.ExtraFiles, o.Lock)
	}
	if o.Log != "" {
		out, err := os.OpenFile(o.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o644)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		defer out.Close()
		c.cmd.Stdout, c.cmd.Stderr = out, out
	}
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the supervisor: %w", err), conn.Close())
	}
	_ = theirs.Close() // while this process has it open, the end of the supervisor does not end the socket
	return c, c.hello(ctx, o.Log)
}

// hello waits for the supervisor's first message.
func (c *Supervisor) hello(ctx context.Context, log string) error {
	hello := make(chan event, 1)
	c.waiting[-1] = hello
	go c.read()
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	_, err := c.await(ctx, hello)
	if err == nil {
		return nil
	}
	_ = c.cmd.Process.Kill()
	<-c.gone
	if err = fmt.Errorf("starting the supervisor: %w", err); log != "" {
		err = fmt.Errorf("%w (its log is %s)", err, log)
	}
	return err
}

// read handles the supervisor's events until the supervisor has ended.
func (c *Supervisor) read() {
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
		p.Status = "its supervisor was killed"
		close(p.Done)
		delete(c.running, name)
	}
	close(c.gone)
}

func (c *Supervisor) take(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.ID == 0 {
		if p := c.running[e.Name]; p != nil {
			p.Status, p.OK, p.Stopped, p.Ended = e.Status, e.OK, e.Stopped, time.Now()
			close(p.Done)
			delete(c.running, e.Name)
		}
		return
	}
	if e.Proc != nil { // the answer to a start; it arrives before the event of the process's end
		if p := c.running[e.Name]; p != nil {
			p.ID = *e.Proc
		}
	}
	if w := c.waiting[e.ID]; w != nil {
		delete(c.waiting, e.ID)
		w <- e
	}
}

// ErrSupervisorGone is the error of a request to a supervisor that has ended.
var ErrSupervisorGone = errors.New("the supervisor is gone")

func (c *Supervisor) await(ctx context.Context, answer <-chan event) (event, error) {
	select {
	case e := <-answer:
		if e.Error != "" {
			return e, errors.New(e.Error)
		}
		return e, nil
	case <-c.gone:
		return event{}, ErrSupervisorGone
	case <-ctx.Done():
		return event{}, context.Cause(ctx)
	}
}

// call sends a request and waits for its answer.
func (c *Supervisor) call(ctx context.Context, r request) error {
	answer, err := c.send(r)
	if err != nil {
		return err
	}
	_, err = c.await(ctx, answer)
	return err
}

func (c *Supervisor) send(r request) (<-chan event, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	r.ID = c.last
	answer := make(chan event, 1)
	c.waiting[r.ID] = answer
	_ = c.conn.SetWriteDeadline(time.Now().Add(helloWait))
	if err := json.NewEncoder(c.conn).Encode(r); err != nil {
		return nil, errors.Join(ErrSupervisorGone, err)
	}
	return answer, nil
}

// startWait limits the supervisor's fork and exec.
const startWait = 30 * time.Second

// Start starts a process. It takes no context: a start must run to its end, or
// cleanup would not know the process.
func (c *Supervisor) Start(sp Spec) (*Child, error) {
	p := &Child{Name: sp.Name, Done: make(chan struct{})}
	sp.Env = LastWins(sp.Env)
	c.mu.Lock()
	if c.running[sp.Name] != nil {
		c.mu.Unlock()
		return nil, fmt.Errorf("starting the %s: it runs already", sp.Name)
	}
	c.running[sp.Name] = p
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), startWait)
	defer cancel()
	if err := c.call(ctx, request{Op: opStart, Spec: &sp}); err != nil {
		c.mu.Lock()
		delete(c.running, sp.Name)
		c.mu.Unlock()
		return nil, fmt.Errorf("starting the %s: %w", sp.Name, err)
	}
	return p, nil
}

// LastWins keeps only the last value of each variable. Programs differ in which
// of two values they use; most use the first.
func LastWins(env []string) []string {
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

// Stop ends a process by its stop steps and waits for it. If ctx ends first, the
// steps still continue.
func (c *Supervisor) Stop(ctx context.Context, name string) error {
	if err := c.call(ctx, request{Op: opStop, Name: name}); err != nil {
		return fmt.Errorf("stopping the %s: %w", name, err)
	}
	return nil
}

// Signal sends a signal to a process.
func (c *Supervisor) Signal(ctx context.Context, name string, sig syscall.Signal) error {
	return c.call(ctx, request{Op: opSignal, Name: name, Sig: sig})
}

// Run starts a process and waits for its end; OK in the result means status 0.
func (c *Supervisor) Run(ctx context.Context, sp Spec) (*Child, error) {
	p, err := c.Start(sp)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.Done:
		return p, nil
	case <-ctx.Done():
		_ = c.Stop(context.Background(), sp.Name) // the stop steps limit the wait; the error to return is ctx's
		return nil, fmt.Errorf("running the %s: %w", sp.Name, ctx.Err())
	}
}

// Down stops everything and waits for the supervisor's end. If ctx ends first,
// the remaining processes are killed.
func (c *Supervisor) Down(ctx context.Context) error {
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

// Kill kills the supervisor itself, whose processes are left to the next start.
func (c *Supervisor) Kill() error { return c.cmd.Process.Kill() }
