package livesite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/facts"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A running is one service with its process of this moment, and how the process
// was found at first. A restart starts it as it was found at first.
type running struct {
	*target.Service
	host    host.Host       // the machine that it runs on
	origin  *process.Origin // nil unless iikanji ends the process and starts it again
	script  *process.Process
	keeper  *keeper       // that had started the process; nil for none
	started *process.Spec // the last start by iikanji, of a process that it ended; nil for none
	// act is locked for a restart: one at a time.
	act sync.Mutex

	// filed is the id of the process that the service's pid files held last. Only a
	// restart reads and sets it.
	filed int

	mu    sync.Mutex
	proc  *process.Process // nil while the service is down
	since time.Time        // the last start by iikanji; zero for none
	asked bool             // its end was asked for
	held  *process.Held    // not nil: the process was ended and waits to be started
	child *process.Child   // the process that iikanji started; nil for none
}

// safes are scripts that start a database server again when it was killed.
var safes = []string{"mysqld_safe", "mariadbd-safe", "safe_mysqld"}

// found takes down how a service of a machine runs; unread is why the machine could not be
// read.
func found(ctx context.Context, m *process.Machine, s *target.Service, unread error) (*running, error) {
	if unread != nil {
		return nil, &NotRunningError{Service: s.Name, Err: unread}
	}
	if s.InFiles() {
		return &running{Service: s, host: m.Host}, nil
	}
	p, err := Find(m, s)
	if err != nil {
		return nil, err
	}
	r := &running{Service: s, host: m.Host, proc: p, filed: p.PID}
	if parent := m.Processes[p.Parent]; parent != nil {
		for _, name := range safes {
			if strings.Contains(parent.Command(), name) {
				r.script = parent
			}
		}
	}
	if s.Method() != target.ByProcess || r.far() {
		return r, nil
	}
	if r.origin, err = process.Found(p); err != nil {
		return nil, fmt.Errorf("service %s: %w", s.Name, err)
	}
	r.keeper = keeperOf(m.Processes[p.Parent])
	r.askRedis(ctx)
	return r, nil
}

// askRedis asks a Redis how it is started: it has written a title over its command line,
// and with that it would listen at its default port, for all. Where it does not answer, it
// is not restarted.
func (r *running) askRedis(ctx context.Context) {
	o := r.origin
	if r.Engine != iikanji.EngineRedis || o.Way.Err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, oneAsk)
	defer cancel()
	network, address := "tcp", r.Listen
	if r.Socket != "" {
		network, address = "unix", r.Socket
	}
	program, args, err := facts.RedisStart(ctx, r.host, network, address)
	if err != nil {
		o.Notes = append(o.Notes, fmt.Sprintf("it cannot be started again: %v", err))
		return
	}
	// A Redis that was found by PATH believes to be in its working folder.
	for _, path := range []string{program, filepath.Join(filepath.Dir(o.Spec.Path), filepath.Base(program))} {
		if sameFile(path, o.Spec.Path) {
			o.Learn(path, args, "with the settings that it reports")
			return
		}
	}
	o.Notes = append(o.Notes, fmt.Sprintf("it cannot be started again: it calls itself %s, but its process runs %s",
		program, o.Spec.Path))
}

// env is the environment with which the service was found; nil where iikanji does not start it.
func (r *running) env() []string {
	if r.origin == nil {
		return nil
	}
	return r.origin.Spec.Env
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// process is the process of this moment, nil if the service is down.
func (r *running) process() *process.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.proc
}

func (r *running) set(p *process.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proc = p
}

// forget notes that a process has ended, unless a restart has set another one meanwhile.
func (r *running) forget(old *process.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.proc != nil && r.proc.ID() == old.ID() {
		r.proc = nil
	}
}

// begins notes that the service was started.
func (r *running) begins() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since = time.Now()
}

// expect notes that the end of the process is asked for.
func (r *running) expect(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = on
}

// stopWait is how long a service may take to end before it is killed.
const stopWait = 30 * time.Second

// endOf describes how the process is ended.
func (r *running) endOf(sig syscall.Signal) *process.End {
	p := r.process()
	if p == nil {
		return nil
	}
	e := &process.End{ID: p.ID()}
	if sig != syscall.SIGKILL {
		e.Steps = []process.Step{{Signal: sig, Wait: stopWait}}
	}
	if r.script != nil && sig == syscall.SIGKILL { // it would start the server again
		e.First = []process.ID{r.script.ID()}
	} else if r.script != nil { // it ends with the server
		e.Others = []process.ID{r.script.ID()}
	}
	return e
}
