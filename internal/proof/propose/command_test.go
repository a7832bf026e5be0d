package propose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// script writes a shell script and returns the command that runs it. dir is a
// folder that it may write to, its first argument.
func script(t *testing.T, text string) (command []string, dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, "proposer.sh")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"/bin/sh", path, dir}, dir
}

const nothing = `echo '{"version":1,"changes":[]}'`

// large is an input whose document does not fit into a pipe.
func large() Input {
	return Input{Kinds: kinds, Trials: make([]Trial, 2000)}
}

// TestRun: the whole question arrives, and the answer keeps its order.
func TestRun(t *testing.T) {
	command, dir := script(t, `cat >"$1/question"; echo '{"version":1,"changes":[{"kind":"patch","target":"b"},{"kind":"ddl","target":"a"}]}'`)
	in := large()
	got, err := Run(t.Context(), command, in)
	if err != nil || len(got) != 2 || got[0].Remedy.Target != "b" || got[1].Remedy.Target != "a" {
		t.Fatalf("%+v, %v", got, err)
	}
	question, err := os.ReadFile(filepath.Join(dir, "question"))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := Question(in); err != nil || string(question) != string(want) {
		t.Errorf("%d bytes arrived, want %d, %v", len(question), len(want), err)
	}
}

// TestRunUnread: a proposer that does not read the question may answer.
func TestRunUnread(t *testing.T) {
	command, _ := script(t, nothing)
	if got, err := Run(t.Context(), command, large()); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestNoShell: no shell interprets the arguments.
func TestNoShell(t *testing.T) {
	command, dir := script(t, `printf %s "$2" >"$1/arg"; `+nothing)
	const arg = `$(id); * "x" 'y'`
	if _, err := Run(t.Context(), append(command, arg), Input{}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "arg")); err != nil || string(b) != arg {
		t.Errorf("%q, %v", b, err)
	}
}

// TestRunFails: each failure is one line, with the last lines of standard error as hints.
func TestRunFails(t *testing.T) {
	for _, c := range []struct{ name, text, want, hint string }{
		{"status", "echo first >&2; printf 'no \\033[2Jkey\\n' >&2; exit 3", "it ended with exit status 3", "stderr: no [2Jkey"},
		{"signal", "kill -KILL $$", "it ended with signal: killed", "docs/proposer.md"},
		{"silence", "exit 0", "the answer is empty", "docs/proposer.md"},
		{"prose", "echo I would add an index", "invalid JSON", "docs/proposer.md"},
		{"too much", "yes", "the answer has more than 1048576 bytes", "docs/proposer.md"},
		{"unknown kind", `echo '{"version":1,"changes":[{"kind":"shell","target":"x"}]}'`, `changes[0].kind: "shell" is not a kind`, "docs/proposer.md"},
		{"much on stderr", "seq 1 100000 >&2; exit 1", "exit status 1", "stderr: 100000"},
	} {
		command, _ := script(t, c.text)
		_, err := Run(t.Context(), command, Input{Kinds: kinds})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		hints := strings.Join(e.Hints(), "\n")
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || !strings.Contains(hints, c.hint) || len(e.Stderr) > maxLines {
			t.Errorf("%s: %v\n%s", c.name, err, hints)
		}
	}
	for _, command := range [][]string{nil, {""}, {"/nowhere/proposer"}, {t.TempDir()}} {
		if _, err := Run(t.Context(), command, Input{}); err == nil || !strings.HasPrefix(err.Error(), "running ") {
			t.Errorf("%q: %v", command, err)
		}
	}
}

// appears waits for a file that a script writes, and returns its content.
func appears(path string) (string, error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
			return string(b), nil
		}
	}
	return "", fmt.Errorf("%s was never written", path)
}

// gone waits for the end of a process that is not a child of the test.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		if err != nil || strings.Contains(string(stat), ") Z ") || syscall.Kill(n, 0) != nil {
			return
		}
	}
	t.Errorf("process %d is still there", n)
}

// TestGroupEnds: background processes of a proposer end with it.
func TestGroupEnds(t *testing.T) {
	command, dir := script(t, `sleep 1000 >/dev/null 2>&1 & echo $! >"$1/pid"; `+nothing)
	if _, err := Run(t.Context(), command, Input{}); err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	gone(t, string(pid))
}

// interrupted runs a proposer, cancels when it has written the id of a process, and
// waits for the end of that process.
func interrupted(t *testing.T, text string) (dir string) {
	t.Helper()
	command, dir := script(t, text)
	ctx, cancel := context.WithCancel(t.Context())
	pid := make(chan string, 1)
	go func() {
		defer cancel()
		text, err := appears(filepath.Join(dir, "pid"))
		if err != nil {
			t.Error(err)
		}
		pid <- text
	}()
	if _, err := Run(ctx, command, Input{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	gone(t, <-pid)
	return dir
}

// TestInterrupted: an interrupted proposer gets SIGTERM, with all processes that it started.
func TestInterrupted(t *testing.T) {
	dir := interrupted(t, `trap 'echo asked >"$1/asked"; exit 0' TERM; sleep 1000 & echo $! >"$1/pid"; wait`)
	if _, err := appears(filepath.Join(dir, "asked")); err != nil {
		t.Error("it got no SIGTERM")
	}
}

// TestStubborn: a proposer that ignores SIGTERM is killed.
func TestStubborn(t *testing.T) {
	tier.Slow(t)
	interrupted(t, `trap '' TERM; echo $$ >"$1/pid"; while :; do sleep 1; done`)
}

// TestLate: a proposer that does not answer within the deadline is an error.
func TestLate(t *testing.T) {
	command, _ := script(t, "exec sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, command, Input{}); err == nil || !strings.Contains(err.Error(), "no answer within") {
		t.Errorf("%v", err)
	}
}

// TestSessionsEnd: a process that a proposer moved to a session of its own, and
// the children of that, end with the proposer too, also with another environment.
func TestSessionsEnd(t *testing.T) {
	for name, text := range map[string]string{
		"a session":      `setsid sh -c 'echo $$ >"$1/pid"; exec sleep 1000' sh "$1" >/dev/null 2>&1 & `,
		"its child":      `setsid sh -c 'sleep 1000 & echo $! >"$1/pid"; wait' sh "$1" >/dev/null 2>&1 & `,
		"no environment": `env -i /usr/bin/setsid /bin/sh -c 'echo $$ >"$1/pid"; exec sleep 1000' sh "$1" >/dev/null 2>&1 & `,
	} {
		command, dir := script(t, text+`while ! [ -s "$1/pid" ]; do sleep 0.01; done; `+nothing)
		if _, err := Run(t.Context(), command, Input{Kinds: kinds}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "pid"))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s: process %d is left (%v)", name, pid, err)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
