package goprofile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// The app of the test spends its time in two functions of its own: one computes, the
// other hashes, in a function literal. It has a package-level name as the probe's
// imports would have.
const busyApp = `package main

import (
	"crypto/sha256"
	"time"
)

var net, bytes, io = 1, 2, 3

func spin(until time.Time) (n int) {
	for time.Now().Before(until) {
		for i := range 10000 {
			n += i * n
		}
	}
	return n
}

type store struct{ sum [32]byte }

func (s *store) hash(until time.Time) {
	do := func() {
		block := make([]byte, 1<<20)
		for time.Now().Before(until) {
			s.sum = sha256.Sum256(block)
		}
	}
	do()
}

func main() {
	s := &store{}
	for {
		spin(time.Now().Add(15 * time.Millisecond))
		s.hash(time.Now().Add(85 * time.Millisecond))
	}
}
`

// TestProfile profiles an app whose program has the paths of its source, and one that was
// built with -trimpath. The compiler's flag names the files so; that of go build would
// compile the standard library anew.
func TestProfile(t *testing.T) {
	tier.Slow(t)
	t.Run("paths", func(t *testing.T) { profiles(t, false) })
	t.Run("trimmed", func(t *testing.T) { profiles(t, true) })
}

// profiles builds an app with the probe, profiles it and finds its functions.
func profiles(t *testing.T, trimmed bool) {
	t.Helper()
	dir, err := os.MkdirTemp("", "profile") // short, because of the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	source, socket := filepath.Join(dir, "src"), filepath.Join(dir, "s")
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(source, "go.mod"), "module example.org/busy\n\ngo 1.24\n")
	write(filepath.Join(source, "main.go"), busyApp)
	path, body, err := Probe(source, socket)
	if err != nil {
		t.Fatal(err)
	}
	write(path, string(body))
	if _, _, err := Probe(source, socket); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second probe: %v", err)
	}
	named := source
	if trimmed {
		named = "example.org/busy"
	}
	build := exec.Command("go", "build", "-gcflags=example.org/busy=-trimpath="+source+"=>"+named, "-o", filepath.Join(dir, "app"), ".")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	app := exec.Command(filepath.Join(dir, "app"))
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Process.Kill(); app.Wait() })
	var s *Session
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if s, err = Begin(t.Context(), socket); err == nil || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	works(t, app.Process.Pid, 1200*time.Millisecond)
	sent, err := s.End()
	if err != nil {
		t.Fatal(err)
	}
	if sent.Cache != nil {
		t.Errorf("an app without a query cache: %+v", sent.Cache)
	}
	got, err := Functions(sent.Profile, source)
	if err != nil {
		t.Fatal(err)
	}
	find := func(name string) Function {
		i := slices.IndexFunc(got, func(f Function) bool { return f.Name == name })
		if i < 0 {
			t.Fatalf("no %s in %+v", name, got)
		}
		return got[i]
	}
	hash, spin, sha := find("(*store).hash"), find("spin"), find("crypto/sha256")
	if hash.Each < 2*spin.Each || spin.Own == 0 || hash.File != "main.go" || hash.Package != "" || !strings.Contains(strings.Split(busyApp, "\n")[hash.Line-1], "Sum256") {
		t.Errorf("hash %+v, spin %+v", hash, spin)
	}
	if sha.Package != "crypto/sha256" || len(sha.Within) != 1 || sha.Within[0].Name != "(*store).hash" {
		t.Errorf("sha256 %+v", sha)
	}
	if slices.ContainsFunc(got, func(f Function) bool { return f.File == FileName }) {
		t.Error("the probe is among the functions")
	}
}

// works waits until a process has used more CPU time, so that its profile has samples.
func works(t *testing.T, pid int, more time.Duration) {
	t.Helper()
	used := func() (ticks time.Duration) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		for _, field := range fields[11:13] { // of user and system mode, in hundredths of a second
			n, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			ticks += time.Duration(n) * 10 * time.Millisecond
		}
		return ticks
	}
	from := used()
	for end := time.Now().Add(3 * time.Minute); used() < from+more; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the app used %v of CPU time in 3 minutes", used()-from)
		}
	}
}

// TestRefused: no probe without a main package, and no profile from bytes of another format.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Probe(dir, "/s"); !errors.Is(err, ErrNoMain) {
		t.Errorf("%v", err)
	}
	if _, err := Functions([]byte("no profile"), dir); err == nil {
		t.Error("a text is a profile")
	}
	if _, err := Begin(context.Background(), filepath.Join(dir, "none")); err == nil {
		t.Error("a profile without an app")
	}
}

// TestSplit: names of functions in profiles.
func TestSplit(t *testing.T) {
	for in, want := range map[string]string{
		"main.list":                                   "main list",
		"main.(*app).list.func1":                      "main (*app).list",
		"main.(*app).list.func1.2":                    "main (*app).list",
		"main.main.(*app).list.func1":                 "main (*app).list",
		"main.list.gowrap1":                           "main list",
		"example.org/a/b.(*T).M":                      "example.org/a/b (*T).M",
		"gopkg.in/yaml%2ev3.Unmarshal":                "gopkg.in/yaml.v3 Unmarshal",
		"slices.SortFunc[go.shape.[]example.org/a.T]": "slices SortFunc[go.shape.[]example.org/a.T]",
		"runtime": " runtime",
	} {
		if pkg, name := split(in); pkg+" "+name != want {
			t.Errorf("%s: %s %s, want %s", in, pkg, name, want)
		}
	}
}

// FuzzFunctions: a profile comes from the app's process and may be anything.
func FuzzFunctions(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = Functions(data, "/src") // must not panic
	})
}
