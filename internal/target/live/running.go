package live

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/target"
	"github.com/iikanji/iikanji/internal/target/keeper"
	"github.com/iikanji/iikanji/internal/target/machine"
)

// A running is one service with its process of this moment, and how the process
// was found at first. A restart starts it as it was found at first.
type running struct {
	*target.Service
	spec   keeper.Spec
	files  [3]*os.File
	notes  []string // what a restart cannot take over
	script *machine.Process
	// act is locked for a restart: one at a time.
	act sync.Mutex

	mu     sync.Mutex
	proc   *machine.Process // nil while the service is down
	asked  bool             // its end was asked for
	held   *keeper.Handle   // not nil: the process was ended and waits to be started
	status <-chan string    // how the process ended; nil for one that iikanji did not start
}

// safes are scripts that start a database server again when it was killed.
var safes = []string{"mysqld_safe", "mariadbd-safe", "safe_mysqld"}

// found takes down how a service runs.
func found(m *machine.Machine, s *target.Service) (*running, error) {
	if s.InFiles() {
		return &running{Service: s}, nil
	}
	p, err := Find(m, s)
	if err != nil {
		return nil, err
	}
	r := &running{Service: s, proc: p}
	if parent := m.Processes[p.Parent]; parent != nil {
		for _, name := range safes {
			if strings.Contains(parent.Command(), name) {
				r.script = parent
			}
		}
	}
	if s.Method() != target.ByProcess {
		return r, nil
	}
	r.spec, r.files, r.notes, err = keeper.Found(p)
	if err != nil {
		return nil, fmt.Errorf("service %s: %w", s.Name, err)
	}
	return r, nil
}

func (r *running) close() {
	for _, f := range r.files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// process is the process of this moment, nil if the service is down.
func (r *running) process() *machine.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.proc
}

func (r *running) set(p *machine.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proc = p
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
func (r *running) endOf(sig syscall.Signal) *keeper.End {
	p := r.process()
	if p == nil {
		return nil
	}
	e := &keeper.End{PID: p.PID, Started: p.Started, Signal: sig, Wait: stopWait}
	if r.script != nil {
		// After SIGTERM of the server the script ends by itself; after SIGKILL it
		// would start the server again.
		e.Others = append(e.Others, keeper.Other{PID: r.script.PID, Started: r.script.Started, First: sig == syscall.SIGKILL})
	}
	return e
}
