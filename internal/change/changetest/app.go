package changetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/change"
)

// An App is the source of a Go program, with a supervisor that compiles and runs
// it. The program listens on the unix socket that is its first argument, and
// answers each connection with a description of its setup.
//
// The supervisor is part of the test process. The child that is killed sends it
// requests over a socket, as iikanji does with a stack's supervisor.
type App struct {
	Dir string
	Env []string // of the program, without the variables of EnvFile
	// Start is the command line of an App that is not compiled, run in the folder of the
	// source. It listens on the unix socket "sock" above that folder, and answers requests
	// of HTTP; the body counts.
	Start []string

	mu  sync.Mutex
	run *exec.Cmd
}

// Service is the App's name among a site's services.
const Service = "app"

// NewApp writes files into the source folder and starts the program. In the
// child it uses the parent's App.
func NewApp(t *testing.T, files map[string]string, env ...string) *App {
	t.Helper()
	return newApp(t, &App{Env: env}, files)
}

func newApp(t *testing.T, a *App, files map[string]string) *App {
	t.Helper()
	if a.Dir = ChildDir(); a.Dir != "" {
		return a
	}
	var err error
	if a.Dir, err = os.MkdirTemp("", "app"); err != nil { // short, because of the sockets in it
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(a.Dir) })
	for name, text := range files {
		a.Write(t, name, text)
	}
	l, err := net.Listen("unix", a.control())
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { a.supervise(l) })
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
		a.stop()
	})
	if err := a.restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

// NewServer is NewApp for a program that is not compiled.
func NewServer(t *testing.T, files map[string]string, start []string, env ...string) *App {
	t.Helper()
	return newApp(t, &App{Env: env, Start: start}, files)
}

// Path returns a path in the App's folder.
func (a *App) Path(name string) string { return filepath.Join(a.Dir, name) }

// Source returns a path in the folder of the program's source.
func (a *App) Source(name string) string { return filepath.Join(a.Dir, "src", name) }

// EnvFile returns the path of the file with variables that are read at each
// start.
func (a *App) EnvFile() string { return a.Path("app.env") }

// ArgsFile returns the path of the file with the command line that replaces Start.
func (a *App) ArgsFile() string { return a.Path("app.args") }

func (a *App) control() string { return a.Path("control") }

// Write writes a source file.
func (a *App) Write(t *testing.T, name, text string) {
	t.Helper()
	path := a.Source(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// Open returns the site in dir.
func (a *App) Open(dir string) *change.Site {
	in := &App{Dir: dir, Env: a.Env, Start: a.Start}
	if len(a.Start) > 0 {
		return &change.Site{Roots: []string{dir}, Services: map[string]change.Service{Service: {
			EnvFile: in.EnvFile(), ArgsFile: in.ArgsFile(), Env: in.Env, Running: Running{OnRestart: in.askRestart, PIDs: in.processes}}}}
	}
	return &change.Site{Roots: []string{dir}, Services: map[string]change.Service{Service: {
		Source: in.Source(""), EnvFile: in.EnvFile(), Env: in.Env,
		Builds: true, Running: Running{OnBuild: in.build, OnRestart: in.askRestart}}}}
}

// State returns the source and setup in the App's folder, and the program's
// answer.
func (a *App) State() (string, error) {
	text, err := Tree(a.Source(""))
	if err != nil {
		return "", err
	}
	env, err := os.ReadFile(a.EnvFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	text += fmt.Sprintf("== app.env %v\n%s", err == nil, env)
	args, err := os.ReadFile(a.ArgsFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	text += fmt.Sprintf("== app.args %v\n%s", err == nil, args)
	left, err := filepath.Glob(a.Path(".*"))
	if err != nil {
		return "", err
	}
	said, err := a.Ask()
	return fmt.Sprintf("%sbeside it: %v\nit says: %s", text, left, said), err
}

// Ask returns the program's answer.
func (a *App) Ask() (string, error) {
	c, err := net.Dial("unix", a.Path("sock"))
	if err != nil {
		return "", err
	}
	defer c.Close()
	if len(a.Start) > 0 {
		return askHTTP(c)
	}
	// A program that also serves requests is asked without one.
	if u, ok := c.(*net.UnixConn); ok {
		_ = u.CloseWrite() // fails if the program has answered and closed already
	}
	b, err := io.ReadAll(c)
	if err == nil && len(b) == 0 {
		err = errors.New("the app says nothing")
	}
	return string(b), err
}

// askHTTP returns the body of an answer.
func askHTTP(c net.Conn) (string, error) {
	if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	head, body, ok := strings.Cut(string(b), "\r\n\r\n")
	if err == nil && (!ok || !strings.Contains(head, " 200 ")) {
		err = fmt.Errorf("the app answers %q", head)
	}
	return body, err
}

// processes is the id of the program that runs.
func (a *App) processes() []int {
	b, err := os.ReadFile(a.Path("app.pid"))
	if err != nil {
		return nil
	}
	pid, err := strconv.Atoi(string(b))
	if err != nil {
		return nil
	}
	return []int{pid}
}

// build compiles the program of a folder.
func (a *App) build(ctx context.Context, dir string) error {
	_, err := a.program(ctx, dir)
	return err
}

// program returns the program that the go command makes of a folder. Equal
// sources are compiled once. Nothing is downloaded: the go command has no
// network.
func (a *App) program(ctx context.Context, dir string) (string, error) {
	text, err := tree(dir, false)
	if err != nil {
		return "", err
	}
	out := a.Path("app-" + string(change.FingerprintOf([]byte(text))))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	half := fmt.Sprintf("%s.%d", out, os.Getpid())
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", half, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly", "GOPROXY=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, b)
	}
	return out, os.Rename(half, out)
}

// supervise restarts the program on request, one request at a time.
func (a *App) supervise(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		answer := "done"
		// A restart continues even if the process that requested it was killed.
		if err := a.restart(context.Background()); err != nil {
			answer = err.Error()
		}
		_, _ = io.WriteString(c, answer)
		c.Close()
	}
}

// askRestart sends the supervisor a restart request and waits until it is done.
func (a *App) askRestart(ctx context.Context) error {
	c, err := new(net.Dialer).DialContext(ctx, "unix", a.control())
	if err != nil {
		return err
	}
	defer c.Close()
	b, err := io.ReadAll(c)
	if err == nil && string(b) != "done" {
		err = errors.New(string(b))
	}
	if err != nil {
		return fmt.Errorf("restarting the app: %w", err)
	}
	return nil
}

// command is the command of the program: compiled of the present source, or Start.
func (a *App) command(ctx context.Context) (*exec.Cmd, error) {
	if len(a.Start) == 0 {
		program, err := a.program(ctx, a.Source(""))
		return exec.Command(program, a.Path("sock")), err
	}
	var args []string
	b, err := os.ReadFile(a.ArgsFile())
	if err == nil {
		err = json.Unmarshal(b, &args)
	} else if errors.Is(err, fs.ErrNotExist) {
		args, err = a.Start, nil
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = a.Source("")
	return cmd, nil
}

// restart starts the program of the present source and setup.
func (a *App) restart(ctx context.Context) error {
	cmd, err := a.command(ctx)
	if err != nil {
		return err
	}
	a.stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	env, err := os.ReadFile(a.EnvFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(a.Path("sock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	a.run = cmd
	a.run.Env = append(os.Environ(), a.Env...)
	for line := range strings.Lines(string(env)) {
		a.run.Env = append(a.run.Env, strings.TrimSpace(line)) // comment lines give variables that no program reads
	}
	a.run.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(a.Path("app.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	a.run.Stdout, a.run.Stderr = log, log
	if err := a.run.Start(); err != nil {
		return err
	}
	if err := os.WriteFile(a.Path("app.pid"), []byte(strconv.Itoa(a.run.Process.Pid)), 0o644); err != nil {
		return err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err = a.Ask(); err == nil {
			return nil
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("%w; its output: %s", err, text)
		}
	}
}

func (a *App) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.run != nil && a.run.Process != nil {
		end := syscall.SIGKILL
		if len(a.Start) > 0 {
			end = syscall.SIGINT // a server ends its own processes then, without waiting for requests
		}
		_ = a.run.Process.Signal(end)
		_ = a.run.Wait()
	}
	a.run = nil
}
