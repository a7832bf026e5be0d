package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/site/target"
)

// ledgersLoadVariable makes this binary the benchmarker of the ledgers at a URL.
const ledgersLoadVariable = "IIKANJI_TEST_LEDGERS_LOAD"

func init() {
	if url := os.Getenv(ledgersLoadVariable); url != "" {
		if err := loadLedgers(url, os.Getenv("IIKANJI_SECONDS")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// loadLedgers is a benchmarker: it asks for sums one after the other, and prints how many
// were right.
func loadLedgers(url, seconds string) error {
	length, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return fmt.Errorf("IIKANJI_SECONDS: %w", err)
	}
	answer, err := http.Post(url+"/initialize", "", nil)
	if err != nil {
		return err
	}
	answer.Body.Close()
	end, score := time.Now().Add(time.Duration(length*float64(time.Second))), 0
	for n := 0; time.Now().Before(end); n++ {
		tenant := 1 + n%ledgersTenants
		answer, err := http.Get(fmt.Sprintf("%s/sum?tenant=%d&account=account+7", url, tenant))
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if want := ledgerSum(tenant); err != nil || string(text) != fmt.Sprint(want) {
			return fmt.Errorf("sum of %d: %q, want %d (%w)", tenant, text, want, err)
		}
		score++
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"score": score, "pass": true})
}

// A ledgersSite is the app of the ledgers behind an nginx, started as a person would.
type ledgersSite struct{ dir, url, app, work string }

// ledgersConf is its nginx.conf: folder, port of nginx, port of the app.
const ledgersConf = `worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/log/error.log;
events {}
http {
	access_log %[1]s/log/access.log;
	server {
		listen 127.0.0.1:%[2]s;
		location / { proxy_pass http://127.0.0.1:%[3]s; }
	}
}
`

// ledgersFile is its iikanji.toml: folder, port of nginx, port of the app.
const ledgersFile = `version = 1
url = "http://127.0.0.1:%[2]s"

[[service]]
name = "front"
role = "web"
engine = "nginx"
listen = "127.0.0.1:%[2]s"
config = "%[1]s/conf/nginx.conf"
[service.logs]
access = "%[1]s/log/access.log"
error = "%[1]s/log/error.log"

[[service]]
name = "sums"
role = "app"
engine = "go"
listen = "127.0.0.1:%[3]s"
program = "%[1]s/webapp/bin/app"

[[service]]
name = "books"
role = "database"
engine = "sqlite"
[service.logs]
slow = "%[1]s/log/trace.json"
[service.database]
files = ["%[1]s/data"]
originals = "%[1]s/webapp/initial"
schema_folders = ["%[1]s/webapp/sql"]

[bench]
command = "IIKANJI_TEST_LEDGERS_LOAD=$IIKANJI_URL %[1]s/webapp/bin/app"
length = "1s"

[policy]
allow = ["row-order"]
folders = ["%[1]s"]
`

// newLedgers writes the files of the site.
func newLedgers(t *testing.T) ledgersSite {
	t.Helper()
	dir, err := filepath.EvalSymlinks(workFolder(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"conf", "data", "log", "webapp/sql"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := generateLedgers(t.Context(), filepath.Join(dir, "webapp"), ""); err != nil {
		t.Fatal(err)
	}
	first := servertest.FreePorts(t, 2)
	ports := [2]string{strconv.Itoa(first), strconv.Itoa(first + 1)}
	for name, text := range map[string]string{"conf/nginx.conf": fmt.Sprintf(ledgersConf, dir, ports[0], ports[1]),
		target.Name: fmt.Sprintf(ledgersFile, dir, ports[0], ports[1]), "webapp/sql/schema.sql": ledgersSchema} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return ledgersSite{dir, "http://127.0.0.1:" + ports[0], "127.0.0.1:" + ports[1], "work"}
}

// start starts the app and nginx; they are not children of this process.
func (s ledgersSite) start(t *testing.T) {
	t.Helper()
	app := filepath.Join(s.dir, "webapp", "bin", "app")
	script := exec.CommandContext(t.Context(), "sh", "-c", `"$APP" > "$DIR/log/app.log" 2>&1 < /dev/null & exec nginx -p "$DIR" -c "$DIR/conf/nginx.conf" -e "$DIR/log/error.log"`)
	script.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin", "APP="+app, "DIR="+s.dir, ledgersAppVariable+"="+s.app,
		"LEDGERS="+filepath.Join(s.dir, "data"), "WEBAPP="+filepath.Join(s.dir, "webapp"), "TRACE="+filepath.Join(s.dir, "log", "trace.json"))
	script.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	t.Cleanup(func() { s.stop(t) })
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("starting the site: %v\n%s", err, out)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if res, err := http.Post(s.url+"/initialize", "", nil); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatal("the site does not answer")
		}
	}
}

// stop ends nginx and the processes of this copy of the app.
func (s ledgersSite) stop(t *testing.T) {
	if b, err := os.ReadFile(filepath.Join(s.dir, "nginx.pid")); err == nil {
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
	app := filepath.Join(s.dir, "webapp", "bin", "app")
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Error(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == app {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// run runs the real binary with a work folder of its own.
func (s ledgersSite) run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "iikanji", append([]string{args[0], s.dir, "--dir", filepath.Join(s.dir, s.work)}, args[1:]...)...)
	var stdout, stderr bytes.Buffer
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", restVariable+"=1ms", leastLoadVariable+"=400ms")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("iikanji %s: %v\n%s\n%s", strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// tune returns the outcome of a search with runs of a length, and whether it kept an index in all
// originals.
func (s ledgersSite) tune(t *testing.T, length string, flags ...string) (out tune.Outcome, kept bool) {
	t.Helper()
	text := s.run(t, append([]string{"tune", "--short", length, "--full", length, "--watch", "1s", "--pairs", "2", "--json", "--noisy"}, flags...)...)
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&out); err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
	for _, a := range out.Attempts {
		kept = kept || a.Verdict.Call == iikanji.Keep && strings.Contains(a.Says, "index")
		t.Logf("%s: %s %s", a.Says, a.Verdict.Call, a.Skipped)
	}
	n := ledgers{s.dir}.indexed(t)
	t.Logf("%d originals have an index; %q", n, out.Notes)
	return out, kept && n >= ledgersTenants
}

// TestSQLiteSiteUnderLoad takes a site with SQLite files that iikanji.toml describes
// through doctor, diagnose and tune, and back to the byte.
func TestSQLiteSiteUnderLoad(t *testing.T) {
	tier.Slow(t)
	s := newLedgers(t)
	s.start(t)
	before := filesBelow(t, s.dir)
	if out := s.run(t, "doctor"); !strings.Contains(out, "none failed") {
		t.Errorf("doctor:\n%s", out)
	}
	missingIndex(t, func() string { return s.run(t, "diagnose", "--load", "1s", "--json") })
	same(t, "diagnosing", filesBelow(t, s.dir), before)
	o := search.Options{Short: 400 * time.Millisecond, Watch: time.Second, Pairs: 2}
	out, kept := s.tune(t, "400ms", "--time", o.LeastTime().String())
	// On a busy machine the least time ends before a verdict, or before it is confirmed, and short runs
	// differ much. A search in the same work folder would not try again what this one has dropped.
	for try := 0; try < 3 && !kept; try++ {
		s.run(t, "revert", "--all")
		s.work = fmt.Sprintf("again-%d", try)
		out, kept = s.tune(t, "1500ms", "--time", "0", "--runs", "60")
	}
	if !kept {
		t.Error("it kept no index")
	}
	switch n := len(out.Final); {
	case n > 0 && out.Ratio.Mid <= 1, n > 2: // the interval depends on what else the machine does
		t.Errorf("the last comparison has %d pairs: %+v", n, out.Ratio)
	case n < 2 && len(out.Notes) == 0: // on a busy machine a pair may rightly not count, and the time ends
		t.Errorf("the last comparison has %d pairs, and no note tells why", n)
	}
	s.run(t, "revert", "--all")
	same(t, "reverted", filesBelow(t, s.dir), before)
	if n := (ledgers{s.dir}).indexed(t); n != 0 {
		t.Errorf("%d originals still have an index", n)
	}
}
