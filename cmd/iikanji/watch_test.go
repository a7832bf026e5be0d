package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/observe"
	"github.com/iikanji/iikanji/internal/site/targettest"
	"github.com/iikanji/iikanji/internal/site/window"
)

// watched is the document of diagnose --watch --json and of diagnose --from --json.
type watched struct {
	diagnose.Diagnosis
	PerHour float64         `json:"times_per_hour"`
	Take    []plannedRemedy `json:"take_away"`
}

// TestWatch observes the own traffic of a site that a shell script has started:
// without changing anything, with logs that are turned on, and into folders that
// are diagnosed and compared.
func TestWatch(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
	defer cancel()
	s, err := targettest.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	work := t.TempDir()
	shell(t, exitDone, "init", s.URL, "--into", s.Dir)
	db, err := host.Local{}.SQL(host.Login{Socket: filepath.Join(s.Dir, "run", "db.sock")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	was := globals(t, db)
	original := siteState(t, s.Dir)
	stop := traffic(ctx, s.URL)
	defer stop()

	t.Run("a service ends", func(t *testing.T) { collectPast(t, s) })
	t.Run("passive", func(t *testing.T) {
		var d *watched
		for range busyTries {
			d = watchOnce(t, s.Dir, "--dir", work)
			red := slices.ContainsFunc(d.Sensors, func(x observe.Sensor) bool { return x.Source == iikanji.Slow && !x.Green })
			if !red && hasIndexOf(d, "booking (crossing_id") && d.Run.Outcome == iikanji.Passed {
				break
			}
		}
		if !hasIndexOf(d, "booking (crossing_id") || d.Run.Outcome != iikanji.Passed || !d.Run.Watched || d.PerHour < 500 {
			t.Errorf("outcome %s, %.0f times an hour, findings %+v\nsensors %+v", d.Run.Outcome, d.PerHour, d.Findings, d.Sensors)
		}
		for _, x := range d.Sensors {
			if x.Source == iikanji.Slow && (!x.Green || !strings.HasPrefix(x.Name, "process list") || len(x.Proofs) != 3) {
				t.Errorf("the statements' sensor: %+v", x)
			}
		}
		i := slices.IndexFunc(d.Take, func(p plannedRemedy) bool {
			return strings.HasPrefix(p.Diff, "ALTER TABLE `ferry`.`booking` ADD INDEX (")
		})
		if i < 0 {
			t.Errorf("no statement to take away: %+v", d.Take)
		}
		if out, _ := shell(t, exitDone, "history", s.Dir, "--dir", work); !strings.Contains(out, "no change") {
			t.Errorf("watching made changes:\n%s", out)
		}
	})
	same(t, "watched", siteState(t, s.Dir), original)
	t.Run("sensors", func(t *testing.T) { watchWithSensors(t, s, work) })
	same(t, "watched with sensors", siteState(t, s.Dir), original)
	if now := globals(t, db); now != was {
		t.Errorf("global variables after: %s\nbefore: %s", now, was)
	}
	t.Run("folders", func(t *testing.T) { windows(t, s, db, work, stop) })
}

// watchWithSensors expects a journalled slow log that is undone at the end, and a
// diagnosis of what the timed log showed.
func watchWithSensors(t *testing.T, s *targettest.Site, work string) {
	d, tries := watchGreen(t, s.Dir, "--sensors", "--dir", work)
	if !hasIndexOf(d, "booking (crossing_id") {
		t.Errorf("findings %+v\nsensors %+v", d.Findings, d.Sensors)
	}
	for _, x := range d.Sensors {
		if !x.Green {
			t.Errorf("%s is red: %s", x.Name, x.Why())
		}
	}
	h, err := history.View(filepath.Join(work, "history"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	changes, err := h.Changes()
	if err != nil || len(changes) != 2*tries {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	for _, c := range changes {
		if c.Stage != iikanji.Reverted {
			t.Errorf("change %d (%s) is %s", c.ID, c.Says, c.Stage)
		}
	}
	left, _ := filepath.Glob(filepath.Join(s.Dir, "*", "iikanji-*"))
	if len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
}

// connectedJob is a program in Python that connects to a database and waits.
const connectedJob = `import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.recv(1)
print("connected", flush=True)
time.sleep(600)`

// collectPast collects a window in which a service that was found on the machine ends: a
// job that uses the site's database.
func collectPast(t *testing.T, site *targettest.Site) {
	job := exec.Command("python3", "-c", connectedJob, filepath.Join(site.Dir, "run", "db.sock"))
	var said lockedBuffer
	job.Stdout, job.Stderr, job.SysProcAttr = &said, &said, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { _ = job.Wait(); close(gone) }()
	defer func() { _ = job.Process.Kill(); <-gone }()
	for !strings.Contains(said.String(), "connected") {
		select {
		case <-gone:
			t.Fatalf("the job has ended at once: %s", said.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Chdir(t.TempDir())
	var errs lockedBuffer
	ended := make(chan struct{})
	go func() {
		for !strings.Contains(errs.String(), "watching the traffic") {
			select {
			case <-ended:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
		_ = job.Process.Kill()
	}()
	status, _ := command(t.Context(), &errs, "collect", "--url", site.URL, "--for", "5s", "--into", "window", "--dir", t.TempDir())
	close(ended)
	if status != exitDone || !strings.Contains(errs.String(), "has ended") {
		t.Errorf("status %d, want %d and a line about the service that has ended:\n%s", status, exitDone, errs.String())
	}
	if _, err := os.Stat(filepath.Join("window", "window.json")); err != nil {
		t.Error(err)
	}
}

// windows collects before and after an index, diagnoses both folders without the
// site, and compares them. Few requests of a busy machine may prove neither the missing index
// nor its effect: then both folders are collected again.
func windows(t *testing.T, s *targettest.Site, db *sql.DB, work string, stop func()) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	change := func(what string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), "ALTER TABLE ferry.booking "+what); err != nil {
			t.Fatal(err)
		}
	}
	why := ""
	for try := range busyTries {
		if try > 0 {
			t.Logf("once more: %s", why)
			change("DROP INDEX planted")
		}
		collectGreen(t, s, before, work)
		change("ADD INDEX planted (crossing_id)")
		collectGreen(t, s, after, work)
		if why = indexShown(t, before, after); why == "" {
			break
		}
	}
	stop()
	if why != "" {
		t.Error(why)
	}
	clean(t, before)
	shell(t, exitUsage, "collect", s.Dir, "--for", "5s", "--into", before, "--dir", work)
	if out, _ := shell(t, exitDone, "diagnose", "--from", before); !strings.Contains(out, "per hour of this traffic") || !strings.Contains(out, "ALTER TABLE `ferry`.`booking` ADD INDEX (") {
		t.Errorf("the text:\n%s", out)
	}
	if out, _ := shell(t, exitDone, "diff", before, after); !strings.Contains(out, "changed for sure") {
		t.Errorf("the text:\n%s", out)
	}
}

// collectGreen collects a folder whose sensors are green.
func collectGreen(t *testing.T, s *targettest.Site, into, work string) {
	t.Helper()
	var out, said string
	for range busyTries {
		if err := os.RemoveAll(into); err != nil {
			t.Fatal(err)
		}
		if out, said = shell(t, exitDone, "collect", s.Dir, "--for", "5s", "--sensors", "--into", into, "--dir", work); !strings.Contains(out, "RED") {
			break
		}
	}
	if !strings.Contains(out, "CONTENTS.txt") || strings.Contains(out, "RED") {
		t.Errorf("collect: %s\n%s", out, said)
	}
}

// indexShown is empty if a missing index is found in the first folder only, and its effect in
// the comparison of both.
func indexShown(t *testing.T, before, after string) (why string) {
	t.Helper()
	for folder, missing := range map[string]bool{before: true, after: false} {
		var d watched
		out, _ := shell(t, exitDone, "diagnose", "--from", folder, "--json")
		if err := json.Unmarshal([]byte(out), &d); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if hasIndexOf(&d, "booking (crossing_id") != missing {
			return fmt.Sprintf("%s: an index for booking is missing: want %v, findings %+v", filepath.Base(folder), missing, d.Findings)
		}
	}
	var c window.Comparison
	out, _ := shell(t, exitDone, "diff", before, after, "--json")
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Changes, func(x window.Change) bool {
		return x.Quantity == window.StatementTime && strings.Contains(x.Where, "from booking")
	})
	if i < 0 || !c.Changes[i].Sure || c.Changes[i].Ratio > 0.5 {
		return "the index is not in the comparison: " + out
	}
	return ""
}

// clean requires a collected folder without secrets, literals, addresses of clients and
// lines of logs, and a list of its files.
func clean(t *testing.T, dir string) {
	t.Helper()
	listed, err := os.ReadFile(filepath.Join(dir, window.List))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, bad := range []string{targettest.Secret, "harbour-1", "harbour-2", "Go-http-client", "secret-in-the-query"} {
			if strings.Contains(string(b), bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
		if name := d.Name(); name != window.List && !strings.HasPrefix(name, ".") && !strings.Contains(string(listed), name) {
			t.Errorf("%s is not in the list", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// busyTries limits how often an observation is repeated that has a red sensor: on a busy
// machine a sensor may rightly be red, as one that is read too seldom.
const busyTries = 8

// watchGreen observes a site until all sensors are green and the missing index is found: in a
// few seconds of a busy machine there may be too few requests for it.
func watchGreen(t *testing.T, dir string, flags ...string) (d *watched, tries int) {
	t.Helper()
	for tries < busyTries {
		tries++
		d = watchOnce(t, dir, flags...)
		if !slices.ContainsFunc(d.Sensors, func(s observe.Sensor) bool { return !s.Green }) && hasIndexOf(d, "booking (crossing_id") {
			break
		}
	}
	return d, tries
}

func watchOnce(t *testing.T, dir string, flags ...string) *watched {
	t.Helper()
	out, said := shell(t, exitDone, append([]string{"diagnose", dir, "--watch", "5s", "--json"}, flags...)...)
	d := new(watched)
	if err := json.Unmarshal([]byte(out), d); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, said)
	}
	return d
}

func hasIndexOf(d *watched, table string) bool {
	return slices.ContainsFunc(d.Findings, func(f iikanji.Finding) bool { return f.Code == "DB101" && strings.Contains(f.Where, table) })
}

// traffic requests pages until the returned function is called. Each request has a
// connection of its own, as the app's connections to the database then come and go.
func traffic(ctx context.Context, url string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var users sync.WaitGroup
	for user := range 3 {
		users.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			for n := user; ctx.Err() == nil; n++ {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/harbour/harbour-%d?token=secret-in-the-query", url, n%50), nil)
				if err != nil {
					return
				}
				if res, err := client.Do(req); err == nil {
					_ = res.Body.Close()
				}
				time.Sleep(50 * time.Millisecond) // the site must not be the load of other tests
			}
		})
	}
	return func() { cancel(); users.Wait() }
}

// globals are the variables that an observation could change.
func globals(t *testing.T, db *sql.DB) string {
	t.Helper()
	var text string
	err := db.QueryRowContext(t.Context(), "SELECT CONCAT_WS(' ', @@GLOBAL.slow_query_log, @@GLOBAL.slow_query_log_file, @@GLOBAL.long_query_time, @@GLOBAL.log_output, "+
		"@@GLOBAL.min_examined_row_limit, @@GLOBAL.log_slow_rate_limit, @@GLOBAL.log_slow_verbosity, @@GLOBAL.general_log)").Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestWatchRefuses tests that wrong flags are usage errors.
func TestWatchRefuses(t *testing.T) {
	empty := t.TempDir()
	for _, args := range [][]string{
		{"diagnose", "isucondition", "--watch", "10s"}, {"diagnose", "isucondition", "--sensors"}, {"diagnose", "isucondition", "--from", empty},
		{"collect", "--for", "1s"}, {"collect", "isucondition"}, {"diagnose"},
	} {
		if _, said := shell(t, exitUsage, args...); said == "" {
			t.Errorf("%v says nothing", args)
		}
	}
	if _, said := shell(t, exitFailed, "diagnose", "--from", empty); !strings.Contains(said, "iikanji collect") {
		t.Errorf("a folder without a window: %s", said)
	}
}
