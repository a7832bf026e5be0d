package observe

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// settings are the database's log settings, as one text.
func settings(t *testing.T, db *sql.DB) string {
	t.Helper()
	var text string
	if err := db.QueryRow("SELECT CONCAT_WS(' ', @@GLOBAL.log_output, @@GLOBAL.long_query_time, @@GLOBAL.min_examined_row_limit, @@GLOBAL.log_slow_rate_limit, @@GLOBAL.log_slow_verbosity, @@GLOBAL.slow_query_log_file, @@GLOBAL.slow_query_log)").Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// A stage is a database and an access log that an Observer observes.
type stage struct {
	clock  *sampledClock
	w      Watched
	access string
	errors string // error log of nginx
	output string // of the app
	root   *sql.DB
	app    *sql.DB // opened after the observer has started
}

func newStage(t *testing.T, srv *factstest.Server) *stage {
	t.Helper()
	dir := t.TempDir()
	slow, access := filepath.Join(dir, "slow.log"), filepath.Join(dir, "access.log")
	errs, output := filepath.Join(dir, "error.log"), filepath.Join(dir, "app.log")
	for _, f := range []string{slow, access, errs, output} {
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := srv.Open(t.Context(), "seen")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName, c.InterpolateParams = "root", "unix", srv.Socket, "seen", true
	app, err := sql.Open("mysql", c.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	app.SetMaxOpenConns(1)
	t.Cleanup(func() { app.Close() })
	target := iikanji.Target{Services: []iikanji.Service{
		{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Socket: srv.Socket, Logs: []iikanji.Log{{Kind: "slow", Path: slow}}},
		{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Logs: []iikanji.Log{{Kind: "output", Path: output}}},
		{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Logs: []iikanji.Log{{Kind: "access", Path: access}, {Kind: "error", Path: errs}}}}}
	me := func() map[string][]int { return map[string][]int{"app": {os.Getpid()}} }
	clock := &sampledClock{}
	return &stage{clock: clock, w: Watched{Target: target, Schema: "seen", User: "root", Now: clock.now, Groups: me}, access: access, errors: errs, output: output, root: root, app: app}
}

// says appends a line to a log.
func says(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

// spill is a line of nginx's error log.
const spill = `2026/11/21 11:57:21 [warn] 12#12: *3 a client request body is buffered to a temporary file /body/0000000001, client: 127.0.0.1, server: , request: "POST /%s HTTP/1.1"`

// requests writes lines to the logs and sends one query to the database for each.
func (s *stage) requests(t *testing.T, n int, what string) {
	t.Helper()
	f, err := os.OpenFile(s.access, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	says(t, s.errors, fmt.Sprintf(spill, what))
	for i := range n {
		says(t, s.output, "DEBUG "+what)
		fmt.Fprintf(f, "127.0.0.1 - - [%s] \"GET /%s HTTP/1.1\" 200 5 \"-\" \"-\"\n", time.Now().Format("02/Jan/2006:15:04:05 -0700"), what)
		if _, err := s.app.Exec("SELECT /* of "+what+" */ '"+what+"', ?", i); err != nil {
			t.Fatal(err)
		}
	}
}

// TestObserveUnderLoad runs the observer with a real database.
func TestObserveUnderLoad(t *testing.T) {
	tier.Slow(t)
	srv, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	t.Run("window", func(t *testing.T) { testWindow(t, srv) })
	t.Run("blind", func(t *testing.T) { testBlind(t, srv) })
	t.Run("without", func(t *testing.T) { testWithout(t, srv) })
}

// quarrel makes one statement wait for the lock of another until it is released.
func (s *stage) quarrel(t *testing.T) (release func()) {
	t.Helper()
	holder, err := s.root.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Exec("SELECT n FROM seat FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error)
	go func() {
		_, err := s.root.Exec("UPDATE seat SET n = 2")
		waited <- err
	}()
	return func() {
		if err := holder.Rollback(); err != nil {
			t.Error(err)
		}
		if err := <-waited; err != nil {
			t.Error(err)
		}
	}
}

// testWindow observes a run with work before, during and after its load phase. Both
// profiles must contain exactly the work of the load phase, and the database must
// have its former settings.
func testWindow(t *testing.T, srv *factstest.Server) {
	s := newStage(t, srv)
	s.root.SetMaxIdleConns(2) // connections from before the observation are not logged
	for _, q := range []string{"CREATE TABLE seat (n INT PRIMARY KEY)", "INSERT INTO seat VALUES (1)"} {
		if _, err := s.root.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	first, err := s.root.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.root.Ping(); err != nil { // a second connection
		t.Fatal(err)
	}
	first.Close()
	was := settings(t, s.root)
	o, err := Observe(t.Context(), s.w)
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	defer func() { // other tests use this server
		if !closed {
			o.Close()
		}
	}()
	s.requests(t, 30, "before")
	o.Phase(scenario.Prepare, true)
	o.Phase(scenario.Prepare, false)
	s.requests(t, 5, "before")
	o.Phase(scenario.Load, true)
	s.requests(t, 1000, "within")
	release := s.quarrel(t)
	s.clock.begin()
	took := s.clock.wait(t, 3) // locks are sampled as often
	release()
	o.Phase(scenario.Load, false)
	s.requests(t, 50, "behind")
	run := &iikanji.Run{Steps: []iikanji.StepStat{{Count: 1000}}, Took: took}
	ob, err := o.Finish(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range ob.Sensors {
		if !x.Green {
			t.Errorf("%s is red: %s", x.Name, x.Why())
		}
	}
	if len(run.Warnings) != 0 || len(ob.Sensors) != 4 || len(ob.Profiles) != 5 {
		t.Fatalf("%d sensors, %d profiles, warnings %q", len(ob.Sensors), len(ob.Profiles), run.Warnings)
	}
	if r := ob.Profiles[0].Rows; len(r) != 1 || r[0].Count != 1000 || r[0].Key != "GET /within" {
		t.Errorf("access log: %+v", r)
	}
	if r := ob.Profiles[1].Rows; len(r) != 1 || r[0].Count != 1000 || !strings.Contains(r[0].Example.Text, "within") {
		t.Errorf("slow log: %+v", r)
	}
	me := slices.IndexFunc(ob.Profiles[2].Rows, func(r iikanji.Row) bool { return r.Key == "generator" })
	if p := ob.Profiles[2]; p.Source != iikanji.Host || me < 0 || p.Rows[me].Host.FDs < 3 {
		t.Errorf("host: %+v", p)
	}
	if p := ob.Profiles[3]; p.Target != "app" || len(p.Rows) != 1 || p.Rows[0].Count != 1000 || p.Rows[0].Key != "DEBUG within" || p.Rows[0].Log.Level != "debug" || p.Rows[0].Example.Line != 36 {
		t.Errorf("output of the app: %+v", p)
	}
	if p := ob.Profiles[4]; p.Target != "nginx" || len(p.Rows) != 1 || p.Rows[0].Count != 1 || p.Rows[0].Log.Kind != "body-spilled" || p.Rows[0].Log.Routes[0].Name != "POST /within" {
		t.Errorf("errors of nginx: %+v", p)
	}
	testSeen(t, ob)
	closed = true
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if now := settings(t, s.root); now != was {
		t.Errorf("settings are %s\nand were %s", now, was)
	}
}

// testSeen checks the facts of the load: limits of this process, which acts as the
// app, bytes written to logs, and one size of all answers to the one URL.
func testSeen(t *testing.T, ob *Observation) {
	seen := map[string]string{}
	for _, f := range ob.Seen {
		seen[f.Target+" "+f.Topic+" "+f.Key] = fact.Text(f)
	}
	for key, want := range map[string]string{
		"app volume output":        fmt.Sprint(1000 * len("DEBUG within\n")),
		"nginx series GET /within": `{"urls":1,"repeats":999,"again":1,"fixed":1,"fixed_repeats":999,"fixed_bytes":4995,"sizes":1,"heaviest":"/within","crowded":997}`,
	} {
		if seen[key] != want {
			t.Errorf("%s is %q, want %q", key, seen[key], want)
		}
	}
	for _, key := range []string{"app limit nofile", "app process cores", "local sysctl net.core.somaxconn", "app connection database", "nginx volume access", "database lock_wait UPDATE seat SET n = 2",
		"database innodb checkpoint_age", "database innodb history_list_length", "database innodb log_sequence"} {
		if seen[key] == "" {
			t.Errorf("nothing is known of %q", key)
		}
	}
}

// testBlind breaks the sensors of a real observation: the access log is replaced, and
// the app's connections are older than the observer.
func testBlind(t *testing.T, srv *factstest.Server) {
	var ob *Observation
	var run *iikanji.Run
	for range 20 {
		ob, run = blinded(t, srv)
		if i := slices.IndexFunc(ob.Sensors, func(x Sensor) bool { return x.Source == iikanji.Host }); strings.Contains(ob.Sensors[i].Why(), "0 samples") {
			break // on a busy machine a load takes longer than the second until the first sample
		}
	}
	for i, want := range []string{"skipping to byte", "observed-slow.log", "0 samples", "output log of app: skipping to byte"} {
		if x := ob.Sensors[i]; x.Green || !strings.Contains(x.Why(), want) {
			t.Errorf("%s: green %v, %q, want %q", x.Name, x.Green, x.Why(), want)
		}
	}
	fs, err := FindingsOf(ob, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := codes(fs); len(c) != 4 || c[0] != "BEN103" || c[3] != "BEN103" || len(run.Warnings) != 4 {
		t.Errorf("findings %v, warnings %q", c, run.Warnings)
	}
}

// blinded observes a short load whose logs are replaced at its begin.
func blinded(t *testing.T, srv *factstest.Server) (*Observation, *iikanji.Run) {
	t.Helper()
	s := newStage(t, srv)
	s.requests(t, 100, "before") // also opens the app's connection
	o, err := Observe(t.Context(), s.w)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	o.Phase(scenario.Load, true)
	for _, log := range []string{s.access, s.output} {
		if err := os.Truncate(log, 0); err != nil {
			t.Fatal(err)
		}
	}
	s.requests(t, 60, "within")
	o.Phase(scenario.Load, false)
	run := &iikanji.Run{Steps: []iikanji.StepStat{{Count: 600}}, Took: time.Second}
	ob, err := o.Finish(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return ob, run
}

// testWithout observes sites whose database keeps no log, is down, or does not exist:
// only the slow log's sensor is red, with the reason.
func testWithout(t *testing.T, srv *factstest.Server) {
	for _, c := range []struct {
		name, why string
		change    func(db *iikanji.Service)
		known     bool // facts of the database are expected
	}{
		{"no log", "the target names no slow log", func(db *iikanji.Service) { db.Logs = nil }, true},
		{"down", "connecting to the", func(db *iikanji.Service) { db.Socket += ".gone" }, false},
		{"none", "the target has none", func(db *iikanji.Service) { db.Engine = iikanji.EngineSQLite }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, srv)
			c.change(&s.w.Target.Services[0])
			o, err := Observe(t.Context(), s.w)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			o.Phase(scenario.Load, true)
			s.requests(t, 60, "within")
			o.Phase(scenario.Load, false)
			run := &iikanji.Run{Steps: []iikanji.StepStat{{Count: 60}}, Took: time.Second}
			ob, err := o.Finish(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			known, err := o.Ask(t.Context(), ob)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range ob.Sensors {
				if x.Source == iikanji.Host { // less than a second has passed, so there is no sample
					continue
				}
				if x.Green == (x.Source == iikanji.Slow) || x.Source == iikanji.Slow && !strings.Contains(x.Why(), c.why) {
					t.Errorf("%s: green %v, %q", x.Name, x.Green, x.Why())
				}
			}
			if asked := slices.ContainsFunc(known, func(f iikanji.Fact) bool { return fact.TopicVariable.Is(f) }); asked != c.known {
				t.Errorf("is the database asked for facts? %v", asked)
			}
			fs, err := FindingsOf(ob, known)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(fs, func(f iikanji.Finding) bool { return f.Code == "BEN103" && f.Where == "slow" }) {
				t.Errorf("findings %v", codes(fs))
			}
		})
	}
}

// TestObserveRefuses checks the errors for a run without load, and for a start after
// the context was cancelled.
func TestObserveRefuses(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Observe(ctx, Watched{Now: time.Now}); err == nil {
		t.Error("an observation was begun although it had been stopped")
	}
	if _, err := (&Observer{}).Finish(t.Context(), &iikanji.Run{}); err == nil {
		t.Error("a run without load was diagnosed")
	}
}
