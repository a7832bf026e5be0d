package worker

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/portal/sandbox"
)

// guardName is argv[0] of this binary when it is a guard.
const guardName = "iikanji-guard"

// A spec is a benchmarker to run under a guard. Its environment may hold secrets.
type spec struct {
	Path   string
	Name   string `json:",omitempty"` // argv[0] in a sandbox; "" for Path
	Args   []string
	Env    []string
	Dir    string
	Silent time.Duration // without a word of the worker for so long, it ends
	Soft   time.Duration // SIGTERM after it, then SIGKILL after Hard
	Hard   time.Duration
	Report bool // the child has descriptor 3 for its report
	// Confine are the rules of the sandbox of a foreign benchmarker; nil runs it without one.
	Confine *sandbox.Rules `json:",omitempty"`
}

// A verdict is what a guard writes at the end.
type verdict struct {
	Exit   int    `json:"exit"` // -1 after a signal
	Signal int    `json:"signal,omitempty"`
	Why    string `json:"why,omitempty"` // why the guard ended it
	Error  string `json:"error,omitempty"`
}

// Descriptors of a guard: standard input has the spec as one line of JSON, then a line for
// each sign of life of the worker; standard output and error are the child's.
const (
	verdictFD = 3
	reportFD  = 4
)

// Reasons of a guard.
const (
	whySilent  = "the portal gave no sign of life"
	whyGone    = "the worker ended"
	whyPaused  = "the machine was paused"
	whyTimeout = "time-out"
)

// MaybeGuard turns the process into a guard if it was executed as one, and then does not
// return, or into a program of a sandbox. It has to be called at the begin of main.
func MaybeGuard() {
	sandbox.MaybeEnter()
	maybeArena()
	if len(os.Args) < 1 || os.Args[0] != guardName {
		return
	}
	v := guard(os.Stdin, os.NewFile(reportFD, "report"))
	text, err := json.Marshal(v)
	if err == nil {
		_, err = os.NewFile(verdictFD, "verdict").Write(text)
	}
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// bootTime is the time since the boot of the machine; it goes on while the machine sleeps and
// while this process is stopped.
func bootTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// guard runs the child of a spec until its end, or ends it.
func guard(in io.Reader, report *os.File) verdict {
	// The parent-death signal of the child is bound to the thread that forks.
	runtime.LockOSThread()
	lines := bufio.NewReader(in)
	first, err := lines.ReadBytes('\n')
	var s spec
	if err == nil {
		err = json.Unmarshal(first, &s)
	}
	if err != nil {
		return verdict{Exit: -1, Error: "reading the job: " + err.Error()}
	}
	// Descendants that leave the group come to this process when their parent ends.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return verdict{Exit: -1, Error: "becoming the reaper: " + err.Error()}
	}
	// A benchmarker must not write a verdict. The lock stays with it: a worker that starts again
	// waits for what a killed guard left.
	unix.CloseOnExec(verdictFD)
	unix.CloseOnExec(reportFD)
	c, err := start(s, report)
	if err != nil {
		return verdict{Exit: -1, Error: "starting the benchmarker: " + err.Error()}
	}
	if err := report.Close(); err != nil { // the child's end is the end of the report
		return verdict{Exit: -1, Error: err.Error()}
	}
	signs := make(chan string, 16)
	go readSigns(lines, signs)
	ended := make(chan error, 1)
	go func() { ended <- c.cmd.Wait() }()
	why := watchChild(s, c, signs, ended)
	v := verdict{Why: why}
	if c.box != nil {
		if err := c.box.End(); err != nil {
			v.Error = err.Error()
		}
	}
	endFamily(c.cmd.Process.Pid)
	v.Exit = c.cmd.ProcessState.ExitCode()
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		v.Signal = int(status.Signal())
	}
	return v
}

// A child is the benchmarker's first process.
type child struct {
	cmd *exec.Cmd
	box *sandbox.Box // nil without a sandbox
}

// start starts the benchmarker of a spec.
func start(s spec, report *os.File) (*child, error) {
	if s.Confine != nil {
		p := sandbox.Program{Path: s.Path, Name: s.Name, Args: s.Args, Env: s.Env, Stdout: os.Stdout, Stderr: os.Stderr}
		if s.Report {
			p.Report = report
		}
		box, err := sandbox.Start(*s.Confine, p)
		if err != nil {
			return nil, err
		}
		return &child{box.Cmd, box}, nil
	}
	cmd := exec.Command(s.Path, s.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.Env, s.Dir, os.Stdout, os.Stderr
	if s.Report {
		cmd.ExtraFiles = []*os.File{report} // descriptor 3 of the child
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return &child{cmd, nil}, cmd.Start()
}

// kill kills the child and its group.
func (c *child) kill() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // they may have ended
	_ = c.cmd.Process.Kill()                              // it may have left its group
}

// readSigns sends the lines of the worker; the channel is closed when the worker is gone.
func readSigns(lines *bufio.Reader, signs chan<- string) {
	defer close(signs)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		signs <- strings.TrimSpace(line)
	}
}

// tick is how often a guard looks at its clocks.
const tick = 200 * time.Millisecond

// watchChild waits for the child's end, and returns why it ended it; "" if it did not.
func watchChild(s spec, c *child, signs <-chan string, ended chan error) (why string) {
	began, heard, seen := bootTime(), bootTime(), bootTime()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	terminated := false
	end := func(reason string, gentle bool) {
		if why == "" {
			why = reason
		}
		if gentle && !terminated {
			terminated = true
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM) // it may have ended by itself
			time.AfterFunc(2*time.Second, c.kill)
			return
		}
		c.kill()
	}
	for {
		select {
		case err := <-ended:
			if err != nil && why == "" && terminated {
				why = whyTimeout
			}
			return why
		case sign, open := <-signs:
			switch {
			case !open:
				end(whyGone, false)
				<-ended
				return why
			case sign == "+":
				heard = bootTime()
			case strings.HasPrefix(sign, "stop "):
				end(strings.TrimPrefix(sign, "stop "), true)
			}
		case <-ticker.C:
			now := bootTime()
			switch {
			case now-seen > s.Silent: // this process did not run: the lease may be over
				end(whyPaused, false)
			case now-heard > s.Silent:
				end(whySilent, false)
			case now-began > s.Hard:
				end(whyTimeout, false)
			case now-began > s.Soft:
				end(whyTimeout, true)
			}
			seen = now
		}
	}
}

// endFamily ends what the child left behind: its group and, since this process is their
// reaper, those that left the group.
func endFamily(group int) {
	_ = syscall.Kill(-group, syscall.SIGKILL) // the group may be empty
	for range 50 {
		rest := process.Descendants(os.Getpid())
		if len(rest) == 0 {
			return
		}
		for _, id := range rest {
			if err := id.Signal(unix.SIGKILL); err != nil {
				fmt.Fprintf(os.Stderr, "iikanji: ending %d: %v\n", id.PID, err)
			}
		}
		var status syscall.WaitStatus
		for {
			if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}
