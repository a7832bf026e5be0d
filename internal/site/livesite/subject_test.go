package livesite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all" // every kind
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/target"
	"github.com/iikanji/iikanji/internal/site/targettest"
)

func TestMain(m *testing.M) {
	process.MaybeSupervise()
	os.Exit(m.Run())
}

// opened starts the ferry company and opens it by what init found.
func opened(t *testing.T) (*targettest.Site, *Subject) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	site, err := targettest.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Stop(); err != nil {
			t.Error(err)
		}
	})
	found, err := discover.Ask(ctx, host.Local{}, discover.Options{URL: site.URL, Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := target.Parse(filepath.Join(site.Dir, target.Name), []byte(found.Text()))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, Options{File: f, Dir: t.TempDir(), Progress: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return site, s
}

func answer(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", url, res.Status, err, b)
	}
	return string(b)
}

// looks is how a process runs, without its id.
func looks(t *testing.T, pid int) string {
	t.Helper()
	p, err := process.ReadProcess(host.Local{}, pid)
	if err != nil {
		t.Fatal(err)
	}
	env, err := process.Env(host.Local{}, pid)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(p.Name, "nginx") {
		env = nil // nginx overwrites it
	}
	out := fmt.Sprintf("%s %q in %s as %d %d %v\n%q\n", p.Program, p.Args, p.Dir, p.UID, p.GID, p.Groups, env)
	for n := range 3 {
		to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, n))
		out += to + "\n"
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Umask") || strings.HasPrefix(line, "Cpus_allowed_list") {
			out += line
		}
	}
	return out + string(limits)
}

func TestSubject(t *testing.T) {
	tier.Slow(t)
	site, s := opened(t)
	t.Run("found", func(t *testing.T) {
		groups := s.Groups()
		want := map[string]int{"nginx": site.PID("nginx"), "ferry": site.PID("counter"), "ferry-2": site.PID("tidy"), "mariadb": site.PID("db")}
		for name, pid := range want {
			if len(groups[name]) != 1 || groups[name][0] != pid {
				t.Errorf("%s: processes %v, want %d", name, groups[name], pid)
			}
		}
		if s.AccessLog() != filepath.Join(site.Dir, "log", "access.log") || s.URL() != site.URL {
			t.Errorf("access log %s, URL %s", s.AccessLog(), s.URL())
		}
	})
	for _, name := range []string{"ferry", "ferry-2", "nginx", "mariadb"} {
		t.Run("restart "+name, func(t *testing.T) { restarts(t, s, name) })
	}
	if got := site.PID("counter"); got != s.Groups()["ferry"][0] {
		t.Errorf("the app's pid file has %d, the process is %v", got, s.Groups()["ferry"])
	}
	answer(t, site.URL+"/harbour/harbour-1")
	t.Run("found again", func(t *testing.T) { foundAgain(t, site, s) })
	t.Run("kill", func(t *testing.T) { killed(t, site, s) })
	t.Run("changes", func(t *testing.T) { changes(t, site, s) })
	t.Run("snapshot", func(t *testing.T) { snapshots(t, s) })
	t.Run("sensors", func(t *testing.T) { sensors(t, site, s) })
	t.Run("config", func(t *testing.T) { configs(t, site, s) })
	t.Run("health", func(t *testing.T) { deadApp(t, s) })
}

// restarts expects a service to run after a restart as it ran before.
func restarts(t *testing.T, s *Subject, name string) {
	pid := s.Groups()[name][0]
	before := looks(t, pid)
	if err := s.Restart(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	now := s.Groups()[name]
	if len(now) != 1 || now[0] == pid {
		t.Fatalf("processes %v after the restart of %d", now, pid)
	}
	after := looks(t, now[0])
	for end := time.Now().Add(time.Minute); after != before && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		after = looks(t, now[0]) // an nginx listens before it writes its title
	}
	if after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if p, err := process.ReadProcess(host.Local{}, now[0]); err != nil || p.Parent == os.Getpid() {
		t.Errorf("the process is a child of this one: %v", err)
	}
}

// foundAgain expects the same services as before the restarts: the supervisor of a
// restarted process is none.
func foundAgain(t *testing.T, site *targettest.Site, s *Subject) {
	found, err := discover.Ask(t.Context(), host.Local{}, discover.Options{URL: site.URL, Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	if was, is := serviceNames(s.File()), serviceNames(found.File); !slices.Equal(was, is) {
		t.Errorf("init finds %q after the restarts, %q before them", is, was)
	}
}

func serviceNames(f *target.File) (names []string) {
	for _, s := range f.Services {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// killed kills all services and starts them in the worst order.
func killed(t *testing.T, site *targettest.Site, s *Subject) {
	before := s.Groups()
	if err := s.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := s.Groups(); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	for name, pids := range before {
		if p, err := process.ReadProcess(host.Local{}, pids[0]); err == nil && p.State != 'Z' {
			t.Errorf("%s (%d) still runs", name, pids[0])
		}
	}
	for _, name := range []string{"nginx", "ferry", "ferry-2", "mariadb"} {
		if err := s.Restart(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	answer(t, site.URL+"/harbour/harbour-1")
}

// changes applies and reverts a change of each sort that a foreign site has.
func changes(t *testing.T, site *targettest.Site, s *Subject) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	x := &change.Executor{Hands: s.Site(), Journal: h, Policy: s.Site().Target.Policy}
	program, err := os.ReadFile(filepath.Join(site.Dir, "bin", "ferry"))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]iikanji.Remedy{
		"index":    {Kind: "ddl", Target: "mariadb", Args: map[string]string{"act": "add index", "schema": "ferry", "table": "booking", "columns": "crossing_id"}},
		"nginx":    {Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "upstream keepalive", "keepalive": "8"}},
		"database": {Kind: "mysqlconf", Target: "mariadb", Args: map[string]string{"innodb_buffer_pool_size": "96M"}},
		"dsn":      {Kind: "appenv", Target: "ferry", Args: map[string]string{"env.GOGC": "400"}},
		"source":   {Kind: "appenv", Target: "ferry", Args: map[string]string{"pool": "8"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := tree(t, site.Dir, s.options.Dir)
			c, err := change.Plan(t.Context(), s.Site(), r)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.AddChange(c, change.Diff(c)); err != nil {
				t.Fatal(err)
			}
			if err := x.Apply(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
			if name != "index" && equal(before, tree(t, site.Dir, s.options.Dir)) {
				t.Error("applying changed no file")
			}
			if env, err := process.Env(host.Local{}, s.Groups()["ferry"][0]); name == "dsn" && (err != nil || !strings.Contains(strings.Join(env, " "), "GOGC=400")) {
				t.Errorf("the app has no GOGC (%v)", err)
			}
			if now, err := os.ReadFile(filepath.Join(site.Dir, "bin", "ferry")); name == "source" && (err != nil || string(now) == string(program)) {
				t.Errorf("the program was not built (%v)", err)
			}
			answer(t, site.URL+"/harbour/harbour-1")
			if err := x.Revert(t.Context(), c.ID, "test"); err != nil {
				t.Fatal(err)
			}
			if after := tree(t, site.Dir, s.options.Dir); !equal(before, after) {
				for path := range after {
					if before[path] != after[path] {
						t.Errorf("%s is not what it was", path)
					}
				}
			}
			answer(t, site.URL+"/harbour/harbour-1")
		})
	}
	if now, err := os.ReadFile(filepath.Join(site.Dir, "bin", "ferry")); err != nil || string(now) != string(program) {
		t.Errorf("the program is not the original one (%v)", err)
	}
}

// tree are the files of the site that a change may touch.
func tree(t *testing.T, dir, work string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, root := range []string{filepath.Join(dir, "conf"), filepath.Join(dir, "app"), filepath.Join(dir, "sql"), filepath.Join(work, "env")} {
		err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			out[path] = info.Mode().String() + string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}

// snapshots expects the rows to be put back by either method, and the definitions
// of tables to stay as a change has made them.
func snapshots(t *testing.T, s *Subject) {
	db := s.Site().Services["mariadb"].DB()
	exec := func(text string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	state := func() string {
		t.Helper()
		out := ""
		for _, q := range []string{"CHECKSUM TABLE ferry.booking", "CHECKSUM TABLE ferry.crossing", "SHOW CREATE TABLE ferry.booking"} {
			var name, text string
			if err := db.QueryRowContext(t.Context(), q).Scan(&name, &text); err != nil {
				t.Fatal(err)
			}
			out += autoIncrement.ReplaceAllString(text, "") + "\n"
		}
		return out
	}
	reset := func() {
		t.Helper()
		if err := s.Prepare()(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := state()
	for _, method := range []target.Method{target.MethodCopy, target.MethodDump} {
		s.File().Bench.Reset = target.Reset{How: target.ResetSnapshot, Method: method}
		if err := os.RemoveAll(filepath.Join(s.options.Dir, "snapshot")); err != nil {
			t.Fatal(err)
		}
		reset()
		if now := state(); now != before {
			t.Errorf("%s: making the snapshot changed the data:\n%s", method, now)
		}
		exec("DELETE FROM ferry.booking WHERE id < 500")
		exec("INSERT INTO ferry.crossing VALUES (7000, 'x', NOW(), 'y', 'z')")
		reset()
		if now := state(); now != before {
			t.Errorf("%s: after the reset:\n%s\nbefore:\n%s", method, now, before)
		}
	}
	s.File().Bench.Reset.Method = target.MethodCopy
	exec("ALTER TABLE ferry.booking ADD INDEX kept (seats)")
	indexed := state()
	if err := os.WriteFile(filepath.Join(s.options.Dir, "snapshot", "mariadb", "method"), []byte(target.MethodCopy), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // by the rows at first, then by a copy
		exec("DELETE FROM ferry.booking WHERE id < 500")
		reset()
		if now := state(); now != indexed {
			t.Errorf("with an index, after the reset:\n%s\nbefore:\n%s", now, indexed)
		}
	}
	exec("ALTER TABLE ferry.booking DROP INDEX kept")
	if s.File().Bench.Reset = (target.Reset{}); s.Prepare() != nil {
		t.Error("without a reset there is one")
	}
}

// sensors expects a timed log beside the site's own, which loses nothing, and
// everything as before at the end.
func sensors(t *testing.T, site *targettest.Site, s *Subject) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	s.Journal(h)
	defer s.Journal(nil)
	before := tree(t, site.Dir, s.options.Dir)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(site.Dir, "log", "access.log"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	own := size()
	off, err := s.SensorsOn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	log := s.AccessLog()
	if log == filepath.Join(site.Dir, "log", "access.log") {
		t.Fatal("the timed log is not used")
	}
	answer(t, site.URL+"/harbour/harbour-1")
	answer(t, site.URL+"/timetable.txt") // its location has its log turned off
	var text []byte
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end) && strings.Count(string(text), "\n") < 2; {
		if text, err = os.ReadFile(log); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(text), "uri:/harbour/harbour-1\t") || !regexp.MustCompile(`\treqtime:\d+\.\d+\t`).Match(text) || !strings.Contains(string(text), "uri:/timetable.txt\t") {
		t.Errorf("the timed log:\n%s", text)
	}
	if size() <= own {
		t.Error("the site's own log was not written meanwhile")
	}
	if n, err := SensorsInForce(h); err != nil || n != 2 { // the timed log, and the slow log
		t.Errorf("%d sensors in force, %v", n, err)
	}
	if err := off(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the timed log is still there: %v", err)
	}
	if !equal(before, tree(t, site.Dir, s.options.Dir)) || s.AccessLog() != filepath.Join(site.Dir, "log", "access.log") {
		t.Error("the site is not as before")
	}
	interruptedSensors(t, s, log)
	if !equal(before, tree(t, site.Dir, s.options.Dir)) {
		t.Error("after interruptions the site is not as before")
	}
}

// interruptedSensors interrupts the turning on of logs soon after the timed log exists: the file
// goes with the rest.
func interruptedSensors(t *testing.T, s *Subject, log string) {
	for after := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			for ctx.Err() == nil {
				if _, err := os.Stat(log); err == nil {
					time.Sleep(time.Duration(after*7) * time.Millisecond) // into another step
					cancel()
				}
			}
		}()
		off, err := s.SensorsOn(ctx)
		cancel()
		<-watched
		if err == nil {
			err = off()
		} else if errors.Is(err, context.Canceled) {
			err = nil
		}
		if err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("interrupted after %d steps of 7 ms: the timed log is left: %v", after, err)
		}
	}
}

// configs expects the services' programs to find mistakes in their configuration.
func configs(t *testing.T, site *targettest.Site, s *Subject) {
	bad := filepath.Join(site.Dir, "conf", ".bad.conf")
	for name, text := range map[string]string{"nginx": "no_such_directive;\n", "mariadb": "[mysqld]\nno_such_variable=1\n"} {
		if err := os.WriteFile(bad, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var refused *ConfigError
		if err := s.CheckConfig(t.Context(), name, bad); !errors.As(err, &refused) || !strings.Contains(err.Error(), "no_such") {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.CheckConfig(t.Context(), name, s.running()[name].Config); err != nil {
			t.Errorf("its own configuration: %v", err)
		}
	}
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
}

// deadApp expects a service that cannot start to be an error that tells how it
// ended, and the service to start again once the cause is gone.
func deadApp(t *testing.T, s *Subject) {
	file := filepath.Join(s.envFolder(), "ferry.env")
	if err := os.WriteFile(file, []byte("FERRY_LISTEN=nowhere:x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var slow *NotReadyError
	if err := s.Restart(ctx, "ferry"); !errors.As(err, &slow) || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("a service that does not start: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(ctx, "ferry"); err != nil {
		t.Error(err)
	}
}
