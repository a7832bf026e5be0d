package livesite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestKeeper: an app that a script starts again when it ends is left to the script: after a
// restart and after a kill one process serves, and it is the script's. Where the script only
// waits, the app is started by iikanji.
func TestKeeper(t *testing.T) {
	tier.Slow(t)
	for name, c := range map[string]struct {
		script string
		keeps  bool
	}{
		"loop":  {"while :; do node app.js ADDRESS; sleep 0.2; done", true},
		"waits": {"node app.js ADDRESS &\nwait\nsleep 1000", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, address := t.TempDir(), servertest.FreeAddress(t)
			site := &phpSite{dir: dir, app: address}
			site.write(t, "app.js", `const [host, port] = process.argv[2].split(":");
require("http").createServer((q, r) => r.end("app")).listen(port, host);`)
			if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte(strings.ReplaceAll(c.script, "ADDRESS", address)), 0o644); err != nil {
				t.Fatal(err)
			}
			script := exec.Command("sh", "run.sh")
			script.Dir, script.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
			if err := script.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = syscall.Kill(-script.Process.Pid, syscall.SIGKILL)
				_ = script.Wait()
			})
			serves(t, site, address)
			f := &target.File{Path: filepath.Join(dir, target.Name), URL: "http://" + address,
				Services: []target.Service{{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineNode, Listen: address}}}
			s, err := Open(t.Context(), Options{File: f, Dir: t.TempDir(), Progress: func(line string) { t.Log(line) }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if p := s.running()["app"].process(); p != nil {
					_ = syscall.Kill(p.PID, syscall.SIGKILL)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			for _, act := range []string{"restart", "restart again", "kill"} {
				if act == "kill" {
					if err := s.Kill(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Restart(t.Context(), "app"); err != nil {
					t.Fatalf("%s: %v", act, err)
				}
				serves(t, site, address)
				p := s.running()["app"].process()
				if p == nil {
					t.Fatalf("%s: the service has no process", act)
				}
				if kept := p.Parent == script.Process.Pid; kept != c.keeps {
					t.Errorf("%s: process %d has the parent %d, the script is %d", act, p.PID, p.Parent, script.Process.Pid)
				}
				if n := onAddress(t, address); n != 1 {
					t.Errorf("%s: %d processes of the app", act, n)
				}
			}
		})
	}
}

// serves waits until the app answers.
func serves(t *testing.T, s *phpSite, address string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); s.page(address) != "app"; {
		if time.Now().After(end) {
			t.Fatal("the app does not answer")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// onAddress counts the processes of the app for an address. A loop that cannot start its app
// would have one for a moment now and then, so it counts for a while.
func onAddress(t *testing.T, address string) (most int) {
	t.Helper()
	for range 8 {
		m, err := process.ReadMachine(host.Local{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range m.Processes {
			if strings.HasSuffix(p.Command(), "app.js "+address) {
				n++
			}
		}
		most = max(most, n)
		time.Sleep(50 * time.Millisecond)
	}
	return most
}

// TestKeeperOf: a script is a keeper, a shell of a person is none.
func TestKeeperOf(t *testing.T) {
	for command, want := range map[string]bool{
		"/usr/bin/dash run.sh": true, "/usr/bin/bash -c while :; do ./app; done": true, "/bin/sh -ec ./app": true, "/bin/bash -x run.sh": true,
		"/usr/bin/bash": false, "/usr/bin/bash --login": false, "/usr/bin/bash -i": false, "/usr/bin/python3 run.py": false,
	} {
		words := strings.SplitN(command, " ", 3)
		p := &process.Process{Program: words[0], Args: words}
		p.PID = 77
		if got := keeperOf(p) != nil; got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
		p.PID = 1
		if keeperOf(p) != nil {
			t.Errorf("%q as the first process of a machine is a keeper", command)
		}
	}
	if keeperOf(nil) != nil {
		t.Error("a parent that is not known is a keeper")
	}
}
