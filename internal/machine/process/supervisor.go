package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// keeperName is the name under which this binary is a supervisor.
const keeperName = "iikanji-keeper"

// armed is set if this binary can be its own supervisor. Without the check, a
// program that never calls MaybeKeep would start copies of itself.
var armed atomic.Bool

// Descriptors of a supervisor.
const (
	jobFD   = 3
	replyFD = 4
	firstFD = 5 // the standard files of the process: three
)

// A job is what a supervisor does: it ends a process, waits for the word to go
// on, and starts a process. Without Start it ends then.
type job struct {
	End   *End
	Hold  bool
	Start *Spec
}

// A reply is one message of a supervisor.
type reply struct {
	Ended  bool   `json:",omitempty"`
	PID    int    `json:",omitempty"`
	Status string `json:",omitempty"` // how the process ended
	Error  string `json:",omitempty"`
}

// MaybeKeep turns the process into a supervisor if it was executed as one, and
// then never returns. It must be called at the begin of main, and of TestMain in
// tests that restart processes.
func MaybeKeep() {
	armed.Store(true)
	if len(os.Args) != 1 || os.Args[0] != keeperName {
		return
	}
	keep()
	os.Exit(0)
}

// keep does the job. It never gives up because iikanji has ended.
func keep() {
	runtime.LockOSThread() // CPUs are those of a thread
	for fd := jobFD; fd < firstFD+3; fd++ {
		unix.CloseOnExec(fd)
	}
	// Caught, not ignored: the process would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGPIPE)
	out := json.NewEncoder(os.NewFile(replyFD, "reply"))
	in := json.NewDecoder(os.NewFile(jobFD, "job"))
	var j job
	if err := in.Decode(&j); err != nil {
		return // iikanji ended before it gave the job: nothing was changed
	}
	tell := func(r reply) { _ = out.Encode(r) } // iikanji may have ended
	if j.End != nil {
		if err := j.End.Do(); err != nil {
			tell(reply{Error: err.Error()})
			return
		}
		tell(reply{Ended: true})
	}
	if j.Start == nil {
		return
	}
	if j.Hold {
		var next Spec
		if in.Decode(&next) == nil { // the end of iikanji is a word to go on, too
			j.Start = &next
		}
	}
	pid, err := start(*j.Start)
	if err != nil {
		tell(reply{Error: err.Error()})
		return
	}
	tell(reply{PID: pid})
	for fd := firstFD; fd < firstFD+3; fd++ {
		_ = unix.Close(fd) // a reader of the output sees its end with the process
	}
	tell(reply{Status: wait(pid)})
}

// start forks and executes the process, in a session of its own.
func start(s Spec) (int, error) {
	if err := s.apply(); err != nil {
		return 0, err
	}
	attr := &syscall.SysProcAttr{Setsid: true, Credential: s.credential()}
	pid, err := syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Sys: attr, Files: []uintptr{firstFD, firstFD + 1, firstFD + 2}})
	if err != nil {
		return 0, fmt.Errorf("executing %s: %w", s.Path, err)
	}
	return pid, nil
}

// wait returns how the process ended.
func wait(pid int) string {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err.Error()
		case ws.Signaled():
			return "signal: " + ws.Signal().String()
		}
		return fmt.Sprintf("exit status %d", ws.ExitStatus())
	}
}
