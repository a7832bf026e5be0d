package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/progress"
)

// A tuning is isucondition in a work folder of its own, with its original state.
type tuning struct {
	t        *testing.T
	dir      string
	original map[string]string
}

// tuningOf brings the arena up once and reads the state that an undo must restore.
func tuningOf(t *testing.T) *tuning {
	t.Helper()
	tu := &tuning{t: t, dir: preparedFolder(t, "isucondition")}
	tu.original = tu.state()
	return tu
}

// state returns every file that changes may write, with its mode, and the definition
// of each table.
func (tu *tuning) state() map[string]string {
	tu.t.Helper()
	a, err := findTarget("isucondition")
	if err != nil {
		tu.t.Fatal(err)
	}
	state := map[string]string{}
	e := &env{Stderr: &lockedBuffer{}, Now: time.Now, Cols: 80}
	err = withLiveTarget(tu.t.Context(), e, a, stack.Options{Dir: tu.dir}, func(_ context.Context, w *liveTarget) error {
		return tu.tables(a, w, state)
	})
	if err != nil {
		tu.t.Fatal(err)
	}
	for place, content := range filesBelow(tu.t, tu.dir) {
		state[place] = content
	}
	return state
}

// tables adds the definitions of all tables, without AUTO_INCREMENT counters.
func (tu *tuning) tables(a *namedTarget, w *liveTarget, state map[string]string) error {
	conn, err := w.Site().Services["database"].DB().Conn(tu.t.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	rows, err := conn.QueryContext(tu.t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", a.arena.Service("database").Database.Name)
	if err != nil {
		return err
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if len(names) == 0 {
		return errors.New("there are no tables to compare")
	}
	for _, name := range names {
		if state["table "+name], err = change.TableDefinition(tu.t.Context(), conn, a.arena.Service("database").Database.Name+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// command returns a command of the real binary in this work folder.
func (tu *tuning) command(args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd = exec.CommandContext(tu.t.Context(), "iikanji", append([]string{args[0], "isucondition", "--dir", tu.dir}, args[1:]...)...)
	// Some candidates cache answers for a second: the rest must be longer.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", restVariable+"=1200ms", leastLoadVariable+"="+searchLoad.String(), stealVariable+"="+tu.t.TempDir())
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// must runs the binary; another status than 0 ends the test.
func (tu *tuning) must(args ...string) string {
	tu.t.Helper()
	cmd, out, errs := tu.command(args...)
	if err := cmd.Run(); err != nil {
		tu.t.Fatalf("iikanji %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// searchLoad and watchLoad are the loads of the runs: nothing is asserted of the
// scores, but observed runs need time for findings.
const (
	searchLoad = 1500 * time.Millisecond
	watchLoad  = 3 * time.Second
)

// searchArgs returns the arguments of a short search.
func searchArgs(more ...string) []string {
	return append([]string{"tune", "--short", searchLoad.String(), "--full", searchLoad.String(), "--watch", watchLoad.String(), "--pairs", "2", "--json"}, more...)
}

// leastTime is the shortest --time that tune takes for such a search.
func leastTime() string {
	return search.Options{Short: searchLoad, Watch: watchLoad, Pairs: 2}.LeastTime().String()
}

// TestTuneUnderLoad kills the real binary while a change is on trial, on a real arena. After
// recover and revert --all every byte is as before. Then a search runs to its end,
// with the example of a proposer, and its committed history has no path of the machine;
// revert --all restores the original bytes and tables, whatever the search kept. The guard is on and sees 0 to 15 % of steal.
func TestTuneUnderLoad(t *testing.T) {
	tier.Slow(t)
	proposer, err := filepath.Abs("../../docs/examples/proposer.py")
	if err != nil {
		t.Fatal(err)
	}
	tu := tuningOf(t)
	killed := tu.killed()
	tu.must("recover")
	tu.must("revert", "--all")
	same(t, "recovered", filesBelow(t, tu.dir), filesOfState(tu.original))
	tu.wantUndone(killed)

	cmd, stdout, stderr := tu.command(searchArgs("--time", leastTime(), "--proposer", proposer)...)
	err = cmd.Run()
	if s, e := progress.Read(filepath.Join(tu.dir, "history")); e != nil || s.Command != "tune" || !s.Ended || s.Runs == 0 || len(s.Lines) == 0 {
		t.Errorf("the last state of the progress file is %+v, %v", s, e)
	}
	var out tune.Outcome
	if e := json.Unmarshal(stdout.Bytes(), &out); e != nil {
		t.Fatalf("%v: %v\n%s\n%s", err, e, stdout, stderr)
	}
	t.Logf("killed on trial: %v; then %d runs, %d attempts: %v", killed, out.Runs, len(out.Attempts), err)
	switch {
	case err != nil && !slow(stderr):
		t.Fatalf("%v\n%s", err, stderr)
	case err == nil && (out.Runs == 0 || strings.Contains(stderr.String(), "no proposals from the proposer")):
		t.Errorf("%d runs, %d attempts\n%s", out.Runs, len(out.Attempts), stderr)
	}
	if killed { // it has a change at least
		committedHistory(t, filepath.Join(tu.dir, "history"), "isucondition", "--dir", tu.dir)
	}
	tu.must("revert", "--all")
	same(t, "all changes reverted", tu.state(), tu.original)

	tu.agentTurn()
	same(t, "the turn of an agent reverted", tu.state(), tu.original)
}

// slow reports whether a search failed because the machine is too slow for the
// arena's own time limits.
func slow(stderr *bytes.Buffer) bool {
	return strings.Contains(stderr.String(), "no whole answer within")
}

// filesOfState returns the files of a state.
func filesOfState(state map[string]string) map[string]string {
	files := maps.Clone(state)
	maps.DeleteFunc(files, func(place, _ string) bool { return !filepath.IsAbs(place) })
	return files
}

// killed starts a search and kills it while a change is being applied. It returns
// false if the machine was too slow for the search to get there. A search of two minutes
// measures the noise in half of the runs, but on a busy machine it may end before a trial.
func (tu *tuning) killed() bool {
	tu.t.Helper()
	for _, limit := range []string{"2m", "0"} {
		cmd, _, stderr := tu.command(searchArgs("--time", limit)...)
		if err := cmd.Start(); err != nil {
			tu.t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if tu.untilApplied(ended) {
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				tu.t.Fatal(err)
			}
			<-ended
			return true
		}
		if slow(stderr) {
			return false
		}
		tu.t.Logf("--time %s: it ended before any trial:\n%s", limit, stderr)
	}
	tu.t.Fatal("two searches ended before any trial")
	return false
}

// wantUndone tests that each change is undone, and that one was on trial if tried.
func (tu *tuning) wantUndone(tried bool) {
	tu.t.Helper()
	h, err := history.View(filepath.Join(tu.dir, "history"))
	if err != nil {
		tu.t.Fatal(err)
	}
	defer h.Close()
	changes, err := h.Changes()
	if err != nil {
		tu.t.Fatal(err)
	}
	if tried && len(changes) == 0 {
		tu.t.Error("no change was on trial")
	}
	for _, c := range changes {
		if c.Stage != iikanji.Reverted && c.Stage != iikanji.Planned {
			tu.t.Errorf("change %d is %s", c.ID, c.Stage)
		}
	}
}

// untilApplied waits until the journal has the start of a change's operation. It
// returns false if the process ended before.
func (tu *tuning) untilApplied(ended <-chan error) bool {
	journal := filepath.Join(tu.dir, "history", "journal.jsonl")
	for {
		b, err := os.ReadFile(journal)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			tu.t.Fatal(err)
		}
		if bytes.Contains(b, []byte(`"op-begun"`)) {
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(time.Millisecond):
		}
	}
}
