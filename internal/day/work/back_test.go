package work_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/targettest"
)

// ferryFile describes the ferry company's site.
func ferryFile(t *testing.T, dir, url string) *target.File {
	t.Helper()
	text := strings.NewReplacer("@DIR@", dir, "@URL@", url).Replace(`version = 1
url = "@URL@"
[[service]]
name = "nginx"
role = "web"
engine = "nginx"
pid_file = "@DIR@/run/nginx.pid"
program = "/usr/sbin/nginx"
config = "@DIR@/conf/nginx.conf"
health = "none"
[[service]]
name = "ferry"
role = "app"
engine = "go"
pid_file = "@DIR@/run/counter.pid"
program = "@DIR@/bin/ferry"
health = "none"
[service.app]
source = "@DIR@/app"
[[service]]
name = "mariadb"
role = "database"
engine = "mariadb"
socket = "@DIR@/run/db.sock"
pid_file = "@DIR@/run/db.pid"
program = "/usr/sbin/mariadbd"
config = "@DIR@/conf/my.cnf"
drop_in = "@DIR@/conf/my.cnf.d/zz-iikanji.cnf"
[service.database]
schema = "ferry"
schema_folders = ["@DIR@/sql"]
[policy]
profile = "production"
folders = ["@DIR@/conf", "@DIR@/app", "@DIR@/sql"]
`)
	f, err := target.Parse(filepath.Join(dir, target.Name), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A ferry is the site, opened by this process.
type ferry struct {
	t       *testing.T
	dir     string
	subject *livesite.Subject
	day     *work.Day
	h       *history.History
}

// openFerry opens the site in a folder, which another process may have started.
func openFerry(t *testing.T, dir, url, workDir string) *ferry {
	t.Helper()
	s, err := livesite.Open(t.Context(), livesite.Options{File: ferryFile(t, dir, url), Dir: workDir, Ended: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	st, err := store.Open(filepath.Join(workDir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(filepath.Join(workDir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	f := &ferry{t: t, dir: dir, subject: s, h: h}
	f.day = &work.Day{Store: st, History: h, Now: time.Now, Who: "aoi", Folders: []string{filepath.Join(dir, "conf")}}
	return f
}

// look takes the state with the present processes.
func (f *ferry) look() *state.State {
	f.t.Helper()
	f.day.Site = f.subject.Site()
	f.day.Site.Target = f.subject.Target()
	s, err := f.day.Look(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func (f *ferry) write(name, text string) {
	f.t.Helper()
	full := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *ferry) replace(name, old, new string) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil || !strings.Contains(string(text), old) {
		f.t.Fatalf("%s has no %q: %v", name, old, err)
	}
	f.write(name, strings.ReplaceAll(string(text), old, new))
}

func (f *ferry) sql(statements ...string) {
	f.t.Helper()
	for _, s := range statements {
		if _, err := f.subject.Site().Services["mariadb"].DB().Exec(s); err != nil {
			f.t.Fatalf("%s: %v", s, err)
		}
	}
}

func (f *ferry) reload() {
	f.t.Helper()
	if err := f.subject.Reload(f.t.Context(), "nginx"); err != nil {
		f.t.Fatal(err)
	}
}

// what is all of a state that iikanji brings back: files, variables, definitions.
func what(s *state.State) string {
	var b strings.Builder
	for _, h := range s.Hosts {
		for _, f := range h.Files {
			fmt.Fprintf(&b, "%s %s %s %o %s\n", f.Path, f.Class, f.SHA, f.Mode, f.Owner)
		}
		for _, svc := range h.Services {
			for _, name := range slices.Sorted(func(yield func(string) bool) {
				for name := range svc.Variables {
					if !yield(name) {
						return
					}
				}
			}) {
				fmt.Fprintf(&b, "%s = %s\n", name, svc.Variables[name].Value)
			}
			for _, name := range slices.Sorted(func(yield func(string) bool) {
				for name := range svc.Tables {
					if !yield(name) {
						return
					}
				}
			}) {
				fmt.Fprintf(&b, "%s\n%s\n", name, svc.Tables[name])
			}
		}
	}
	return b.String()
}

// days are ten states of the site, each an edit on top of the one before.
func days(f *ferry) []func() {
	return []func(){
		func() {},
		func() {
			f.replace("conf/site-ferry.conf", "upstream counter {", "upstream counter { keepalive 16;")
			f.reload()
		},
		func() { f.sql("ALTER TABLE booking ADD INDEX by_crossing (crossing_id)") },
		func() { f.sql("SET GLOBAL max_connections = 222", "SET GLOBAL innodb_flush_log_at_trx_commit = 2") },
		func() {
			f.write("conf/site-more.conf", "# more\nserver { listen unix:"+f.dir+"/run/more.sock; return 204; }\n")
			f.reload()
		},
		func() {
			f.sql("ALTER TABLE crossing ADD INDEX by_harbour (harbour, departs), ADD UNIQUE INDEX by_ship (id, ship)", "ALTER TABLE booking ADD INDEX by_name (passenger(10) DESC)")
		},
		func() {
			f.write("conf/my.cnf.d/a.cnf", "[mysqld]\nmax_connections = 222\nthread_cache_size = 33\n")
			f.sql("SET GLOBAL thread_cache_size = 33")
		},
		func() {
			f.sql("ALTER TABLE booking DROP INDEX by_crossing")
			if err := os.Remove(filepath.Join(f.dir, "conf/site-more.conf")); err != nil {
				f.t.Fatal(err)
			}
			f.reload()
		},
		func() {
			f.replace("app/main.go", "LIMIT 3", "LIMIT 2")
			f.write("app/deep/note.sql", "-- a file in a new folder\n")
		},
		func() {
			f.replace("conf/nginx.conf", "worker_processes 2", "worker_processes 1")
			f.sql("SET GLOBAL max_connections = 151")
			f.reload()
		},
	}
}

// TestBackBetweenStates brings the site from each of ten states to each other one: files,
// variables and indexes are those of the state, to the byte.
func TestBackBetweenStates(t *testing.T) {
	tier.Slow(t)
	s := startFerry(t)
	f := openFerry(t, s.Dir, s.URL, t.TempDir())
	var states []*state.State
	for i, edit := range days(f) {
		edit()
		st := f.look()
		if err := f.day.Save(st, iikanji.RunID(i+1)); err != nil {
			t.Fatal(err)
		}
		states = append(states, st)
		if i > 0 && what(st) == what(states[i-1]) {
			t.Fatalf("edit %d changed nothing", i)
		}
	}
	x := &change.Executor{Hands: f.subject.Site(), Journal: f.h}
	at, made := len(states)-1, 0
	for _, to := range order(len(states)) {
		if to == at {
			continue
		}
		f.back(x, states[to])
		if got := f.look(); what(got) != what(states[to]) {
			t.Fatalf("from %d to %d:\n%s", at+1, to+1, firstDifference(what(got), what(states[to])))
		}
		at, made = to, made+1
	}
	t.Logf("%d ways between %d states", made, len(states))
	f.refusesAltered(states[0])
	// The undo of all of them is the last state again.
	if _, err := x.RevertAll(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if got := f.look(); what(got) != what(states[len(states)-1]) {
		t.Errorf("after the undo of all:\n%s", firstDifference(what(got), what(states[len(states)-1])))
	}
}

// refusesAltered checks that a table whose columns were altered by hand stays, and that this is
// told: an index could be brought back, but the data of a column could not.
func (f *ferry) refusesAltered(to *state.State) {
	f.t.Helper()
	f.sql("ALTER TABLE booking ADD COLUMN by_hand INT NOT NULL DEFAULT 7")
	b, err := f.day.PlanBack(f.t.Context(), f.look(), to, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	altered := func(s work.Stay) bool { return s.Matters && strings.HasSuffix(s.Place, ".booking") }
	if !slices.ContainsFunc(b.Stays, altered) {
		f.t.Errorf("a table that was altered by hand is brought back: %+v", b.Stays)
	}
	f.sql("ALTER TABLE booking DROP COLUMN by_hand")
}

// order is a walk with each ordered pair of n states once (in make check, a walk with each
// state as a beginning and an end several times).
func order(n int) (walk []int) {
	at := n - 1
	used := map[[2]int]bool{}
	steps := 24
	if tier.Soaking() {
		steps = n * (n - 1)
	}
	for range steps {
		best := -1
		for k := 1; k < n; k++ { // the next state that was not reached from here
			if to := (at + k*3 + k/3) % n; to != at && !used[[2]int{at, to}] {
				best = to
				break
			}
		}
		if best < 0 {
			for to := range n {
				if to != at && !used[[2]int{at, to}] {
					best = to
				}
			}
		}
		if best < 0 {
			best = (at + 1) % n
		}
		used[[2]int{at, best}] = true
		walk, at = append(walk, best), best
	}
	return walk
}

// back applies the change that leads to a state.
func (f *ferry) back(x *change.Executor, to *state.State) *iikanji.Change {
	f.t.Helper()
	c := f.plan(to)
	if c == nil {
		return nil
	}
	if err := f.h.AddChange(c, change.Diff(c)); err != nil {
		f.t.Fatal(err)
	}
	if err := x.Apply(f.t.Context(), c.ID); err != nil {
		f.t.Fatalf("%v\n%s", err, change.Diff(c))
	}
	return c
}

func (f *ferry) plan(to *state.State) *iikanji.Change {
	f.t.Helper()
	now := f.look()
	b, err := f.day.PlanBack(f.t.Context(), now, to, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, s := range b.Stays {
		if s.Matters {
			f.t.Fatalf("%s stays: %s", s.Place, s.Why)
		}
	}
	return b.Change
}

func startFerry(t *testing.T) *targettest.Site {
	t.Helper()
	s, err := targettest.Start(context.WithoutCancel(t.Context()), targettest.Edit{File: "sql/data.sql", Old: "seq_1_to_6000", New: "seq_1_to_60"}, targettest.Edit{File: "sql/data.sql", Old: "seq_1_to_20000", New: "seq_1_to_200"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func firstDifference(a, b string) string {
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(la), len(lb)) {
		if la[i] != lb[i] {
			return "is   " + la[i] + "\nwant " + lb[i]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(la), len(lb))
}

// Variables of the environment with the task of the process that is killed.
const killStep, killDir, killURL, killWork = "IIKANJI_WORK_KILL", "IIKANJI_WORK_DIR", "IIKANJI_WORK_URL", "IIKANJI_WORK_WORK"

// TestBackKilled: a process that brings a state back is killed at each step of the journal
// and of the site. Recovery leads to the state of before, or the change is whole.
func TestBackKilled(t *testing.T) {
	if os.Getenv(killStep) != "" {
		killedBack(t)
		return
	}
	tier.Slow(t)
	s := startFerry(t)
	workDir := t.TempDir()
	f := openFerry(t, s.Dir, s.URL, workDir)
	first := f.look()
	if err := f.day.Save(first, 1); err != nil {
		t.Fatal(err)
	}
	for _, edit := range days(f)[1:8] {
		edit()
	}
	before := f.look()
	if err := f.h.Close(); err != nil {
		t.Fatal(err)
	}
	stages := map[iikanji.Stage]int{}
	every := 4 // in make check, each fourth step
	if tier.Soaking() {
		every = 1
	}
	for step := 1; step < 100; step += every {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestBackKilled$", "-test.timeout", "3m")
		cmd.Env = append(os.Environ(), killStep+"="+strconv.Itoa(step), killDir+"="+s.Dir, killURL+"="+s.URL, killWork+"="+workDir, "GORACE=atexit_sleep_ms=0")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		survived := err == nil
		if !survived && (!errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL) {
			t.Fatalf("step %d: the child ended by itself: %v\n%s", step, err, out)
		}
		stages[recovered(t, s, workDir, first, before, step)]++
		if survived {
			if step < 10 {
				t.Errorf("the child had only %d steps", step)
			}
			break
		}
	}
	t.Logf("kills ended in %v", stages)
	if stages[iikanji.Reverted] == 0 || tier.Soaking() && stages[iikanji.Applied] == 0 {
		t.Errorf("no kill ended with the change applied, or none with it undone: %v", stages)
	}
}

// recovered brings the site of a killed child to a known state and checks it; a change that
// is whole is undone.
func recovered(t *testing.T, s *targettest.Site, workDir string, first, before *state.State, step int) iikanji.Stage {
	t.Helper()
	f := openFerry(t, s.Dir, s.URL, workDir)
	defer f.h.Close()
	defer f.subject.Close()
	x := &change.Executor{Hands: f.subject.Site(), Journal: f.h}
	if _, err := x.Recover(t.Context()); err != nil {
		t.Fatalf("killed at step %d: %v", step, err)
	}
	all, err := f.h.Changes()
	if err != nil {
		t.Fatal(err)
	}
	stage := iikanji.StageUnknown
	if len(all) > 0 {
		last := all[len(all)-1]
		stage = last.Stage
		if stage == iikanji.Applied || stage == iikanji.Kept {
			if got := f.look(); what(got) != what(first) {
				t.Errorf("killed at step %d, applied:\n%s", step, firstDifference(what(got), what(first)))
			}
			if err := x.Revert(t.Context(), last.ID, "test"); err != nil {
				t.Fatalf("killed at step %d: %v", step, err)
			}
		}
	}
	if got := f.look(); what(got) != what(before) {
		t.Fatalf("killed at step %d:\n%s", step, firstDifference(what(got), what(before)))
	}
	return stage
}

// killedBack is the child: it kills itself at the given step.
func killedBack(t *testing.T) {
	left, err := strconv.Atoi(os.Getenv(killStep))
	if err != nil {
		t.Fatal(err)
	}
	f := openFerry(t, os.Getenv(killDir), os.Getenv(killURL), os.Getenv(killWork))
	first, err := f.day.Store.LoadState(1)
	if err != nil {
		t.Fatal(err)
	}
	d := &deadly{left: left}
	c := f.plan(first)
	d.step()
	if err := f.h.AddChange(c, change.Diff(c)); err != nil {
		t.Fatal(err)
	}
	x := &change.Executor{Hands: deadlyHands{f.subject.Site(), d}, Journal: deadlyJournal{f.h, d}}
	if err := x.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	if err := x.Revert(t.Context(), c.ID, "test"); err != nil {
		t.Fatal(err)
	}
	d.step()
}

// A deadly counts steps and kills this process at the last one.
type deadly struct{ left int }

func (d *deadly) step() {
	if d.left--; d.left == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute) // until the signal arrives
	}
}

type deadlyHands struct {
	change.Hands
	*deadly
}

func (h deadlyHands) Perform(ctx context.Context, op iikanji.Op) error {
	h.step()
	return h.Hands.Perform(ctx, op)
}

type deadlyJournal struct {
	*history.History
	*deadly
}

func (j deadlyJournal) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	j.step()
	return j.History.MoveChange(id, to, why)
}

func (j deadlyJournal) Append(e history.Event) error {
	j.step()
	return j.History.Append(e)
}
