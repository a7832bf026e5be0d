package propose

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// wardenName is the variable that makes a process the warden of a proposer.
const wardenName = "IIKANJI_PROPOSER_WARDEN"

// wardenPipe is the descriptor of a warden that is closed when iikanji has ended.
const wardenPipe = 3

// The warden is a process between iikanji and a proposer: iikanji's own program,
// started again. It becomes the parent of every descendant of the proposer whose
// own parent ends, and kills all of them when iikanji has ended, also by kill -9,
// which iikanji itself cannot do then. It runs in init, because any program with
// this package can be started as one.
func init() {
	if os.Getenv(wardenName) != "" {
		os.Exit(warden(os.Args[1:]))
	}
}

// guarded returns a command that runs a proposer below a warden. Call release once
// it has been started.
func guarded(cmd *exec.Cmd) (release func(), err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Path, cmd.Args = "/proc/self/exe", append([]string{"iikanji"}, cmd.Args...)
	cmd.Env = append(cmd.Env, wardenName+"=1")
	cmd.ExtraFiles = []*os.File{r}
	return func() { r.Close(); w.Close() }, nil
}

// warden runs a command and returns its exit status.
func warden(command []string) int {
	if err := errors.Join(os.Unsetenv(wardenName), unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)); err != nil {
		return 126
	}
	syscall.CloseOnExec(wardenPipe)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) // they are for the command, in the same group
	var alone atomic.Bool                                                                   // iikanji has ended
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(wardenPipe, "iikanji"))
		alone.Store(true)
		killDescendants()
		os.Exit(127)
	}()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	runtime.LockOSThread() // the kernel kills the command when the thread that started it ends
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	if alone.Load() {
		select {} // the command was killed; its descendants are next
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() { // so that iikanji sees the signal
			signal.Reset(status.Signal())
			_ = syscall.Kill(os.Getpid(), status.Signal())
			time.Sleep(grace)
		}
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 126
	}
	return 0
}

// killDescendants kills the children of this process until none is left; the
// children of those that it kills become its own.
func killDescendants() {
	for end := time.Now().Add(grace); time.Now().Before(end); {
		children := childrenOf(os.Getpid())
		if len(children) == 0 {
			return
		}
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // os/exec waits for the command itself
		}
		time.Sleep(time.Millisecond)
	}
}
