package goldrush

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/bench"
)

// play makes a run with the command of a client.
func play(t *testing.T, up *stack.Stack, command string, load time.Duration, set arena.Values) *iikanji.Run {
	t.Helper()
	values := arena.Values{clientSetting: command}
	for name, v := range set {
		values[name] = v
	}
	sc, err := newScenario(arena.Options{Here: up, Set: values})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), load+time.Minute)
	defer cancel()
	run, err := bench.Run(ctx, sc, bench.Options{URL: up.Places().URL(), Seed: 1, Load: load})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// testClients: a client that does not play as it must fails the run with the reason, and none
// leaves a process behind.
func testClients(t *testing.T, up *stack.Stack) {
	pid := filepath.Join(t.TempDir(), "pid")
	for name, c := range map[string]struct{ command, check, says string }{
		"crashes":        {"echo ready; sleep 0.2; echo out of gold >&2; exit 3", "client-crash", "status 3"},
		"is killed":      {"kill -9 $$", "client-crash", "signal: killed"},
		"is not there":   {"/does/not/exist", "client-crash", "not found"},
		"never starts":   {"echo waiting; sleep 60 & echo $! >" + pid + "; wait", "client-start", "waiting"},
		"ends at once":   {"true", "client-start", "it printed nothing"},
		"prints forever": {"yes 0123456789012345678901234567890123456789", "client-start", "0123456789"},
	} {
		t.Run(name, func(t *testing.T) {
			run := play(t, up, c.command, 2*time.Second, nil)
			if run.Outcome != iikanji.Failed || len(run.Faults) != 1 || run.Faults[0].Check != c.check || !strings.Contains(run.Faults[0].Message, c.says) {
				t.Errorf("the run %s: %q %+v; want the check %s to say %q", run.Outcome, run.Reasons, run.Faults, c.check, c.says)
			}
		})
	}
	t.Run("leaves a process", func(t *testing.T) {
		text, err := os.ReadFile(pid)
		if err != nil {
			t.Fatal(err)
		}
		id, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadFile("/proc/" + strconv.Itoa(id) + "/cmdline"); strings.HasPrefix(string(left), "sleep") && syscall.Kill(id, 0) == nil {
			t.Errorf("the child %d of the client is still there", id)
		}
	})
	if info, err := os.Stat(filepath.Join(up.Logs(), "client.log")); err != nil || info.Size() > logMost {
		t.Errorf("the client's log: %v, %v", info, err)
	}
	t.Run("floods", func(t *testing.T) { testFlood(t, up) })
	t.Run("five worlds", func(t *testing.T) { testWorlds(t, up) })
}

// flooder asks for the balance on many connections at once.
const flooder = `import os, socket, threading
def ask():
    s = socket.create_connection((os.environ["ADDRESS"], int(os.environ["PORT"])))
    many = b"GET /balance HTTP/1.1\r\nHost: x\r\n\r\n" * 200
    while True:
        s.sendall(many)
        for _ in range(20):
            s.recv(1 << 20)
for _ in range(8):
    threading.Thread(target=ask).start()
`

func testFlood(t *testing.T, up *stack.Stack) {
	file := filepath.Join(t.TempDir(), "flood.py")
	if err := os.WriteFile(file, []byte(flooder), 0o600); err != nil {
		t.Fatal(err)
	}
	run := play(t, up, "python3 "+file, 10*time.Second, nil)
	for _, g := range run.Gauges {
		if g.Name == "requests refused (429)" && g.Value < 10*floodMost {
			t.Logf("the machine is too busy for a flood: %g requests were refused", g.Value)
			return // TestJudge tests the limit
		}
	}
	if run.Outcome != iikanji.Failed || len(run.Faults) != 1 || run.Faults[0].Check != "client-flood" {
		t.Errorf("the run %s: %q %+v", run.Outcome, run.Reasons, run.Faults)
	}
}

// testWorlds plays five worlds with the sample client in Python.
func testWorlds(t *testing.T, up *stack.Stack) {
	file, err := filepath.Abs("files/python/main.py")
	if err != nil {
		t.Fatal(err)
	}
	run := play(t, up, "WORKERS=8 exec python3 "+file, 15*time.Second, arena.Values{worldsSetting: "five"})
	worlds := 0
	for _, g := range run.Gauges {
		if strings.HasSuffix(g.Name, ": coins") {
			worlds++
			if g.Value <= 0 {
				t.Errorf("%s: %g", g.Name, g.Value)
			}
		}
	}
	if run.Outcome != iikanji.Passed || worlds != 5 || run.Score <= 0 {
		t.Errorf("the run %s with %g in %d worlds: %q %+v", run.Outcome, run.Score, worlds, run.Reasons, run.Faults)
	}
}
