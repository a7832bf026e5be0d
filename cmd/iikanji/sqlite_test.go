package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

// ledgersVariable adds the arena "ledgers" to a command of the tests: an app with a
// SQLite file per tenant and no other database. ledgersAppVariable makes this binary
// its app.
const (
	ledgersVariable    = "IIKANJI_TEST_LEDGERS"
	ledgersAppVariable = "IIKANJI_TEST_LEDGERS_APP"
)

const (
	ledgersSchema  = "CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, account TEXT NOT NULL, amount INT NOT NULL, made INT NOT NULL);\n"
	ledgersTenants = 4
	ledgersRows    = 20_000
)

func init() {
	if os.Getenv(ledgersAppVariable) != "" {
		process.MaybeSupervise() // the step before the app's execution has the app's environment
		if err := serveLedgers(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if os.Getenv(ledgersVariable) != "" {
		arena.Register(ledgersArena())
	}
}

func ledgersArena() *arena.Arena {
	return &arena.Arena{
		Name:             "ledgers",
		Files:            fstest.MapFS{"sql/schema.sql": {Data: []byte(ledgersSchema)}, "nginx.conf": {Data: []byte(tinyConf)}},
		Generate:         generateLedgers,
		GeneratedVersion: "1",
		Services: []arena.Service{
			{Name: "ledgers", Role: iikanji.RoleDatabase, Engine: iikanji.EngineSQLite, Data: "ledgers", Originals: "initial", Loads: []string{"sql"},
				Logs: []arena.Log{{Kind: "slow", File: "ledgers-trace.log"}}},
			{Name: "app", Role: iikanji.RoleApp, Engine: "self", Start: []string{"{{.Webapp}}/bin/app"}, Env: func(p arena.Places) []string {
				return []string{ledgersAppVariable + "=" + p.Service("app").Address, "LEDGERS=" + p.Service("ledgers").Data, "WEBAPP=" + p.Webapp,
					"TRACE=" + p.Service("ledgers").Log("slow")}
			}},
			{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Configs: []arena.Config{{Template: "nginx.conf"}}},
		},
		Scenario: func(arena.Options) (scenario.Scenario, error) { return ledgersLoad{}, nil },
		Allow:    []iikanji.Promise{iikanji.RowOrder},
	}
}

// generateLedgers writes the app, which is this binary, and the original files.
func generateLedgers(ctx context.Context, webapp, _ string) error {
	for _, dir := range []string{"bin", "initial"} {
		if err := os.MkdirAll(filepath.Join(webapp, dir), 0o755); err != nil {
			return err
		}
	}
	app := filepath.Join(webapp, "bin", "app")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "cp", self, app).CombinedOutput(); err != nil {
		return fmt.Errorf("copying the app: %w: %s", err, out)
	}
	if err := os.Chmod(app, 0o755); err != nil {
		return err
	}
	for id := range ledgersTenants {
		path := filepath.Join(webapp, "initial", fmt.Sprintf("%d.db", id+1))
		db, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			return err
		}
		defer db.Close()
		for _, s := range []string{ledgersSchema, fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT INTO entry SELECT i, 'account ' || (i %% 300), i %% 90, i FROM n`, ledgersRows*(id+1))} {
			if _, err := db.ExecContext(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// serveLedgers is the app. It opens a file for each request and writes a trace.
func serveLedgers() error {
	dir := os.Getenv("LEDGERS")
	trace, err := os.OpenFile(os.Getenv("TRACE"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	var lock sync.Mutex
	http.HandleFunc("POST /initialize", func(w http.ResponseWriter, r *http.Request) {
		out, err := exec.CommandContext(r.Context(), "sh", "-c", `rm -f "$LEDGERS"/*.db && cp "$WEBAPP"/initial/*.db "$LEDGERS"/`).CombinedOutput()
		if err != nil {
			http.Error(w, fmt.Sprint(err, string(out)), http.StatusInternalServerError)
		}
	})
	http.HandleFunc("GET /sum", func(w http.ResponseWriter, r *http.Request) {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, filepath.Base(r.FormValue("tenant"))+".db"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer db.Close()
		const query = "SELECT amount, made FROM entry WHERE account = ? ORDER BY made DESC LIMIT 5"
		began, sum := time.Now(), 0
		rows, err := db.QueryContext(r.Context(), query, r.FormValue("account"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var amount, made int
			if err := rows.Scan(&amount, &made); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			sum += made
		}
		line, _ := json.Marshal(map[string]any{"time": began.Format(time.RFC3339Nano), "statement": query, "args": []any{r.FormValue("account")},
			"query_time": time.Since(began).Seconds(), "rows": 5})
		lock.Lock()
		defer lock.Unlock()
		_, _ = trace.Write(append(line, '\n')) // a request without a line in the trace is still answered
		fmt.Fprint(w, sum)
	})
	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ledgers") })
	return http.ListenAndServe(os.Getenv(ledgersAppVariable), nil)
}

// A ledgersLoad asks for the sums of accounts.
type ledgersLoad struct{}

// Info implements scenario.Scenario.
func (ledgersLoad) Info() scenario.Info {
	return scenario.Info{Name: "ledgers", Steps: []string{"POST /initialize", "GET /sum"}, Load: time.Second, Timeout: 5 * time.Second,
		Table: scenario.Table{MaxErrors: 10, FailAtZero: true, Events: []scenario.EventRule{{Name: "sum", Points: 1}}}}
}

// Prepare implements scenario.Preparer.
func (ledgersLoad) Prepare(ctx context.Context, s scenario.Session) error {
	c := s.NewClient(scenario.ClientOptions{})
	defer c.Close()
	res, err := c.Do(ctx, &scenario.Request{Step: 0, Method: http.MethodPost, Path: "/initialize"})
	if err != nil {
		return err
	}
	defer res.Release()
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return err
	}
	s.Phase(scenario.Prepare)
	return askLedger(ctx, c, ledgersTenants)
}

func askLedger(ctx context.Context, c scenario.Client, tenant int) error {
	res, err := c.Do(ctx, &scenario.Request{Step: 1, Method: http.MethodGet, Path: fmt.Sprintf("/sum?tenant=%d&account=account+7", tenant)})
	if err != nil {
		return err
	}
	defer res.Release()
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return err
	}
	if got, want := string(res.Body), ledgerSum(tenant); got != fmt.Sprint(want) {
		return scenario.Wrong(res, "sum", "%s, want %d", got, want)
	}
	return nil
}

// ledgerSum is the right sum of a tenant's account.
func ledgerSum(tenant int) (sum int) {
	for i := range 5 { // made is 7 modulo 300
		sum += (ledgersRows*tenant-1)/300*300 + 7 - 300*i
	}
	return sum
}

// Load implements scenario.Loader.
func (ledgersLoad) Load(_ context.Context, s scenario.Session) error {
	for i := range 2 {
		s.Go("customer", func(ctx context.Context) {
			c := s.NewClient(scenario.ClientOptions{})
			for n := i; ctx.Err() == nil; n++ {
				if err := askLedger(ctx, c, 1+n%ledgersTenants); err != nil {
					s.Report(err)
					continue
				}
				s.Add(0, 1)
			}
		})
	}
	return nil
}

// ledgers is the arena in a work folder of its own.
type ledgers struct{ dir string }

// run runs the real binary.
func (l ledgers) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "iikanji", append([]string{args[0], "ledgers", "--dir", l.dir}, args[1:]...)...)
	var stdout, stderr bytes.Buffer
	cmd.Env = append(os.Environ(), ledgersVariable+"=1", "GORACE=atexit_sleep_ms=0", restVariable+"=1ms", leastLoadVariable+"=400ms")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("iikanji %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

// indexed counts the originals that have an index of their own.
func (l ledgers) indexed(t *testing.T) (n int) {
	t.Helper()
	for id := range ledgersTenants {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(l.dir, "webapp", "initial", fmt.Sprintf("%d.db", id+1))+"?mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var made int
		if err := db.QueryRow("SELECT count(*) FROM sqlite_master WHERE type = 'index'").Scan(&made); err != nil {
			t.Fatal(err)
		}
		n += made
	}
	return n
}

// missingIndex diagnoses until the index of the ledgers is found: a busy machine has few requests in
// a second.
func missingIndex(t *testing.T, diagnose func() string) {
	t.Helper()
	found := ""
	for range busyTries {
		if found = diagnose(); strings.Contains(found, `"DB101"`) && strings.Contains(found, "add index (account, made") {
			return
		}
	}
	t.Fatalf("diagnose: %.3000s", found)
}

// TestSQLiteUnderLoad diagnoses an app with SQLite files only, plans, applies and
// reverts its index by the commands, and then has tune find and keep it.
func TestSQLiteUnderLoad(t *testing.T) {
	tier.Slow(t)
	l := ledgers{filepath.Join(workFolder(t), "ledgers")}
	missingIndex(t, func() string { return l.run(t, "diagnose", "--load", "1s", "--json") })
	before := filesBelow(t, l.dir)
	if plan := l.run(t, "plan", "DB101"); !strings.Contains(plan, "CREATE INDEX") || !strings.Contains(plan, "-- originals below ") || !strings.Contains(plan, "+++ b") {
		t.Errorf("plan:\n%s", plan)
	}
	same(t, "planning", filesBelow(t, l.dir), before)
	l.run(t, "apply", "DB101")
	if n := l.indexed(t); n != ledgersTenants {
		t.Errorf("%d originals have the index", n)
	}
	again := l.run(t, "diagnose", "--load", "1s", "--json")
	if strings.Contains(again, "add index (account, made") {
		t.Errorf("with the index it is advised again: %.3000s", again)
	}
	l.run(t, "revert", "--all")
	same(t, "reverted", filesBelow(t, l.dir), before)

	least := 2 * search.Options{Short: 400 * time.Millisecond, Full: 400 * time.Millisecond, Watch: time.Second, Pairs: 2}.LeastTime()
	if !l.searchIndex(t, 400*time.Millisecond, "--time", least.String()) {
		searchPatiently(t)
	}
	l.run(t, "revert", "--all")
	same(t, "the search reverted", filesBelow(t, l.dir), before)
}

// searchPatiently searches as long as it takes. On a busy machine a short search may rightly drop
// what short runs do not prove, or has no time for it. A search after it in the same folder would
// not try that again: each has a folder of its own.
func searchPatiently(t *testing.T) {
	t.Helper()
	for range 3 {
		other := ledgers{filepath.Join(workFolder(t), "ledgers")}
		if other.searchIndex(t, 1500*time.Millisecond, "--time", "0", "--runs", "60", "--noisy") {
			return
		}
	}
	t.Error("four searches kept no index")
}

// searchIndex has tune search with runs of a length, with some further flags, and reports whether
// it kept an index of all originals.
func (l ledgers) searchIndex(t *testing.T, length time.Duration, flags ...string) bool {
	t.Helper()
	text := l.run(t, append([]string{"tune", "--short", length.String(), "--full", length.String(), "--watch", "1s", "--pairs", "2", "--json"}, flags...)...)
	var out tune.Outcome
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&out); err != nil && err != io.EOF {
		t.Fatalf("%v: %.500s", err, text)
	}
	kept := false
	for _, a := range out.Attempts {
		index := a.Candidate.Remedy.Kind == "ddl" || slices.ContainsFunc(a.Parts, func(p search.Part) bool { return p.Code() == "DB101" }) // of several changes together
		kept = kept || a.Verdict.Call == iikanji.Keep && index
		t.Logf("%s: %s (%s) %s, dropped: %t", a.Says, a.Verdict.Call, a.Verdict.Why, a.Skipped, a.Dropped)
	}
	t.Logf("ratio %.2f: %s", out.Ratio.Mid, strings.Join(out.Notes, "; "))
	return kept && l.indexed(t) == ledgersTenants
}
