package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// movedState is what a move changes on a machine, as a script that prints it: files, units,
// the folder of data, accounts and tables; and of the idle machines the rows.
const movedState = `cd /etc && find systemd/system mysql ! -type l -printf '%p %y %m %u\n' -o -type l -printf '%p -> %l\n' | grep -v /dev/null | sort
find systemd/system mysql -type f | sort | xargs sha256sum
ls -d /var/lib/mysql*
stat -c '%i %U %a' /var/lib/mysql
for u in mariadb isucondition.go nginx; do systemctl is-active $u; systemctl is-enabled $u; done
mariadb -Ne "select concat(user, '@', host, ' ', json_remove(priv, '$.password_last_changed')) from mysql.global_priv order by 1"
mariadb-dump --all-databases --skip-dump-date --order-by-primary --ignore-table=mysql.global_priv --ignore-table=mysql.innodb_index_stats --ignore-table=mysql.innodb_table_stats ROWS | sha256sum; :`

// A movedSite is an arena on three machines as iikanji init describes it, with the arena's
// own benchmarker.
type movedSite struct {
	*shownPark
	dir, work string
	remedy    string // file of the move
}

// newMovedSite describes the machines in a folder.
func newMovedSite(t *testing.T, p *shownPark) *movedSite {
	t.Helper()
	s := &movedSite{shownPark: p, dir: t.TempDir(), work: filepath.Join(t.TempDir(), "work")}
	self, err := exec.LookPath("iikanji") // this program, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	bench := self + ` bench isucondition --url $IIKANJI_URL --history ` + filepath.Join(s.work, "benchmarker") +
		" --set jia=" + strings.TrimSuffix(p.addresses[0], "11") + "1:0" // the first address is this machine's
	args := []string{"init", "--accept-new", "--into", s.dir, "--policy", "contest", "--bench", bench + " --json --load ${IIKANJI_SECONDS}s"}
	for _, a := range p.addresses {
		args = append(args, "ssh://isucon@"+a)
	}
	s.must(args...)
	path := filepath.Join(s.dir, target.Name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), "[bench]\n", "[bench]\ninitialize = '"+bench+" --no-load'\n", 1))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.remedy = filepath.Join(s.dir, "move.json")
	if err := os.WriteFile(s.remedy, []byte(`[{"kind": "topology", "target": "mariadb", "says": "move", "args": {"act": "move", "service": "mariadb", "to": "isu3"}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// must runs a command that ends with status 0.
func (s *movedSite) must(args ...string) string {
	s.t.Helper()
	return s.want(exitDone, args...)
}

func (s *movedSite) want(status int, args ...string) string {
	s.t.Helper()
	var said lockedBuffer
	got, text := command(s.t.Context(), &said, args...)
	if got != status {
		s.t.Fatalf("%q: status %d\n%s%s", args, got, text, said.String())
	}
	return text + said.String()
}

// state is that of all machines.
func (s *movedSite) state() string {
	s.t.Helper()
	var b strings.Builder
	for i := range s.addresses {
		name, rows := fmt.Sprintf("isu%d", i+1), ""
		if i == 0 {
			rows = "--no-data --skip-opt" // the benchmark makes them
		}
		fmt.Fprintf(&b, "== %s\n%s\n", name, s.inside(name, "sudo -n sh -c '"+strings.ReplaceAll(strings.ReplaceAll(movedState, "ROWS", rows), "'", `'\''`)+"'"))
	}
	_, err := os.Stat(filepath.Join(s.work, "placement.json"))
	fmt.Fprintf(&b, "== no placement: %v\n", os.IsNotExist(err))
	return b.String()
}

// same compares the state with an earlier one, and asks the site.
func (s *movedSite) same(before, when string) {
	s.t.Helper()
	if now := s.state(); now != before {
		s.t.Errorf("%s: the machines are\n%s\nwant\n%s", when, now, before)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) { // its app may have just begun
		r, err := http.Get("http://" + s.addresses[0] + "/api/trend")
		if err == nil {
			r.Body.Close()
		}
		if err == nil && r.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s: the site answers %+v, %v", when, r, err)
		}
	}
}

// run makes one run, which must pass.
func (s *movedSite) run() *iikanji.Run {
	s.t.Helper()
	run := &iikanji.Run{}
	text := s.must("bench", s.dir, "--dir", s.work, "--load", "3s", "--json")
	if err := json.NewDecoder(strings.NewReader(text)).Decode(run); err != nil || run.Outcome != iikanji.Passed {
		s.t.Fatalf("%v: %v\n%s", run.Outcome, err, text)
	}
	return run
}

// bench makes one run, which must pass, and returns the machine of the database in it.
func (s *movedSite) bench() string {
	s.t.Helper()
	run := s.run()
	s.t.Logf("score %.0f, usage %+v", run.Score, run.Usage)
	if cores := run.CapacityOf("isu1"); runtime.NumCPU() > 1 && !(cores > 0 && cores < float64(runtime.NumCPU()-1)) {
		s.t.Errorf("isu1 has %g cores: its quota is not seen", cores)
	}
	i := slices.IndexFunc(run.Usage, func(u iikanji.Usage) bool { return u.Who == "mariadb" && u.User+u.System > 100*time.Millisecond })
	if i < 0 {
		return ""
	}
	return run.Usage[i].Host
}

// TestUpMoveUnderLoad: on the site of iikanji up --hosts 3, which init describes, diagnose and bench
// work, the database goes to another machine by two applies, the benchmark passes there, and
// the undo leaves all machines as they were. A kill of the command within either change, and
// recover, do so, too.
func TestUpMoveUnderLoad(t *testing.T) {
	tier.Slow(t)
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	key, err := lab.NewKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	withAgent(t, key)
	s := newMovedSite(t, upOnHosts(t, "--hosts", "3", "--key", key.Path+".pub"))
	t.Log(s.must("diagnose", s.dir, "--dir", s.work, "--load", "3s"))
	before := s.state()
	apply := []string{"apply", s.dir, "--dir", s.work, "--file", s.remedy}
	t.Log(s.must(apply...))
	t.Log(s.must(apply...))
	if got := s.bench(); got != "isu3" {
		t.Errorf("the database works on %q", got)
	}
	s.indexKept("isu1")
	last := s.latest()
	if text := s.want(exitFailed, "revert", s.dir, fmt.Sprint(last-1), "--dir", s.work); !strings.Contains(text, fmt.Sprintf("undo change %d first", last)) {
		t.Errorf("the copy is removed below the switch: %s", text)
	}
	s.must("revert", s.dir, "--all", "--dir", s.work)
	s.same(before, "after the undo")
	if got := s.bench(); got != "isu1" {
		t.Errorf("back, the database works on %q", got)
	}
	s.killed(before, "prepare", apply)
	s.must(apply...)
	prepared := s.state()
	s.killed(prepared, "switch", apply)
	s.must("revert", s.dir, "--all", "--dir", s.work)
	s.same(before, "in the end")
}

// indexKept checks that an index would be kept in the SQL files of a machine: of that where
// initialize loads them, wherever the database is.
func (s *movedSite) indexKept(on string) {
	s.t.Helper()
	file := filepath.Join(s.dir, "index.json")
	const remedy = `[{"kind": "ddl", "target": "mariadb", "says": "an index", "args": {"act": "add index", "schema": "isucondition", "table": "isu", "columns": "jia_user_id", "into": "schema file"}}]`
	if err := os.WriteFile(file, []byte(remedy), 0o600); err != nil {
		s.t.Fatal(err)
	}
	var list remedyList
	text := s.must("plan", s.dir, "--dir", s.work, "--file", file, "--json")
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&list); err != nil || len(list.Plans) != 1 || list.Plans[0].Change == nil {
		s.t.Fatalf("%v\n%s", err, text)
	}
	for _, op := range list.Plans[0].Change.Do {
		if op.Verb == iikanji.Write && op.Host != on {
			s.t.Errorf("the index is kept in %s", op.Location())
		}
	}
}

// killed kills an apply at a moment after it has begun, in a soak at several, and recovers.
func (s *movedSite) killed(before, what string, args []string) {
	s.t.Helper()
	moments := []time.Duration{300 * time.Millisecond}
	if tier.Soaking() {
		moments = append(moments, 0, time.Second)
	}
	for _, after := range moments {
		cmd := exec.CommandContext(s.t.Context(), "iikanji", args...)
		begun := s.begun()
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); s.begun() == begun && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(after)
		_ = cmd.Process.Kill() // an error: it has ended
		_ = cmd.Wait()         // by the signal
		text := s.must("recover", s.dir, "--dir", s.work)
		s.t.Logf("%s killed after %v: %s", what, after, text)
		if strings.Contains(text, "nothing was half done") { // it was faster
			s.must("revert", s.dir, fmt.Sprint(s.latest()), "--dir", s.work)
		}
		s.same(before, fmt.Sprintf("%s killed after %v", what, after))
	}
}

// begun is how often the journal says that a change is being applied.
func (s *movedSite) begun() int {
	b, err := os.ReadFile(filepath.Join(s.work, "history", "journal.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return strings.Count(string(b), `"applying"`)
}

// latest is the number of the latest change.
func (s *movedSite) latest() int {
	all, err := filepath.Glob(filepath.Join(s.work, "history", "changes", "*"))
	if err != nil || len(all) == 0 {
		s.t.Fatalf("%v: no change", err)
	}
	return len(all)
}
