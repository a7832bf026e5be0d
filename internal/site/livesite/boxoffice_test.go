package livesite

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/appserver"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/discover"
	"github.com/iikanji/iikanji/internal/site/target"
)

// boxOffice starts the site of fixtures/boxoffice with little data and returns its
// folder, its URL, and that of its source.
func boxOffice(t *testing.T, ctx context.Context) (dir, url, source string) {
	t.Helper()
	source, err := filepath.Abs("../../../fixtures/boxoffice")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = os.MkdirTemp("", "box"); err != nil { // short, because of the socket in it
		t.Fatal(err)
	}
	port := servertest.FreePorts(t, 4)
	t.Cleanup(func() {
		if out, err := exec.Command("sh", filepath.Join(source, "stop.sh"), dir).CombinedOutput(); err != nil {
			t.Errorf("stopping: %v\n%s", err, out)
		}
		// A restart writes the new process id where the site's own tools look for it.
		if m, err := process.ReadMachine(host.Local{}); err != nil {
			t.Error(err)
		} else {
			for _, p := range m.Processes {
				if strings.Contains(p.Command(), dir) {
					t.Errorf("still there after stop.sh: %s", p.Command())
				}
			}
		}
		os.RemoveAll(dir)
	})
	start := exec.CommandContext(ctx, "sh", filepath.Join(source, "start.sh"), dir)
	start.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin", "BOX_SCALE=0.01", "BOX_PORT="+strconv.Itoa(port))
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("start.sh: %v\n%s", err, out)
	}
	return dir, "http://127.0.0.1:" + strconv.Itoa(port), source
}

// TestBoxOffice: init finds the gunicorn of a site in Python with its configuration file;
// its processes are set, counted in the restarted site, and undone to the byte. The
// site's own benchmarker passes with both.
func TestBoxOffice(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	dir, url, source := boxOffice(t, ctx)
	found, err := discover.Ask(ctx, host.Local{}, discover.Options{URL: url, Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := target.Parse(filepath.Join(dir, target.Name), []byte(found.Text()))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Services, func(s target.Service) bool { return s.Role == iikanji.RoleApp && s.Listen != "" })
	config := filepath.Join(dir, "gunicorn.conf.py")
	if i < 0 || f.Services[i].Engine != iikanji.EnginePython || f.Services[i].Config != config || f.Services[i].App.Source != filepath.Join(source, "app") {
		t.Fatalf("init found %+v", f.Services)
	}
	name := f.Services[i].Name
	s, err := Open(ctx, Options{File: f, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	before, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	serves := func(want int) {
		t.Helper()
		var is *appserver.Setup
		for end := time.Now().Add(2 * time.Minute); is == nil || is.Serves != want; time.Sleep(20 * time.Millisecond) {
			if is, err = appserver.Read(host.Local{}, s.Groups()[name][0], config, ""); err != nil || time.Now().After(end) {
				t.Fatalf("%+v, %v; want %d processes", is, err, want)
			}
		}
		out, err := exec.CommandContext(ctx, filepath.Join(source, "bench.py"), url, "1").Output()
		var result struct{ Pass bool }
		if err != nil || json.Unmarshal(out, &result) != nil || !result.Pass {
			t.Errorf("the benchmarker with %d processes: %v, %s", want, err, out)
		}
	}
	serves(1)
	x, id := planned(t, ctx, s, iikanji.Remedy{Kind: "workers", Target: name, Args: map[string]string{"workers": "2"}})
	if err := x.Apply(ctx, id); err != nil {
		t.Fatal(err)
	}
	serves(2)
	if err := x.Revert(ctx, id, "test"); err != nil {
		t.Fatal(err)
	}
	serves(1)
	if after, err := os.ReadFile(config); err != nil || string(after) != string(before) {
		t.Errorf("the configuration after the undo: %q, %v", after, err)
	}
	inOwnFile(t, ctx, s, filepath.Join(dir, "my.cnf"))
	idle(t, ctx, dir)
	rehearse(t, ctx, s, filepath.Join(dir, "log", "boxoffice-job.log"), boxBench{filepath.Join(source, "bench.py"), url})
	silent(t, ctx, s, name)
	withoutJob(t, ctx, s)
	endsLater(t, ctx, s.File())
}

// silent checks that the site's own scripts find a service that was restarted and does
// not answer: its file of the process id has the new one.
func silent(t *testing.T, ctx context.Context, s *Subject, name string) {
	t.Helper()
	r := s.running()[name]
	health := r.Health
	r.Health = "tcp:127.0.0.1:1" // nothing listens there
	defer func() { r.Health = health }()
	short, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if err := s.Restart(short, name); err == nil {
		t.Error("a service that does not answer was restarted")
	}
	now := s.Groups()[name]
	if filed, err := os.ReadFile(r.PIDFile); err != nil || len(now) != 1 || strings.TrimSpace(string(filed)) != strconv.Itoa(now[0]) {
		t.Errorf("%s has %q, %v, and the process is %v", r.PIDFile, filed, err, now)
	}
}

// jobOf is the name of the background job.
func jobOf(s *Subject) string {
	i := slices.IndexFunc(s.File().Services, func(s target.Service) bool { return s.Role == iikanji.RoleApp && s.Listen == "" })
	return s.File().Services[i].Name
}

// endsLater checks that a service that ends some time after a restart of its database is
// started again once, and that its next end ends the search.
func endsLater(t *testing.T, ctx context.Context, f *target.File) {
	t.Helper()
	ended := make(chan error, 1)
	err := Use(ctx, Options{File: f, Dir: t.TempDir(), Ended: func(err error) { ended <- err }}, func(ctx context.Context, s *Subject) error {
		job := jobOf(s)
		first := s.Groups()[job][0]
		s.backing.mu.Lock()
		s.backing.last = time.Now() // as after a restart of the database
		s.backing.mu.Unlock()
		if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
			return err
		}
		var now []int
		for end := time.Now().Add(time.Minute); len(now) == 0 || now[0] == first; time.Sleep(20 * time.Millisecond) {
			if now = s.Groups()[job]; time.Now().After(end) {
				t.Fatalf("the job's processes are %v, and were %d", now, first)
			}
		}
		s.running()[job].act.Lock() // until the restart is over
		now = s.Groups()[job]
		s.running()[job].act.Unlock()
		select {
		case err := <-ended:
			t.Errorf("the search would end: %v", err)
		default:
		}
		if err := syscall.Kill(now[0], syscall.SIGKILL); err != nil {
			return err
		}
		var died *DiedError
		if err := <-ended; !errors.As(err, &died) || died.Service != job {
			t.Errorf("the second end: %v", err)
		}
		return s.Restart(ctx, job)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// withoutJob checks that a site whose background job is down is opened for an undo, and
// for nothing else.
func withoutJob(t *testing.T, ctx context.Context, s *Subject) {
	t.Helper()
	job := jobOf(s)
	if err := syscall.Kill(s.Groups()[job][0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); len(s.Groups()[job]) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the job goes on")
		}
	}
	var down *NotRunningError
	if whole, err := Open(ctx, Options{File: s.File(), Dir: t.TempDir()}); !errors.As(err, &down) || down.Service != job {
		t.Errorf("opened without the job: %v, %v", whole, err)
	}
	var said []string
	part, err := Open(ctx, Options{File: s.File(), Dir: t.TempDir(), Partly: true, Progress: func(line string) { said = append(said, line) }})
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if len(part.Site().Services) != len(s.File().Services)-1 || !strings.Contains(strings.Join(said, "\n"), "service "+job+" does not run") {
		t.Errorf("services %v, said %q", part.Site().Services, said)
	}
	if err := s.Restart(ctx, job); err != nil {
		t.Fatal(err)
	}
}

// inOwnFile checks that a setting goes into the database's only configuration file, and
// that the undo restores each byte of it.
func inOwnFile(t *testing.T, ctx context.Context, s *Subject, conf string) {
	t.Helper()
	i := slices.IndexFunc(s.File().Services, func(s target.Service) bool { return s.Engine == iikanji.EngineMariaDB })
	name := s.File().Services[i].Name
	if own := s.File().Services[i]; own.Config != conf || own.DropIn != conf {
		t.Fatalf("the configuration is %q, and settings go into %q; want %s", own.Config, own.DropIn, conf)
	}
	before, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	connections := func(want string) {
		t.Helper()
		var variable, now string
		if err := s.Site().Services[name].DB().QueryRowContext(ctx, "SHOW GLOBAL VARIABLES LIKE 'max_connections'").Scan(&variable, &now); err != nil || now != want {
			t.Errorf("max_connections is %s, %v; want %s", now, err, want)
		}
	}
	connections("151")
	x, id := planned(t, ctx, s, iikanji.Remedy{Kind: "mysqlconf", Target: name, Args: map[string]string{"max_connections": "222"}})
	if err := x.Apply(ctx, id); err != nil {
		t.Fatal(err)
	}
	connections("222")
	job := jobOf(s)
	old := s.Groups()[job]
	if err := s.Restart(ctx, name); err != nil {
		t.Fatal(err)
	}
	connections("222")
	if now := s.Groups()[job]; len(old) != 1 || len(now) != 1 || now[0] == old[0] {
		t.Errorf("the job's processes are %v after a restart of its database, and were %v", now, old)
	}
	if now, err := os.ReadFile(conf); err != nil || !strings.HasPrefix(string(now), string(before)) {
		t.Errorf("the site's own lines have changed: %q, %v", now, err)
	}
	if err := x.ReadBack(ctx, id); err != nil {
		t.Error(err)
	}
	if err := x.Revert(ctx, id, "test"); err != nil {
		t.Fatal(err)
	}
	connections("151")
	if now, err := os.ReadFile(conf); err != nil || string(now) != string(before) {
		t.Errorf("after the undo: %q, %v", now, err)
	}
}

// boxBench runs the box office's own benchmarker for a second.
type boxBench struct{ program, url string }

func (b boxBench) Load(ctx context.Context, _ field.Load) (*iikanji.Run, error) {
	out, err := exec.CommandContext(ctx, b.program, b.url, "1").Output()
	var result struct{ Pass bool }
	if err == nil {
		err = json.Unmarshal(out, &result)
	}
	run := &iikanji.Run{Outcome: iikanji.Failed}
	if result.Pass {
		run.Outcome = iikanji.Passed
	}
	return run, err
}

// rehearse checks that a rehearsal starts the background job again, which ends when its
// database does not answer, and that it waits for the job's last writes.
func rehearse(t *testing.T, ctx context.Context, s *Subject, log string, loader field.Loader) {
	t.Helper()
	job := jobOf(s)
	old := s.Groups()[job]
	if len(old) != 1 {
		t.Fatalf("the job %s has the processes %v", job, old)
	}
	refusals := refused(t, log)
	r, err := (&field.Field{Subject: s, Loader: loader}).Rehearse(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine the job may take longer to start than the database.
	if ended := refused(t, log) > refusals; !r.OK || strings.Contains(r.Says, job+" does not wait for its database") != ended {
		t.Errorf("%+v; a connection of the job was refused: %v", r, ended)
	}
	if now := s.Groups()[job]; len(now) != 1 || now[0] == old[0] {
		t.Errorf("the job's processes are %v, and were %v", now, old)
	}
}

// idle waits until the job has nothing to write: on a busy machine, its rounds are farther
// apart than the two readings of a rehearsal.
func idle(t *testing.T, ctx context.Context, dir string) {
	t.Helper()
	const left = "SELECT (SELECT COUNT(*) FROM seats WHERE state = 'held') + (SELECT COUNT(*) FROM outbox WHERE sent = 0)"
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		out, err := exec.CommandContext(ctx, "mariadb", "--no-defaults", "-S", filepath.Join(dir, "run", "mysql.sock"), "-u", "root", "-N", "boxoffice", "-e", left).CombinedOutput()
		if err == nil && strings.TrimSpace(string(out)) == "0" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("seats and mails that the job has not written: %s, %v", out, err)
		}
	}
}

// refused counts the refused connections to the database that ended the job, in its log. A
// connection that the kill of the database cuts before that of the job is not one.
func refused(t *testing.T, log string) int {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "Can't connect to MySQL server")
}

// planned plans a change into a history of its own.
func planned(t *testing.T, ctx context.Context, s *Subject, r iikanji.Remedy) (*change.Executor, iikanji.ChangeID) {
	t.Helper()
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	c, err := change.Plan(ctx, s.Site(), r)
	if err == nil {
		err = h.AddChange(c, change.Diff(c))
	}
	if err != nil {
		t.Fatal(err)
	}
	// The app keeps a memo of the names of cities only.
	if len(c.Weakens) > 0 {
		t.Errorf("it weakens %v", c.Weakens)
	}
	return &change.Executor{Hands: s.Site(), Journal: h}, c.ID
}
