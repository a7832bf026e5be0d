package stack

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// TestKilledParent kills the process that brought the stack up. Every process of
// the stack must end, including a daemon of the app that left its session.
func TestKilledParent(t *testing.T) {
	dir := shared(t)
	cmd, r := another(t, dir, nil)
	daemon, err := strconv.Atoi(page(t, r.Places.URL()+"/daemon"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Up(t.Context(), tiny(), Options{Dir: dir})
	var busy *BusyError
	if !errors.As(err, &busy) || busy.PID != cmd.Process.Pid || busy.URL != r.Places.URL() {
		t.Errorf("a second instance: %v", err)
	}
	// Start again while the shutdown is held up: the new instance must wait.
	supervisor := stopSupervisor(t, r)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	l := &lines{}
	s := bring(t, tiny(), Options{Dir: dir, Progress: func(line string) {
		l.say(line)
		if strings.Contains(line, "is stopping") {
			must(t, unix.Kill(supervisor, unix.SIGCONT))
		}
	}})
	if !l.has("is stopping") {
		t.Errorf("progress: %v", l.all)
	}
	if l.has("crashed instance left") {
		t.Errorf("the supervisor left something: %v", l.all)
	}
	if !reflect.DeepEqual(s.Places(), r.Places) {
		t.Errorf("places moved: %+v, were %+v", s.Places(), r.Places)
	}
	if p, err := process.IDOf(daemon); err == nil && p.Alive() {
		t.Errorf("the app's daemon %d is left", daemon)
	}
	page(t, s.Places().URL())
	down(t, s)
}

// TestKilledParentAlone does the same without a later instance.
func TestKilledParentAlone(t *testing.T) {
	dir := shared(t)
	cmd, r := another(t, dir, nil)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	quiet(t, dir)
	for name, pids := range r.Groups {
		if p, err := process.IDOf(pids[0]); err == nil && p.Alive() {
			t.Errorf("the %s is left", name)
		}
	}
}

func TestCtrlC(t *testing.T) {
	dir := shared(t)
	cmd, _ := another(t, dir, nil)
	// As a terminal does: to the whole process group.
	if err := unix.Kill(-cmd.Process.Pid, unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("going down: %v", err)
	}
	nothingRuns(t, dir)
	mustExist(t, dir+"/"+processesFile, false)
}

// TestKilledWithSupervisor kills the parent, the supervisor and nginx's master at
// once. Two kinds of processes remain: nginx's workers, which are not recorded,
// and a daemon of the app in a session of its own. The next start must find both.
func TestKilledWithSupervisor(t *testing.T) {
	dir := shared(t)
	cmd, r := another(t, dir, nil)
	daemon, err := strconv.Atoi(page(t, r.Places.URL()+"/daemon"))
	must(t, err)
	workers := process.Descendants(r.Groups[nginx][0])
	if len(workers) != 2 {
		t.Fatalf("%d workers of nginx, want 2", len(workers))
	}
	supervisor := stopSupervisor(t, r) // so that it cannot react in between
	must(t, unix.Kill(r.Groups[nginx][0], unix.SIGKILL))
	must(t, unix.Kill(supervisor, unix.SIGKILL))
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, w := range workers {
		if !w.Alive() {
			t.Fatal("the workers went by themselves: this test would prove nothing")
		}
	}
	l := &lines{}
	s := bring(t, tiny(), Options{Dir: dir, Progress: l.say})
	if !l.has("crashed instance left") {
		t.Errorf("progress: %v", l.all)
	}
	for _, w := range workers {
		if w.Alive() {
			t.Errorf("nginx's worker %d is left", w.PID)
		}
	}
	if p, err := process.IDOf(daemon); err == nil && p.Alive() {
		t.Errorf("the app's daemon %d is left", daemon)
	}
	if !reflect.DeepEqual(s.Places(), r.Places) {
		t.Errorf("places moved: %+v, were %+v", s.Places(), r.Places)
	}
	page(t, s.Places().URL())
}

// stopSupervisor stops the supervisor of another process's stack with SIGSTOP.
func stopSupervisor(t *testing.T, r report) int {
	t.Helper()
	p, err := hostproc.ReadStat(host.Local{}, r.Groups[database][0])
	must(t, err)
	pid := p.Parent
	must(t, unix.Kill(pid, unix.SIGSTOP))
	for p.State != 'T' || p.PID != pid {
		p, err = hostproc.ReadStat(host.Local{}, pid)
		must(t, err)
	}
	return pid
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSupervisorKilled kills the supervisor while its parent lives.
func TestSupervisorKilled(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t)})
	must(t, s.control.Kill())
	for range 3 {
		var died *DiedError
		if err := <-s.Died(); !errors.As(err, &died) || !strings.Contains(died.Status, "supervisor") {
			t.Errorf("died: %v", err)
		}
	}
	if err := s.Restart(t.Context(), app); !errors.Is(err, process.ErrSupervisorGone) {
		t.Errorf("restart: %v", err)
	}
	down(t, s)
}

// TestLeftoversAreProven asserts that a matching pid alone proves nothing.
func TestLeftoversAreProven(t *testing.T) {
	dir := t.TempDir()
	stat, err := hostproc.ReadStat(host.Local{}, os.Getpid())
	self := process.ID{PID: stat.PID, Start: stat.Started}
	must(t, err)
	f := folder{root: dir}
	for _, rec := range []process.Record{
		{Boot: process.Boot(), Supervisor: process.ID{PID: self.PID, Start: self.Start + 1}},
		{Boot: "another boot", Supervisor: self},
		{Boot: process.Boot(), Supervisor: process.ID{PID: stat.Session, Start: 1}}, // our session, but another folder
	} {
		if left, err := f.leftovers(rec); err != nil || len(left) != 0 {
			t.Errorf("%+v: %v %v", rec, left, err)
		}
	}
	other := exec.Command("sleep", "1000")
	other.Env = []string{process.Record{Supervisor: process.ID{PID: 1, Start: 1}}.Mark()}
	must(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	left, err := f.leftovers(process.Record{Boot: process.Boot(), Supervisor: self})
	if err != nil || len(left) != 1 || left[0].PID != self.PID {
		t.Errorf("the process that is recorded is not found: %v %v", left, err)
	}
}

// TestOrder asserts the order of the shutdown, and that an app that ignores
// SIGTERM is killed.
func TestOrder(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t), Env: []string{"APP_STUBBORN=1"}})
	running := s.running()
	begin := time.Now()
	down(t, s)
	if took := time.Since(begin); took > 50*time.Second {
		t.Errorf("down took %v", took)
	}
	var last time.Time
	for _, want := range []string{"nginx exit status 0", "app signal: killed", "database exit status 0"} {
		name, status, _ := strings.Cut(want, " ")
		p := running[name]
		<-p.Done
		if p.Status != status || !p.Ended.After(last) {
			t.Errorf("%s ended with %s at %v, want %s after %v", name, p.Status, p.Ended, status, last)
		}
		last = p.Ended
	}
}

// TestDownAtOnce asserts that Down kills all processes when its context has ended.
func TestDownAtOnce(t *testing.T) {
	s := bring(t, tiny(), Options{Dir: shared(t), Env: []string{"APP_STUBBORN=1"}})
	must(t, unix.Kill(s.Groups()[database][0], unix.SIGSTOP))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, s.Down(ctx))
	nothingRuns(t, s.dir.root)
	must(t, s.Down(ctx))
	// The database was killed: it must start again.
	s = bring(t, tiny(), Options{Dir: s.dir.root})
	page(t, s.Places().URL())
}

func TestReadProc(t *testing.T) {
	path := t.TempDir() + "/a) R 1 (b"
	sleep, ok := find(systemDirs, "sleep")
	if !ok {
		t.Fatal("sleep is not here")
	}
	must(t, os.Symlink(sleep, path))
	p, err := os.StartProcess(path, []string{path, "100"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true}})
	must(t, err)
	defer func() { _ = p.Kill(); _, _ = p.Wait() }()
	got, err := hostproc.ReadStat(host.Local{}, p.Pid)
	if err != nil || got.Parent != os.Getpid() || got.Started == 0 || !got.Alive(host.Local{}) {
		t.Errorf("%+v %v", got, err)
	}
	if name := got.Name; name != "a) R 1 (b" {
		t.Errorf("name %q", name)
	}
	if _, err := hostproc.ReadStat(host.Local{}, 1<<30); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error: %v", err)
	}
}
