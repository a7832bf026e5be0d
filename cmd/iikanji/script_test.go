package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/portal/worker"
)

var update = flag.Bool("update", false, "write what the scripts' cmp commands saw into the scripts")

func TestMain(m *testing.M) {
	maybePeer(os.Args)
	stack.MaybeSupervise()
	worker.MaybeGuard()
	process.MaybeSupervise()
	testscript.Main(sweptRun{m}, map[string]func(){"iikanji": mainOfTests, "rehearse": rehearseOfTests})
}

// These variables set the rest between the runs of a search and the shortest load
// that tune accepts, as in 1.2s. The third makes the guard see steal; its value is a
// folder for temporary files.
const (
	restVariable      = "IIKANJI_TEST_REST"
	leastLoadVariable = "IIKANJI_TEST_LEAST_LOAD"
	stealVariable     = "IIKANJI_TEST_STEAL"
)

// mainOfTests is main with the settings that only tests have.
func mainOfTests() {
	maybeVet(os.Args)
	stack.MaybeSupervise()
	worker.MaybeGuard()
	process.MaybeSupervise()
	e := systemEnv()
	for name, value := range map[string]*time.Duration{restVariable: &e.Rest, leastLoadVariable: &e.LeastLoad} {
		if text := os.Getenv(name); text != "" {
			var err error
			if *value, err = time.ParseDuration(text); err != nil {
				panic(err)
			}
		}
	}
	if dir := os.Getenv(stealVariable); dir != "" {
		e.Machine = &stealing{dir: dir, began: time.Now()}
	}
	os.Exit(runProcess(e))
}

// A sweptRun runs all tests, then removes their shared folders.
type sweptRun struct{ *testing.M }

// Run runs the tests and returns their status.
func (r sweptRun) Run() int {
	defer prepared.remove()
	return r.M.Run()
}

// goVariables are the environment variables of go commands in scripts: the build cache of
// this user, because a script has no home, and the flags of the tests, because with other
// ones each package would be compiled once more.
func goVariables(t *testing.T) map[string]string {
	t.Helper()
	variables := map[string]string{"GOCACHE": goEnv(t, "GOCACHE")}
	for _, name := range []string{"GOFLAGS", "CGO_ENABLED"} {
		if value, ok := os.LookupEnv(name); ok {
			variables[name] = value
		}
	}
	return variables
}

// TestScripts runs testdata/*.txtar, the contract of the command line. The first word
// of a script's name is its command (access_formats.txtar). A script starts in a
// folder that holds only its own files; tables are 80 columns wide, as in a pipe.
func TestScripts(t *testing.T) {
	variables := goVariables(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"waitopen": waitOpen},
		Setup: func(e *testscript.Env) error {
			e.Setenv("COLUMNS", "80")
			e.Setenv("TZ", "UTC")
			for name, value := range variables {
				e.Setenv(name, value)
			}
			return nil
		},
	})
}

// waitOpen waits until the last background command waits in the system call that
// opens a file, as a reader of a pipe without a writer does: waitopen.
func waitOpen(ts *testscript.TestScript, neg bool, args []string) {
	background := ts.BackgroundCmds()
	if neg || len(args) > 0 || len(background) == 0 {
		ts.Fatalf("usage: waitopen, after a background command")
	}
	pid := background[len(background)-1].Process.Pid
	seen := 0 // in a row: other files open at once
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if !opening(pid) {
			seen = 0
			continue
		}
		if seen++; seen == 2 {
			return
		}
	}
	ts.Fatalf("process %d did not open a file that it has to wait for", pid)
}

// opening reports whether a thread of a process waits in openat.
func opening(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	call := fmt.Sprintf("%d ", syscall.SYS_OPENAT)
	return slices.ContainsFunc(threads, func(t string) bool {
		b, err := os.ReadFile(t)
		return err == nil && strings.HasPrefix(string(b), call)
	})
}
