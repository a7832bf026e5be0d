package loop

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/facts/factstest"
	"github.com/iikanji/iikanji/internal/scenario"
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
	w      Watched
	access string
	root   *sql.DB
	app    *sql.DB // opened once the observer is there
}

func newStage(t *testing.T, srv *factstest.Server) *stage {
	t.Helper()
	dir := t.TempDir()
	slow, access := filepath.Join(dir, "slow.log"), filepath.Join(dir, "access.log")
	for _, f := range []string{slow, access} {
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
		{Name: "database", Kind: "mariadb", Socket: srv.Socket, Logs: []iikanji.Log{{Kind: "slow", Path: slow}}},
		{Name: "nginx", Kind: "nginx", Logs: []iikanji.Log{{Kind: "access", Path: access}}}}}
	return &stage{w: Watched{Target: target, Schema: "seen", User: "root", Now: time.Now}, access: access, root: root, app: app}
}

// requests writes lines to the access log and asks the database once for each.
func (s *stage) requests(t *testing.T, n int, what string) {
	t.Helper()
	f, err := os.OpenFile(s.access, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range n {
		fmt.Fprintf(f, "127.0.0.1 - - [%s] \"GET /%s HTTP/1.1\" 200 5 \"-\" \"-\"\n", time.Now().Format("02/Jan/2006:15:04:05 -0700"), what)
		if _, err := s.app.Exec("SELECT /* of "+what+" */ '"+what+"', ?", i); err != nil {
			t.Fatal(err)
		}
	}
}

// TestObserve holds the observer against a real database.
func TestObserve(t *testing.T) {
	srv, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	t.Run("window", func(t *testing.T) { testWindow(t, srv) })
	t.Run("blind", func(t *testing.T) { testBlind(t, srv) })
}

// testWindow observes a run with work before, within and behind its load
// phase, and wants of it exactly what is within, in both logs, and the
// database's settings as they were.
func testWindow(t *testing.T, srv *factstest.Server) {
	s := newStage(t, srv)
	was := settings(t, s.root)
	o, err := Observe(t.Context(), s.w)
	if err != nil {
		t.Fatal(err)
	}
	s.requests(t, 30, "before")
	o.Phase(scenario.Prepare, true)
	o.Phase(scenario.Prepare, false)
	s.requests(t, 5, "before")
	o.Phase(scenario.Load, true)
	s.requests(t, 400, "within")
	time.Sleep(2200 * time.Millisecond) // for two samples of the host
	o.Phase(scenario.Load, false)
	s.requests(t, 50, "behind")
	run := &iikanji.Run{Steps: []iikanji.StepStat{{Count: 400}}, Took: 2 * time.Second}
	ob, err := o.Finish(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range ob.Sensors {
		if !x.Green {
			t.Errorf("%s is red: %s", x.Name, x.Why())
		}
	}
	if len(run.Warnings) != 0 || len(ob.Profiles) != 2 {
		t.Fatalf("%d profiles, warnings %q", len(ob.Profiles), run.Warnings)
	}
	if r := ob.Profiles[0].Rows; len(r) != 1 || r[0].Count != 400 || r[0].Key != "GET /within" {
		t.Errorf("access log: %+v", r)
	}
	if r := ob.Profiles[1].Rows; len(r) != 1 || r[0].Count != 400 || !strings.Contains(r[0].Example.Text, "within") {
		t.Errorf("slow log: %+v", r)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if now := settings(t, s.root); now != was {
		t.Errorf("settings are %s\nand were %s", now, was)
	}
}

// testBlind breaks the sensors of a real observation: an access log that was
// replaced, an app whose connections are older than the observer.
func testBlind(t *testing.T, srv *factstest.Server) {
	s := newStage(t, srv)
	s.requests(t, 100, "before") // also opens the app's connection
	o, err := Observe(t.Context(), s.w)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	o.Phase(scenario.Load, true)
	if err := os.Truncate(s.access, 0); err != nil {
		t.Fatal(err)
	}
	s.requests(t, 60, "within")
	o.Phase(scenario.Load, false)
	run := &iikanji.Run{Steps: []iikanji.StepStat{{Count: 60}}, Took: time.Second}
	ob, err := o.Finish(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"skipping to byte", "observed-slow.log", "0 samples"} {
		if x := ob.Sensors[i]; x.Green || !strings.Contains(x.Why(), want) {
			t.Errorf("%s: green %v, %q, want %q", x.Name, x.Green, x.Why(), want)
		}
	}
	d, err := Orient(ob, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := codes(d.Findings); len(c) != 3 || c[0] != "BEN103" || c[2] != "BEN103" || len(run.Warnings) != 3 {
		t.Errorf("findings %v, warnings %q", c, run.Warnings)
	}
}

// TestObserveRefuses what cannot be observed, and a run without load.
func TestObserveRefuses(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := Observe(ctx, Watched{Now: time.Now}); err == nil {
		t.Error("a target without a database was observed")
	}
	gone := iikanji.Target{Services: []iikanji.Service{{Kind: "mariadb", Socket: filepath.Join(t.TempDir(), "none")}}}
	if _, err := Observe(ctx, Watched{Target: gone, Now: time.Now}); err == nil {
		t.Error("a database that is down was observed")
	}
	if _, err := (&Observer{}).Finish(ctx, &iikanji.Run{}); err == nil {
		t.Error("a run without load was diagnosed")
	}
}
