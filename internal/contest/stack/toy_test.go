package stack

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// toy is an arena that has nothing in common with tiny but the kinds of software:
// two apps in two languages, a MariaDB, an SQLite folder, an nginx, two workers
// without a port and a cache on demand, all under other names, with the default names of their files.
func toy() *arena.Arena {
	return &arena.Arena{
		Name: "toy",
		Files: fstest.MapFS{
			"kitchen/main.go":  testFile("app/main.go"),
			"kitchen/go.mod":   testFile("app/go.mod.txt"),
			"kitchen/go.sum":   testFile("app/go.sum.txt"),
			"waiter/waiter.pl": testFile("toy/waiter.pl"),
			"icebox/main.go":   testFile("toy/icebox.go"),
			"sql/fill.sh":      {Data: []byte("#!/bin/sh -eu\nmariadb --no-defaults --socket=\"$DB_SOCKET\" -utoy -psecret toy <schema.sql\n")},
			"sql/schema.sql":   testFile("schema.sql"),
			"door.conf":        testFile("toy/door.conf"),
		},
		Services: []arena.Service{
			{Name: "larder", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
				Database: arena.Database{Name: "toy", User: "toy", Password: "secret", Conf: "innodb_log_file_size = 8M\ninnodb_buffer_pool_size = 16M\n"}},
			{Name: "ledger", Role: iikanji.RoleDatabase, Engine: iikanji.EngineSQLite, Data: "ledger", Logs: []arena.Log{{Kind: "slow", File: "ledger-trace.log"}}},
			{Name: "icebox", Role: iikanji.RoleCache, Engine: iikanji.EngineMemcached, OnDemand: true,
				Source: "icebox", Build: []string{"go", "build", "-o", "{{.Out}}", "main.go"}, Start: []string{"{{.Self.Binary}}"},
				Ready: arena.Ready{Send: "version\r\n", Expect: "VERSION", Wait: 8 * time.Second},
				Env:   func(p arena.Places) []string { return []string{"ADDRESS=" + p.Service("icebox").Address} }},
			{Name: "bell", Role: iikanji.RoleQueue, Engine: "perl", NoPort: true, Start: []string{"perl", "-e", "$| = 1; print qq(rings\n); sleep 1 while 1"}},
			{Name: "phone", Role: iikanji.RoleQueue, Engine: "perl", NoPort: true, Socket: "phone.sock", Start: []string{"perl", "-MIO::Socket::UNIX", "-e",
				`my $l = IO::Socket::UNIX->new(Local => shift, Listen => 9) or die "no socket: $!"; while (my $c = $l->accept) { print $c "hello\r\n" }`, "{{.Self.Socket}}"},
				Ready: arena.Ready{Expect: "hello"}},
			{Name: "kitchen", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "kitchen", Load: "sql/fill.sh", Programs: []string{"mariadb"},
				Env: func(p arena.Places) []string {
					db := p.Service("larder")
					return []string{"APP_ADDR=" + p.Service("kitchen").Address, "DB_SOCKET=" + db.Socket,
						fmt.Sprintf("APP_DSN=%s:%s@tcp(%s)/%s", db.User, db.Password, db.Address, db.Schema)}
				}},
			{Name: "waiter", Role: iikanji.RoleApp, Engine: "perl", Source: "waiter", Ports: []string{"side"},
				Build: []string{"perl", "-c", "waiter.pl"}, Start: []string{"perl", "waiter.pl"},
				Env: func(p arena.Places) []string {
					return []string{"ADDRESS=" + p.Service("waiter").Address, "GREETING=welcome", "LEDGER=" + p.Service("ledger").Data,
						fmt.Sprintf("SIDE=%d", p.Service("waiter").Ports["side"])}
				}},
			{Name: "door", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Configs: []arena.Config{{Template: "door.conf"}}},
		},
	}
}

// answers are pages that each app of the toy serves through nginx.
func (toyUp) answers(t *testing.T, s *Stack) {
	t.Helper()
	url := s.Places().URL()
	if got := page(t, url+"/"); got != "hello 0" {
		t.Errorf("the kitchen's page: %q", got)
	}
	if got := page(t, url+"/table/1"); got != "welcome /table/1" {
		t.Errorf("the waiter's page: %q", got)
	}
}

// A toyUp is the toy in a folder of its own.
type toyUp struct{ dir string }

// TestToy runs everything that a stack does with an arena of other services.
func TestToy(t *testing.T) {
	tier.Slow(t)
	up := toyUp{openDir(t)}
	l := &lines{}
	s := bring(t, toy(), Options{Dir: up.dir, Progress: l.say})
	t.Log(l.all)
	up.answers(t, s)
	t.Run("target", func(t *testing.T) { up.target(t, s) })
	t.Run("restarted one by one", func(t *testing.T) { up.restarts(t, s) })
	t.Run("killed one by one", func(t *testing.T) { up.killed(t, s) })
	t.Run("build", func(t *testing.T) { up.builds(t, s) })
	t.Run("on demand", func(t *testing.T) { up.onDemand(t, s) })
	t.Run("order", func(t *testing.T) { up.order(t, s) })
	t.Run("again", func(t *testing.T) { up.again(t) })
}

var toyProcesses = []string{"bell", "door", "kitchen", "larder", "phone", "waiter"}

func (up toyUp) target(t *testing.T, s *Stack) {
	if got := fmt.Sprint(s.Target().OnDemand); !strings.Contains(got, "icebox") || strings.Contains(got, "larder") {
		t.Errorf("on demand: %s", got)
	}
	var got []string
	for _, svc := range s.Target().Services {
		got = append(got, fmt.Sprintf("%s %s %s", svc.Name, svc.Role, svc.Engine))
		for _, file := range svc.Configs {
			mustExist(t, file, true)
		}
		for _, log := range svc.Logs {
			mustExist(t, log.Path, true)
		}
	}
	if want := []string{"larder database mariadb", "ledger database sqlite", "bell queue perl", "phone queue perl", "kitchen app go", "waiter app perl", "door web nginx"}; !slices.Equal(got, want) {
		t.Errorf("services: %q, want %q", got, want)
	}
	if running := slices.Sorted(maps.Keys(s.Groups())); !slices.Equal(running, toyProcesses) {
		t.Errorf("running: %v", running)
	}
	checkUsers(t, s)
	if got := page(t, s.Places().URL()+"/table/write"); got != "welcome /table/write" {
		t.Errorf("writing into the data folder: %q", got)
	}
	mustExist(t, filepath.Join(s.Places().Service("ledger").Data, "1.db"), true)
	waiter := s.Places().Service("waiter")
	if side := waiter.Ports["side"]; side == 0 || side == waiter.Port || !slices.Contains(s.Env("waiter"), fmt.Sprintf("SIDE=%d", side)) {
		t.Errorf("the further port: %+v", waiter)
	}
	if bell := s.Places().Service("bell"); bell.Port != 0 || bell.Address != "" {
		t.Errorf("a service that listens nowhere: %+v", bell)
	}
	running, err := Running(up.dir)
	must(t, err)
	for i, want := range []string{"larder", "bell", "phone", "kitchen", "waiter", "door"} {
		if p := running.Services[i]; p.Name != want || p.PID != s.Groups()[want][0] {
			t.Errorf("service %d of the folder is %v, want %s", i, p, want)
		}
	}
}

// restarts asserts that a restart concerns one service only.
func (up toyUp) restarts(t *testing.T, s *Stack) {
	for _, name := range toyProcesses {
		before := s.Groups()
		must(t, s.Refresh(t.Context(), name))
		for other, pids := range s.Groups() {
			if same := pids[0] == before[other][0]; same == (other == name) {
				t.Errorf("after a restart of %s the process of %s is the same: %v", name, other, same)
			}
		}
		up.answers(t, s)
	}
	must(t, s.Restart(t.Context(), "ledger")) // no process: nothing happens
	if err := s.Restart(t.Context(), "database"); err == nil {
		t.Error("a service of another arena was restarted")
	}
}

func (up toyUp) killed(t *testing.T, s *Stack) {
	for _, name := range toyProcesses {
		must(t, unix.Kill(s.Groups()[name][0], unix.SIGKILL))
		var died *DiedError
		if err := <-s.Died(); !errors.As(err, &died) || died.Service != name || died.Status != "signal: killed" {
			t.Fatalf("died: %v, want %s", err, name)
		}
		if s.Groups()[name] != nil {
			t.Errorf("%s is dead and listed", name)
		}
		must(t, s.Restart(t.Context(), name))
		up.answers(t, s)
	}
}

// builds breaks and edits the source of an app whose build makes no program.
func (up toyUp) builds(t *testing.T, s *Stack) {
	file := filepath.Join(s.Source("waiter"), "waiter.pl")
	good, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, append([]byte("sub {\n"), good...), 0o644))
	var build *process.BuildError
	if err := s.Refresh(t.Context(), "waiter"); !errors.As(err, &build) || build.Service != "waiter" || !strings.Contains(err.Error(), "waiter.pl") {
		t.Errorf("error: %v", err)
	}
	up.answers(t, s)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(good), "$ENV{GREETING} .", "'edited' .", 1)), 0o644))
	must(t, s.TryBuild(t.Context(), "waiter", s.Source("waiter")))
	must(t, s.Refresh(t.Context(), "waiter"))
	if got := page(t, s.Places().URL()+"/table/2"); got != "edited /table/2" {
		t.Errorf("page of the edited source: %q", got)
	}
	must(t, os.WriteFile(file, good, 0o644))
	must(t, s.Refresh(t.Context(), "waiter"))
	for _, name := range []string{"larder", "ledger", "door"} {
		if s.Builds(name) {
			t.Errorf("%s has a build", name)
		}
	}
}

// onDemand starts and ends the cache by its enable file.
func (up toyUp) onDemand(t *testing.T, s *Stack) {
	p := s.Places().Service("icebox")
	must(t, s.Refresh(t.Context(), "icebox"))
	if s.Groups()["icebox"] != nil {
		t.Fatal("it runs without its file")
	}
	must(t, os.WriteFile(s.EnvFile("icebox"), []byte("MUTE=1\n"), 0o644))
	must(t, os.WriteFile(s.EnableFile("icebox"), nil, 0o644))
	var slow *NotReadyError
	if err := s.Refresh(t.Context(), "icebox"); !errors.As(err, &slow) || slow.Service != "icebox" {
		t.Errorf("a cache that does not answer is ready: %v", err)
	}
	must(t, os.Remove(s.EnvFile("icebox")))
	must(t, s.Refresh(t.Context(), "icebox"))
	if got := touch(t, p.Address); got != "TOUCHED 1" {
		t.Errorf("the cache answers %q", got)
	}
	if _, ok := s.Target().Service("icebox"); !ok || len(s.Groups()["icebox"]) != 1 {
		t.Errorf("it is not listed: %v", s.Groups())
	}
	must(t, os.Remove(s.EnableFile("icebox")))
	must(t, s.Refresh(t.Context(), "icebox"))
	if c, err := net.Dial("tcp", p.Address); err == nil {
		_ = c.Close()
		t.Error("it still runs without its file")
	}
	select {
	case err := <-s.Died():
		t.Errorf("its end was reported as a death: %v", err)
	default:
	}
	up.answers(t, s)
	must(t, os.WriteFile(s.EnableFile("icebox"), nil, 0o644)) // for the next start
}

// touch sends one command to the cache.
func touch(t *testing.T, address string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	must(t, err)
	defer c.Close()
	must(t, c.SetDeadline(time.Now().Add(2*time.Minute)))
	fmt.Fprint(c, "touch\r\n")
	line, err := bufio.NewReader(c).ReadString('\n')
	must(t, err)
	return strings.TrimSpace(line)
}

// order asserts that the services stop in the reverse order of their start, and
// neighbours of one role together.
func (up toyUp) order(t *testing.T, s *Stack) {
	processes := s.running()
	down(t, s)
	got := slices.Clone(toyProcesses)
	slices.SortFunc(got, func(a, b string) int { return processes[a].Ended.Compare(processes[b].Ended) })
	for _, name := range got {
		if processes[name].Ended.IsZero() {
			t.Errorf("the end of %s was not reported", name)
		}
	}
	slices.Sort(got[1:3])
	slices.Sort(got[3:5])
	if want := []string{"door", "kitchen", "waiter", "bell", "phone", "larder"}; !slices.Equal(got, want) {
		t.Errorf("ended: %v, want %v", got, want)
	}
}

// again starts the toy with the cache, which was enabled before.
func (up toyUp) again(t *testing.T) {
	l := &lines{}
	s := bring(t, toy(), Options{Dir: up.dir, Progress: l.say})
	up.answers(t, s)
	if got := touch(t, s.Places().Service("icebox").Address); got != "TOUCHED 1" {
		t.Errorf("the cache answers %q", got)
	}
	mustExist(t, filepath.Join(s.Places().Service("ledger").Data, "1.db"), true)
	for _, not := range []string{"setting up", "building", "loading"} {
		if l.has(not) {
			t.Errorf("the second start has %q: %v", not, l.all)
		}
	}
}

// single is an arena of one app, without a database and without a web server. Its
// variant is the same app in Go.
func single() *arena.Arena {
	env := func(p arena.Places) []string {
		return []string{"ADDRESS=" + p.Service("kiosk").Address, "GREETING=perl", "LEDGER=" + p.Tmp}
	}
	return &arena.Arena{
		Name: "single", Entry: "kiosk",
		Files: fstest.MapFS{"perl/waiter.pl": testFile("toy/waiter.pl"), "go/main.go": {Data: []byte(`package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	panic(http.ListenAndServe(os.Getenv("ADDRESS"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "go ", r.URL.Path) })))
}
`)}},
		Services: []arena.Service{{Name: "kiosk", Role: iikanji.RoleApp, Engine: "perl", Source: "perl", Start: []string{"perl", "waiter.pl"}, Env: env}},
		Variants: []arena.Variant{{Name: "go", Services: []arena.Service{{Name: "kiosk", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "go", Env: env}}}},
	}
}

// TestSingle brings an arena of one service up, and then its variant.
func TestSingle(t *testing.T) {
	dir := openDir(t)
	arena.Register(single())
	s := bring(t, single(), Options{Dir: dir})
	if got := page(t, s.Places().URL()+"/a"); got != "perl /a" {
		t.Errorf("page: %q", got)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if !slices.Contains(known, e.Name()) {
			t.Errorf("the work folder has %s", e.Name())
		}
	}
	down(t, s)
	variant, ok := arena.Find("single-go")
	if !ok {
		t.Fatal("the variant is not registered")
	}
	var foreign *ForeignDirError
	if _, err := Up(t.Context(), variant, Options{Dir: dir}); !errors.As(err, &foreign) || foreign.Arena != "single" {
		t.Errorf("the variant in the folder of the arena: %v", err)
	}
	s = bring(t, variant, Options{Dir: openDir(t)})
	if got := page(t, s.Places().URL()+"/b"); got != "go /b" {
		t.Errorf("page of the variant: %q", got)
	}
}

// TestStateV1 reads the state file of the version that knew three services only.
func TestStateV1(t *testing.T) {
	f := folder{root: t.TempDir()}
	a, err := tiny().Complete()
	must(t, err)
	put(t, f, stateFile, `{"version": 1, "arena": "tiny", "ports": {"nginx": 1, "app": 2, "database": 3}, "generated": "g", "source": "s", "loaded": "l"}`)
	s, err := f.readState(a)
	must(t, err)
	if !maps.Equal(s.Ports, ports{nginx: 1, app: 2, database: 3}) || s.Generated != "g" ||
		!maps.Equal(s.Built, map[string]string{app: "s"}) || !maps.Equal(s.Loaded, map[string]string{app: "l"}) {
		t.Errorf("state: %+v", s)
	}
	must(t, f.writeState(s))
	if again, err := f.readState(a); err != nil || again.Version != stateVersion || !maps.Equal(again.Built, s.Built) {
		t.Errorf("written and read: %+v, %v", again, err)
	}
	put(t, f, stateFile, `{"version": 3}`)
	if _, err := f.readState(a); err == nil || !strings.Contains(err.Error(), "version 3") {
		t.Errorf("error: %v", err)
	}
}
