package stack

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// leavesNothing asserts that a check left neither a process nor a file.
func leavesNothing(t *testing.T, s *Stack) {
	t.Helper()
	mustExist(t, s.dir.path(tmpDir, checkDir), false)
	mustExist(t, s.scratchSocketOf(s.arena.Service(database)), false)
	mustExist(t, s.dir.path(binDir, builtForCheck), false)
	left, err := filepath.Glob(s.dir.path(confDir, scratchPrefix+"*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	rec, ok, err := readRecord(s.dir.path(processesFile))
	must(t, err)
	if p, runs := rec.Jobs[databaseChecker]; !ok || runs {
		t.Errorf("process %d is left", p.PID)
	}
}

func TestCheckDatabase(t *testing.T) {
	tier.Slow(t)
	s := bring(t, tiny(), Options{Dir: shared(t)})
	dir := t.TempDir()
	candidate := filepath.Join(dir, "candidate.cnf")
	writeForTest(t, s.dir.path(confDir, "mariadb.d", "iikanji.cnf"), "[mysqld]\nno_such_thing_of_old = 1\n") // the candidate replaces it
	for _, c := range []struct {
		name, text string
		says       []string // empty if the config is valid
	}{
		{"good", "[mysqld]\ninnodb_buffer_pool_size = 64M\ninnodb_flush_log_at_trx_commit = 2\n", nil},
		{"empty", "", nil},
		{"hostile to the real one", "[mysqld]\ndatadir = " + s.dir.path(mariadbDir) + "\nlog_bin = " + s.dir.path(tmpDir, "binlog") + "\nskip_networking = 0\nport = 1\n" +
			"innodb_data_home_dir = " + s.dir.path(mariadbDir) + "\nlog_error = " + s.dir.path(tmpDir, "elsewhere") + "\n", nil},
		{"unknown", "[mysqld]\nno_such_thing = 1\n", []string{"[ERROR]", "unknown variable 'no_such_thing=1'"}},
		{"too much memory", "[mysqld]\ninnodb_buffer_pool_size = 100T\n", []string{"[ERROR]", "InnoDB"}},
		{"out of bounds", "[mysqld]\ninnodb-flush-log-at-trx-commit = 9\n", []string{"unsigned value 9 adjusted to 3"}},
		{"no value for it", "[mysqld]\ninnodb_flush_method = XX\n", []string{"Error while setting value 'XX'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeForTest(t, candidate, c.text)
			err := s.CheckConfig(t.Context(), database, candidate)
			leavesNothing(t, s)
			var config *ConfigError
			if c.says == nil && err != nil || c.says != nil && !errors.As(err, &config) {
				t.Fatalf("error: %v", err)
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error: %v, want %q in it", err, want)
				}
			}
		})
	}
	for _, not := range []string{"binlog.index", "elsewhere"} {
		mustExist(t, s.dir.path(tmpDir, not), false)
	}
	// The real database still runs, with its own config.
	if got := page(t, s.Places().URL()); got != "hello 3" {
		t.Errorf("page: %q", got)
	}
	// The second database starts with the limits of the real one.
	writeForTest(t, s.LimitsFile(database), "nofile = 1024\n")
	writeForTest(t, candidate, "[mysqld]\nmax_connections = 9000\n")
	must(t, s.CheckConfig(t.Context(), database, candidate))
	if log, err := s.dir.read(logDir, checkDatabaseLog); err != nil || !strings.Contains(string(log), "max_open_files to more than 1024 ") {
		t.Errorf("%v; its log:\n%s", err, log)
	}
	leavesNothing(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	writeForTest(t, candidate, "[mysqld]\n")
	if err := s.CheckConfig(ctx, database, candidate); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	leavesNothing(t, s)
	if err := s.CheckConfig(t.Context(), database, filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error: %v", err)
	}
	leavesNothing(t, s)
}

func TestCheckNginx(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	conf, err := s.dir.read(confDir, nginxConf)
	must(t, err)
	candidate := s.dir.path(confDir, scratchPrefix+"test.conf")
	t.Cleanup(func() { _ = os.Remove(candidate) })
	for _, mode := range []os.FileMode{0o644, 0o600} { // only the calling user may read the second one
		must(t, os.WriteFile(candidate, conf, mode))
		must(t, os.Chmod(candidate, mode))
		must(t, s.CheckConfig(t.Context(), nginx, candidate))
		must(t, os.WriteFile(candidate, []byte("events {}\nhttp { no_such_directive on; }\n"), mode))
		var config *ConfigError
		err := s.CheckConfig(t.Context(), nginx, candidate)
		if !errors.As(err, &config) || config.Path != candidate || !strings.Contains(err.Error(), "no_such_directive") || !strings.Contains(err.Error(), candidate+":2") {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	must(t, os.Remove(candidate))
	leavesNothing(t, s)
	if err := s.CheckConfig(t.Context(), nginx, candidate); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error: %v", err)
	}
}

func TestBuildIn(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(s.Source(app))))
	was, err := os.Stat(s.dir.path(binDir, "app"))
	must(t, err)
	must(t, s.TryBuild(t.Context(), app, dir))
	leavesNothing(t, s)
	must(t, os.WriteFile(filepath.Join(dir, "further.go"), []byte("package main\n\nfunc f() int { return \"\" }\n"), 0o644))
	var build *process.BuildError
	err = s.TryBuild(t.Context(), app, dir)
	if !errors.As(err, &build) || build.Source != dir || !slices.ContainsFunc(build.Lines, func(l string) bool { return strings.HasPrefix(l, "./further.go:3:") }) {
		t.Errorf("error: %v", err)
	}
	leavesNothing(t, s)
	if now, err := os.Stat(s.dir.path(binDir, "app")); err != nil || !os.SameFile(was, now) {
		t.Errorf("the app's binary was touched: %v", err)
	}
}

// TestBuildLinksNothing: the trial build ends before the linker runs. A source that only
// the linker refuses fails the real build, and the running app stays.
func TestBuildLinksNothing(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	main := filepath.Join(s.Source(app), "main.go")
	good, err := os.ReadFile(main)
	must(t, err)
	t.Cleanup(func() { must(t, os.WriteFile(main, good, 0o644)) })
	must(t, os.WriteFile(main, []byte(strings.Replace(string(good), "func main()", "func entry()", 1)), 0o644))
	must(t, s.TryBuild(t.Context(), app, s.Source(app)))
	leavesNothing(t, s)
	var build *process.BuildError
	if err := s.Rebuild(t.Context(), app); !errors.As(err, &build) || !strings.Contains(err.Error(), "function main is undeclared") {
		t.Errorf("a program without main: %v", err)
	}
	if got := page(t, s.Places().URL()); got != "hello 3" {
		t.Errorf("page after a failed build: %q", got)
	}
	must(t, os.WriteFile(main, good, 0o644))
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-no-such-flag"))
	must(t, s.TryBuild(t.Context(), app, s.Source(app)))
	if err := s.Rebuild(t.Context(), app); !errors.As(err, &build) {
		t.Errorf("the linker takes an unknown flag: the test proves nothing: %v", err)
	}
}

// TestSweep asserts that the next Up removes what a crash left of a check.
func TestSweep(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	down(t, s)
	left := []string{s.dir.path(confDir, scratchPrefix+"test-1.conf"), s.dir.path(confDir, "mariadb.d", scratchPrefix+"test-1.tmp"), s.dir.path(binDir, builtForCheck)}
	for _, path := range left {
		must(t, os.WriteFile(path, nil, 0o644))
	}
	bring(t, tiny(), Options{Dir: s.dir.root})
	for _, path := range left {
		mustExist(t, path, false)
	}
}

// TestCheckKilled kills a process during a check of the database's config. The
// second database must end too, and the next Up must remove its files.
func TestCheckKilled(t *testing.T) {
	dir := shared(t)
	t.Setenv(checkVariable, "yes")
	cmd, _ := another(t, dir, nil)
	scratch := filepath.Join(dir, tmpDir, checkDir, "data", "ibdata1")
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(scratch); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no check is under way")
		}
	}
	must(t, cmd.Process.Kill())
	quiet(t, dir)
	t.Setenv(checkVariable, "")
	leavesNothing(t, bring(t, tiny(), Options{Dir: dir}))
}
