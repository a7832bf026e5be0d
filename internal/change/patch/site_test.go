package patch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
)

// The app is two files, links fast, and answers HTTP with its greeting.
const (
	mainGo = `package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
)

// main serves on a socket.
func main() {
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			fmt.Fprintf(c, "HTTP/1.0 200 OK\r\n\r\n%s", greeting())
		}
		c.Close()
	}
}
`
	greetGo = `package main

const greetingText = "slow"

func greeting() string {
	return greetingText
}
`
	goMod = "module example.org/app\n\ngo 1.24\n"
)

// A testApp is the source of an app with a supervisor that builds and runs it.
// The supervisor lives in the test process; the child that the conformance
// suite kills asks it over a socket, as iikanji asks who runs a stack.
type testApp struct {
	dir string
	mu  sync.Mutex
	app *exec.Cmd
}

func (a *testApp) path(name string) string { return filepath.Join(a.dir, name) }

// newTestApp starts the app, or finds that of the parent.
func newTestApp(t *testing.T) *testApp {
	t.Helper()
	if dir := changetest.ChildDir(); dir != "" {
		return &testApp{dir: dir}
	}
	dir, err := os.MkdirTemp("", "patch") // short, for the sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	a := &testApp{dir: dir}
	for name, text := range map[string]string{"src/main.go": mainGo, "src/greet.go": greetGo, "src/go.mod": goMod, "src/.git/HEAD": "ref\n"} {
		writeFile(t, a.path(name), text)
	}
	l, err := net.Listen("unix", a.path("control"))
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

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// open gives hands on the site in dir.
func (a *testApp) open(dir string) *change.Site {
	app := change.Service{Source: filepath.Join(dir, "src"), Build: a.build, Restart: ask(filepath.Join(dir, "control"))}
	return &change.Site{Roots: []string{filepath.Join(dir, "src")}, Services: map[string]change.Service{"app": app}}
}

// build compiles a folder; the program of the same source is kept.
func (a *testApp) build(ctx context.Context, dir string) error {
	_, err := a.program(ctx, dir)
	return err
}

// program is the program that is compiled from a folder.
func (a *testApp) program(ctx context.Context, dir string) (string, error) {
	text, err := tree(dir)
	if err != nil {
		return "", err
	}
	out := a.path("app-" + string(change.FingerprintOf([]byte(text))))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", out, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, b)
	}
	return out, nil
}

// supervise restarts the app for whoever asks, one after the other.
func (a *testApp) supervise(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		answer := "done"
		if err := a.restart(context.Background()); err != nil {
			answer = err.Error()
		}
		_, _ = io.WriteString(c, answer)
		c.Close()
	}
}

// ask has the supervisor restart the app, and waits for that.
func ask(control string) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := new(net.Dialer).DialContext(ctx, "unix", control)
		if err != nil {
			return err
		}
		defer c.Close()
		if b, err := io.ReadAll(c); err != nil || string(b) != "done" {
			return fmt.Errorf("restarting the app: %s %w", b, err)
		}
		return nil
	}
}

// restart builds the app from its source as it is, and starts it anew.
func (a *testApp) restart(ctx context.Context) error {
	program, err := a.program(ctx, a.path("src"))
	if err != nil {
		return err
	}
	a.stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = os.Remove(a.path("sock"))
	a.app = exec.Command(program, a.path("sock"))
	a.app.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := a.app.Start(); err != nil {
		return err
	}
	return eventually(func() error { _, err := a.get(); return err })
}

func (a *testApp) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.app != nil && a.app.Process != nil {
		_ = a.app.Process.Kill()
		_ = a.app.Wait()
	}
	a.app = nil
}

func eventually(f func() error) error {
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if err = f(); err == nil {
			return nil
		}
	}
	return err
}

// get asks the app for its greeting.
func (a *testApp) get() (string, error) {
	c, err := net.Dial("unix", a.path("sock"))
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	_, body, ok := strings.Cut(string(b), "\r\n\r\n")
	if err == nil && !ok {
		err = fmt.Errorf("no answer: %q", b)
	}
	return body, err
}

var greetingIs = regexp.MustCompile(`greetingText = "(.*)"`)

// serves wants the app to be built from the source that is there.
func (a *testApp) serves() error {
	got, err := a.get()
	if err != nil {
		return err
	}
	b, err := os.ReadFile(a.path("src/greet.go"))
	if err != nil {
		return err
	}
	if m := greetingIs.FindSubmatch(b); m == nil || got != string(m[1]) {
		return fmt.Errorf("the app answers %q; its source is\n%s", got, b)
	}
	return nil
}

// tree is all that lies in a folder: names, modes and contents.
func tree(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "== %s %v\n%s", path[len(dir):], info.Mode(), text)
		return err
	})
	return b.String(), err
}

// state is the source folder, and that nothing lies beside it.
func (a *testApp) state() (string, error) {
	text, err := tree(a.path("src"))
	left, e := filepath.Glob(a.path(".iikanji*"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("left behind: %v", left)
	}
	return text, errors.Join(err, e)
}
