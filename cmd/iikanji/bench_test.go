package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/progress"
)

// A lockedBuffer is a writer that several goroutines may use at once.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// workFolder returns a new folder that the database's unprivileged user can reach.
func workFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "iikanji-bench-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// command runs one command line in this process.
func command(ctx context.Context, errs *lockedBuffer, args ...string) (status int, stdout string) {
	return commandIn(ctx, &env{Stderr: errs}, args...)
}

// commandOnTerminal runs one command line that draws its progress at once, as on
// a terminal. Elsewhere a line of progress is written every 10 s.
func commandOnTerminal(ctx context.Context, errs *lockedBuffer, args ...string) (status int, stdout string) {
	return commandIn(ctx, &env{Stderr: errs, TTY: true}, args...)
}

// commandIn fills in the rest of an environment and runs one command line in it.
func commandIn(ctx context.Context, e *env, args ...string) (status int, stdout string) {
	var out bytes.Buffer
	e.Stdin, e.Stdout, e.Now, e.Cols = strings.NewReader(""), &out, time.Now, 80
	return run(ctx, e, args), out.String()
}

// TestBenchUnderLoad runs the command on a real arena in one work folder: checks
// only, a short load with --json, an interrupted load, and checks of a stack by its
// URL.
func TestBenchUnderLoad(t *testing.T) {
	tier.Slow(t)
	dir := preparedFolder(t, "isucondition")
	id := 0 // of the latest run
	t.Run("checks", func(t *testing.T) {
		status, out, said := whenFast(t, exitDone, func(errs *lockedBuffer) (int, string) {
			id++
			return command(t.Context(), errs, "bench", "isucondition", "--dir", dir, "--no-load")
		})
		if status != exitDone || !strings.Contains(out, "isucondition  PASSED") || !strings.Contains(out, "kept in "+folderOfRun(dir, id)) {
			t.Fatalf("status %d\n%s\n%s", status, out, said)
		}
	})
	t.Run("load", func(t *testing.T) { loadForReal(t, dir, &id) })
	t.Run("interrupted", func(t *testing.T) { interruptForReal(t, dir, &id) })
	t.Run("url", func(t *testing.T) { urlForReal(t, dir) })
}

// whenFast runs a command until it ends with a status: on a busy machine an answer may take longer
// than the arena's limit, which rightly fails a run.
func whenFast(t *testing.T, want int, do func(errs *lockedBuffer) (int, string)) (status int, out, said string) {
	t.Helper()
	for range busyTries {
		var errs lockedBuffer
		if status, out = do(&errs); status == want {
			return status, out, errs.String()
		}
		said = errs.String()
		t.Logf("status %d\n%s\n%s", status, out, said)
	}
	return status, out, said
}

// folderOfRun is the folder of a run in the history of a work folder.
func folderOfRun(dir string, id int) string {
	return filepath.Join(dir, "history", "runs", fmt.Sprintf("%04d", id))
}

func loadForReal(t *testing.T, dir string, id *int) {
	watched := watchProgress(t, filepath.Join(dir, "history"))
	var r iikanji.Run
	status, _, _ := whenFast(t, exitDone, func(errs *lockedBuffer) (int, string) {
		*id++
		status, out := command(t.Context(), errs, "bench", "isucondition", "--dir", dir, "--load", "4s", "--json")
		r = iikanji.Run{}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("--json is no document: %v\n%s\n%s", err, out, errs.String())
		}
		if r.Outcome == iikanji.Void { // on a busy machine the run may rightly be void
			status = exitDone
		}
		return status, out
	})
	watched()
	if status != exitDone {
		t.Errorf("status %d, outcome %v: %v", status, r.Outcome, r.Reasons)
	}
	if int(r.ID) != *id || r.Score <= 0 && r.Outcome == iikanji.Passed || len(r.Steps) == 0 || r.Load.Requests == 0 {
		t.Errorf("run %d, score %v, %d steps, %d requests", r.ID, r.Score, len(r.Steps), r.Load.Requests)
	}
	who := map[string]bool{}
	for _, u := range r.Usage {
		who[u.Who] = u.User+u.System > 0
	}
	for _, name := range []string{"generator", "nginx", "app", "database"} {
		if !who[name] {
			t.Errorf("%s used no CPU during the load: %v", name, r.Usage)
		}
	}
	folder := folderOfRun(dir, *id)
	for _, f := range []string{"run.json", "samples.bin", hostFile} {
		if info, err := os.Stat(filepath.Join(folder, f)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	host, err := os.ReadFile(filepath.Join(folder, hostFile))
	if err != nil || strings.Count(string(host), "\thost\t") < 2 || !strings.Contains(string(host), "\tdatabase\t") {
		t.Errorf("%v: what the machine did in 4 s:\n%s", err, host)
	}
}

// watchProgress reads the progress file of a history as another process would, until
// the function that it returns is called: that checks what was seen.
func watchProgress(t *testing.T, dir string) (check func()) {
	t.Helper()
	var loads, growing, bad int
	stop, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			s, err := progress.Read(dir)
			switch {
			case err != nil:
				bad++
			case s.Running() && s.Run.Phase == "load":
				loads++
				if len(s.Run.Growth) > 1 && s.Run.Requests > 0 {
					growing++
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() {
		t.Helper()
		close(stop)
		<-gone
		s, err := progress.Read(dir)
		if err != nil || !s.Ended || s.Command != "bench" || s.Target != "isucondition" {
			t.Errorf("the last state of the progress file is %+v, %v", s, err)
		}
		if loads == 0 || growing == 0 || bad > 0 {
			t.Errorf("%d looks saw the load, %d its points by second, %d could not be read", loads, growing, bad)
		}
	}
}

// interruptForReal cancels a run in the middle of its load: the measurement is saved
// and marked as partial.
func interruptForReal(t *testing.T, dir string, id *int) {
	status, out, said := whenFast(t, exitFailed, func(errs *lockedBuffer) (int, string) {
		*id++
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for !strings.Contains(errs.String(), "load: ") {
				select {
				case <-ctx.Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
			cancel()
		}()
		return commandOnTerminal(ctx, errs, "bench", "isucondition", "--dir", dir, "--load", "2m")
	})
	if status != exitFailed || !strings.Contains(out, "INTERRUPTED (partial)") {
		t.Fatalf("status %d\n%s\n%s", status, out, said)
	}
	data, err := os.ReadFile(filepath.Join(folderOfRun(dir, *id), "run.json"))
	if err != nil || !strings.Contains(string(data), `"partial": true`) {
		t.Errorf("the partial run was not kept: %v", err)
	}
}

// urlForReal brings a stack up with iikanji up and checks it by its URL.
func urlForReal(t *testing.T, dir string) {
	ctx, cancel := context.WithCancel(t.Context())
	var upErrs lockedBuffer
	done := make(chan int)
	out := &lockedBuffer{}
	go func() {
		e := &env{Stdin: strings.NewReader(""), Stdout: out, Stderr: &upErrs, Now: time.Now, Cols: 80}
		done <- run(ctx, e, []string{"up", "isucondition", "--dir", dir})
	}()
	url := waitForURL(t, out)
	status, text, said := whenFast(t, exitDone, func(errs *lockedBuffer) (int, string) {
		return command(t.Context(), errs, "bench", "isucondition", "--url", url, "--dir", workFolder(t), "--no-load")
	})
	if status != exitDone || !strings.Contains(text, "isucondition  PASSED") || !strings.Contains(text, "where the stack runs is not known") {
		t.Errorf("status %d\n%s\n%s", status, text, said)
	}
	var second lockedBuffer
	if status, _ := command(t.Context(), &second, "bench", "isucondition", "--dir", dir, "--history", filepath.Join(workFolder(t), "h"), "--no-load"); status != exitFailed || !strings.Contains(second.String(), "already runs a stack in") {
		t.Errorf("a second instance in the folder: status %d\n%s", status, second.String())
	}
	cancel()
	if status := <-done; status != exitDone {
		t.Errorf("up ended with %d\n%s", status, upErrs.String())
	}
}

// waitForURL waits until iikanji up has printed the URL of the stack.
func waitForURL(t *testing.T, out *lockedBuffer) string {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for word := range strings.FieldsSeq(out.String()) {
			if strings.HasPrefix(word, "http://127.0.0.1:") {
				return word
			}
		}
	}
	t.Fatalf("iikanji up did not print a URL:\n%s", out.String())
	return ""
}

// TestBenchRefuses tests that usage errors are found before anything is started.
func TestBenchRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"bench"}, {"bench", "nonsense"}, {"bench", "isucondition", "--pin", "x"}, {"bench", "isucondition", "--load", "-1s"},
		{"bench", "isucondition", "--url", "ftp://127.0.0.1"}, {"bench", "isucondition", "--url", "127.0.0.1:80"},
	} {
		var errs lockedBuffer
		if status, _ := command(t.Context(), &errs, args...); status != exitUsage || !strings.Contains(errs.String(), "iikanji: ") {
			t.Errorf("%v: status %d, %q", args, status, errs.String())
		}
	}
}

// TestUnseenText: the progress of an outside benchmarker has no score of 0.
func TestUnseenText(t *testing.T) {
	for _, c := range []struct {
		p    bench.Progress
		want string
	}{
		{bench.Progress{Unseen: true, Phase: "load", Elapsed: 12 * time.Second, Left: 48 * time.Second}, "load: 12.0s, 48s left"},
		{bench.Progress{Unseen: true, Phase: "initialize", Elapsed: 3100 * time.Millisecond}, "initialize: 3.10s"},
	} {
		if got := unseenText(c.p); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}
