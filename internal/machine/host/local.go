package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Local is this machine.
type Local struct{}

// A Command is a program to run to its end.
type Command struct {
	Path string   // absolute
	Args []string // without the program's name
	Env  []string // the whole environment, as "K=V"
	Dir  string
	// As is the user to run the command as; nil means that of this process.
	As *syscall.Credential
}

// A Result is the exit status and the output of a command.
type Result struct {
	Status int // exit status; -1 when a signal ended it
	// Output is the first MaxOutput bytes of standard output and error, in
	// the order in which they were written.
	Output []byte
}

// MaxOutput is the maximum number of bytes of a command's output that are kept. The
// rest is read and dropped, so that no command blocks on a full pipe.
const MaxOutput = 1 << 20

// Exec runs a command and waits for its end. An exit status other than 0 is not an
// error. The end of ctx kills the process group of the command.
func (Local) Exec(ctx context.Context, c Command) (Result, error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	out := &limited{}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, out, out
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean the environment of this process
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.As}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // a daemon that the command started may keep the pipe open
	err := cmd.Run()
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("running %s: %w", c.Path, ctx.Err())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return Result{}, fmt.Errorf("running %s: %w", c.Path, err)
	}
	return Result{Status: cmd.ProcessState.ExitCode(), Output: out.buf.Bytes()}, nil
}

// limited keeps the first MaxOutput bytes.
type limited struct{ buf bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := MaxOutput - l.buf.Len(); room > 0 {
		l.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Read returns a file's whole content.
func (Local) Read(path string) ([]byte, error) { return os.ReadFile(path) }

// Write replaces a file's content atomically: readers see the old or the new
// content, also after a power failure. An existing file keeps its mode and, as far
// as this process may set them, its owner, special bits and extended attributes; a
// new file gets perm, regardless of the umask. A symbolic link stays a link: its
// target is replaced. A kernel variable in /proc or /sys is written in place. Of a
// file with several hard links only this one gets the content: see Replaceable.
func (Local) Write(path string, body []byte, perm os.FileMode) error {
	if err := write(path, body, perm); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
