package nginxconf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// readBackSite is a real nginx with an executor whose history is new.
func readBackSite(t *testing.T) (*testSite, *change.Site, func(iikanji.Remedy) (iikanji.ChangeID, *change.Executor)) {
	t.Helper()
	s := newTestSite(t)
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	site := s.open(s.dir)
	time.Sleep(30 * time.Millisecond) // starts and writes have times in ticks of 10 ms
	x := &change.Executor{Hands: site, Journal: h, Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.Availability, iikanji.Freshness}}}
	return s, site, func(r iikanji.Remedy) (iikanji.ChangeID, *change.Executor) {
		t.Helper()
		c, err := change.Plan(t.Context(), site, r)
		if err == nil {
			err = h.AddChange(c, change.Diff(c))
		}
		if err != nil {
			t.Fatal(err)
		}
		return c.ID, x
	}
}

// TestReadBackReload: a change whose reload did nothing is undone, and the error names
// the file that the workers have not read.
func TestReadBackReload(t *testing.T) {
	tier.Slow(t)
	s, site, plan := readBackSite(t)
	before, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	svc := site.Services["nginx"]
	is := svc.Running.(changetest.Running)
	deaf := is
	deaf.OnReload = func(context.Context) error { return nil }
	svc.Running = deaf
	site.Services["nginx"] = svc
	id, x := plan(remedy("gzip"))
	err = x.Apply(t.Context(), id)
	if err == nil || !strings.Contains(err.Error(), "conf/nginx.conf was written, and has the settings of before") {
		t.Errorf("the reload did nothing: %v", err)
	}
	if after, err := s.state(); err != nil || after != before {
		t.Errorf("after the undo: %v\n%s", err, after)
	}
	svc.Running = is
	site.Services["nginx"] = svc
	id, _ = plan(remedy("gzip"))
	if err := x.Apply(t.Context(), id); err != nil {
		t.Errorf("with a reload: %v", err)
	}
}

// TestReadBackAnotherFile: a setting that another file overrides, when nginx reads its
// files again at a restart, is an error that names this file.
func TestReadBackAnotherFile(t *testing.T) {
	tier.Slow(t)
	s, site, plan := readBackSite(t)
	id, x := plan(remedy("set", "directive", "tcp_nopush", "value", "on"))
	if err := x.Apply(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := x.ReadBack(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(s.dir, "conf/sites/z-later.conf")
	if err := os.WriteFile(later, []byte("server { listen unix:"+s.dir+"/z.sock; tcp_nopush off; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := site.Services["nginx"].Running.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := x.ReadBack(t.Context(), id)
	var lost *nginxedit.OverriddenError
	if !errors.As(err, &lost) || lost.File != later {
		t.Errorf("with %s: %v", later, err)
	}
}

// TestReadBackWorkers: the number of workers is that of the running processes, not that
// of the file.
func TestReadBackWorkers(t *testing.T) {
	tier.Slow(t)
	s, _, plan := readBackSite(t)
	id, x := plan(remedy("workers", "processes", "3", "connections", "64", "nofile", "2048"))
	if err := x.Apply(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	title := func(pid string) string {
		text, _ := os.ReadFile("/proc/" + pid + "/cmdline")
		return string(text)
	}
	pids, err := s.workers()
	if err != nil {
		t.Fatal(err)
	}
	pids = slices.DeleteFunc(pids, func(pid string) bool { return strings.Contains(title(pid), "shutting down") }) // those before the reload
	if len(pids) != 3 {
		t.Fatalf("%d workers run", len(pids))
	}
	worker, err := strconv.Atoi(pids[0])
	if err != nil {
		t.Fatal(err)
	}
	master := s.masters()[0]
	for _, do := range []struct {
		pid int
		sig syscall.Signal
	}{{master, syscall.SIGSTOP}, {worker, syscall.SIGKILL}} { // the master cannot start another one
		if err := syscall.Kill(do.pid, do.sig); err != nil {
			t.Fatal(err)
		}
	}
	if err := servertest.Eventually(func() error { // a process that has ended has no title
		if title(pids[0]) != "" {
			return errors.New("the killed worker still runs")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	err = x.ReadBack(t.Context(), id)
	if kerr := syscall.Kill(master, syscall.SIGCONT); kerr != nil {
		t.Fatal(kerr)
	}
	if err == nil || !strings.Contains(err.Error(), "2 workers run, and worker_processes was set to 3") {
		t.Errorf("with a worker less: %v", err)
	}
	if err := x.ReadBack(t.Context(), id); err != nil {
		t.Errorf("with the worker again: %v", err)
	}
}

// TestReadBackOtherConfiguration: a master that was started with another main file does
// not have the change.
func TestReadBackOtherConfiguration(t *testing.T) {
	tier.Slow(t)
	s, site, plan := readBackSite(t)
	text, err := os.ReadFile(filepath.Join(s.dir, "conf/nginx.conf"))
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "conf/copy.conf"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	svc := site.Services["nginx"]
	svc.Config = filepath.Join(s.dir, "conf/copy.conf")
	site.Services["nginx"] = svc
	id, x := plan(remedy("gzip"))
	if err := x.Apply(t.Context(), id); err == nil || !strings.Contains(err.Error(), "conf/nginx.conf, and the settings are in "+svc.Config) {
		t.Errorf("the settings are in a file that nginx does not read: %v", err)
	}
}
