package change

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// planning is the folder in which a test process is in the middle of plans.
const planning = "SCRATCH_TEST_DIR"

// source writes the source of an app, and files that another user might have put
// beside it. It returns the folder of all files and the folder of the source.
func source(t *testing.T) (dir, src string) {
	t.Helper()
	dir = t.TempDir()
	src = filepath.Join(dir, "src")
	for name, text := range map[string]string{"src/main.go": "package main\n", "src/lib/lib.go": "package lib\n", "src/.git/HEAD": "ref\n",
		".iikanji-build-mine/x": "x", ".iikanji-build-12.old/x": "x", ".iikanji-test-": "x", "iikanji-build-12/x": "x", ".iikanji-test-12/x": "x", "here": "x"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"src/link": "../here", ".iikanji-build-34": "src"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, src
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// TestPlanning is the process that is killed. It checks a file and a folder; the
// check of the folder never ends.
func TestPlanning(t *testing.T) {
	dir := os.Getenv(planning)
	if dir == "" {
		t.Skip("it is TestSweep's other process")
	}
	err := (&Site{}).InScratchFile(Service{}, dir, ".conf", []byte("text"), func(string) error {
		return (&Site{}).Compile(t.Context(), Service{Running: acting{build: func(ctx context.Context, _ string) error {
			if _, err := io.WriteString(os.Stdout, "copied\n"); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}}}, filepath.Join(dir, "src"), nil)
	})
	t.Errorf("it goes on: %v", err)
}

// TestSweep kills a process in the middle of plans. While it lives its copies
// stay, whichever process plans or sweeps; later they are removed, and nothing else.
func TestSweep(t *testing.T) {
	dir, src := source(t)
	before := names(t, dir)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestPlanning$")
	cmd.Env = append(os.Environ(), planning+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	var said []byte
	for !strings.Contains(string(said), "copied\n") {
		b := make([]byte, 100)
		n, err := out.Read(b)
		if said = append(said, b[:n]...); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	during := names(t, dir)
	if len(during) != len(before)+2 {
		t.Fatalf("in the middle of two plans there are %q, were %q", during, before)
	}
	site := &Site{Services: map[string]Service{"app": {Source: src}, "web": {Config: filepath.Join(dir, "web.conf"), DropIn: filepath.Join(dir, "none", "x.conf")}}}
	plan := func() {
		t.Helper()
		if err := (&Site{}).Compile(t.Context(), Service{Running: acting{build: func(context.Context, string) error { return nil }}}, src, nil); err != nil {
			t.Fatal(err)
		}
		if err := (&Site{}).InScratchFile(Service{}, dir, ".tmp", nil, func(string) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	plan()
	if err := site.Sweep(); err != nil {
		t.Fatal(err)
	}
	if now := names(t, dir); !slices.Equal(now, during) {
		t.Errorf("of a living process there is %q left, was %q", now, during)
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the process was not killed")
	}
	if now := names(t, dir); !slices.Equal(now, during) {
		t.Errorf("kill -9 tidied up by itself: the test proves nothing. There is %q, was %q", now, during)
	}
	for name, sweep := range map[string]func(){
		"a plan": plan,
		"recovering": func() {
			if err := site.Sweep(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		if err := os.MkdirAll(filepath.Join(dir, ".iikanji-build-56", "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		sweep()
		if now := names(t, dir); !slices.Equal(now, before) {
			t.Errorf("after %s there is %q, want %q", name, now, before)
		}
	}
}

// TestHoldRace: a scratch file that a sweep removes before it is locked is made again.
func TestHoldRace(t *testing.T) {
	dir := t.TempDir()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = sweep(host.Local{}, dir)
			}
		}
	}()
	for range 300 {
		if err := inScratchFolder(host.Local{}, dir, func(path string) error {
			return os.WriteFile(filepath.Join(path, "x"), nil, 0o600) // it is there, and stays
		}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	<-stopped
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestScratchName: plans one after the other have the same folder, in which the go command
// finds what it compiled; plans at the same time have a folder each.
func TestScratchName(t *testing.T) {
	dir := t.TempDir()
	in := func(then func()) (path string) {
		t.Helper()
		if err := inScratchFolder(host.Local{}, dir, func(at string) error {
			path = at
			then()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	within := ""
	first := in(func() { within = in(func() {}) })
	if second := in(func() {}); second != first || within == first || within == "" {
		t.Errorf("folders %s and then %s, at the same time %s", first, second, within)
	}
}

// TestCompile: the source is compiled with the edits. No copy of it is left, whether
// it compiles or not.
func TestCompile(t *testing.T) {
	dir, src := source(t)
	before := names(t, dir)
	edits := []Edit{{Path: filepath.Join(src, "main.go"), Old: []byte("package main\n"), New: []byte("edited")},
		{Path: filepath.Join(src, "lib/lib.go"), Old: []byte("package lib\n")}, {Path: filepath.Join(src, "new.go"), New: []byte("new")}}
	refusal := errors.New("main.go:1: expected package")
	err := (&Site{}).Compile(t.Context(), Service{Running: acting{build: func(_ context.Context, in string) error {
		if filepath.Dir(in) != dir {
			t.Errorf("the copy lies in %s, want it beside the source", in)
		}
		if got := names(t, in); !slices.Equal(got, []string{"lib", "link", "main.go", "new.go"}) {
			t.Errorf("copied and edited: %q", got)
		}
		if got := names(t, filepath.Join(in, "lib")); len(got) > 0 {
			t.Errorf("not removed: %q", got)
		}
		for name, want := range map[string]string{"main.go": "edited", "new.go": "new", "link": "x"} {
			if b, err := os.ReadFile(filepath.Join(in, name)); err != nil || string(b) != want {
				t.Errorf("%s is %q, want %q (%v)", name, b, want, err)
			}
		}
		return refusal
	}}}, src, edits)
	if !errors.Is(err, refusal) || !strings.Contains(err.Error(), "does not compile") {
		t.Errorf("%v", err)
	}
	if now := names(t, dir); !slices.Equal(now, before) {
		t.Errorf("left: %q", now)
	}
	if b, err := os.ReadFile(filepath.Join(src, "main.go")); err != nil || string(b) != "package main\n" {
		t.Errorf("the source itself is %q (%v)", b, err)
	}
	large, err := os.Create(filepath.Join(src, "large"))
	if err == nil {
		err = errors.Join(large.Truncate(maxBytes+1), large.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Site{}).Compile(t.Context(), Service{}, src, nil); err == nil || !strings.Contains(err.Error(), "holds more than") {
		t.Errorf("%v", err)
	}
	if now := names(t, dir); !slices.Equal(now, before) {
		t.Errorf("left: %q", now)
	}
}
