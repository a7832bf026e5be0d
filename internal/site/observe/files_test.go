package observe

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// A tenantApp uses SQLite as the apps of contests do: a file per tenant, and a trace of
// the statements.
type tenantApp struct {
	dir   string
	trace *os.File
	lock  sync.Mutex // of the trace
}

func newTenantApp(t *testing.T) *tenantApp {
	t.Helper()
	a := &tenantApp{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(a.dir, "tenants"), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if a.trace, err = os.Create(filepath.Join(a.dir, "trace.log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.trace.Close() })
	for id, rows := range []int{20_000, 300, 200} {
		db, err := sql.Open("sqlite", "file:"+a.file(id+1))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"CREATE TABLE score (id VARCHAR(255) NOT NULL PRIMARY KEY, tenant_id BIGINT NOT NULL, competition_id TEXT NOT NULL, player_id TEXT NOT NULL, points BIGINT NOT NULL, row_num BIGINT NOT NULL)",
			fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT INTO score SELECT hex(i), 1, 'c' || (i %% 200), 'p' || (i %% 500), i %% 100, i FROM n`, rows)} {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a *tenantApp) file(id int) string {
	return filepath.Join(a.dir, "tenants", fmt.Sprintf("%d.db", id))
}

// ranking reads a ranking, and waits a while.
func (a *tenantApp) ranking(t *testing.T, id int, wait time.Duration) {
	db, err := sql.Open("sqlite", "file:"+a.file(id)+"?mode=ro")
	if err != nil {
		t.Error(err)
		return
	}
	defer db.Close()
	const query = "SELECT * FROM score WHERE tenant_id = ? AND competition_id = ? ORDER BY row_num DESC"
	began, n := time.Now(), 0
	rows, err := db.Query(query, 1, "c7")
	if err != nil {
		t.Error(err)
		return
	}
	for rows.Next() {
		n++
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	line, _ := json.Marshal(map[string]any{"time": began.Format(time.RFC3339Nano), "statement": query, "args": []any{1, "c7"},
		"query_time": time.Since(began).Seconds(), "rows": n, "db": a.file(id)})
	a.lock.Lock()
	_, err = a.trace.Write(append(line, '\n'))
	a.lock.Unlock()
	if err != nil {
		t.Error(err)
	}
	time.Sleep(wait)
}

func (a *tenantApp) watched() Watched {
	return Watched{Target: iikanji.Target{Services: []iikanji.Service{
		{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
		{Name: "tenants", Role: iikanji.RoleDatabase, Engine: iikanji.EngineSQLite, Files: []string{filepath.Join(a.dir, "tenants")},
			Logs: []iikanji.Log{{Kind: "slow", Path: a.trace.Name()}}}}}, Now: time.Now}
}

// run observes a load of the app.
func (a *tenantApp) run(t *testing.T, w Watched, load func()) (*Observation, []iikanji.Fact, []iikanji.Finding) {
	t.Helper()
	o, err := Observe(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	o.Phase(scenario.Load, true)
	load()
	o.Phase(scenario.Load, false)
	ob, err := o.Finish(t.Context(), &iikanji.Run{Steps: []iikanji.StepStat{{Count: 60}}, Took: time.Second, Outcome: iikanji.Passed, Place: iikanji.Placement{Cores: 2}})
	if err != nil {
		t.Fatal(err)
	}
	known, err := o.Ask(t.Context(), ob)
	if err != nil {
		t.Fatal(err)
	}
	fs, err := FindingsOf(ob, known)
	if err != nil {
		t.Fatal(err)
	}
	return ob, known, fs
}

func slowSensor(t *testing.T, ob *Observation) Sensor {
	t.Helper()
	for _, s := range ob.Sensors {
		if s.Source == iikanji.Slow {
			return s
		}
	}
	t.Fatal("no sensor of statements")
	return Sensor{}
}

// TestSQLiteFiles observes an app with a file per tenant: statements, tables, query
// plan, and the index that is missing.
func TestSQLiteFiles(t *testing.T) {
	a := newTenantApp(t)
	a.ranking(t, 1, 0) // before the load: not in the profile
	ob, known, fs := a.run(t, a.watched(), func() {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for range 20 {
					a.ranking(t, 1, 5*time.Millisecond)
				}
			})
		}
		all.Wait()
	})
	if s := slowSensor(t, ob); !s.Green || s.Name != "SQLite trace" || len(s.Proofs) != 2 {
		t.Errorf("the sensor: %+v", s)
	}
	i := slices.IndexFunc(ob.Profiles, func(p iikanji.Profile) bool { return p.Source == iikanji.Slow })
	if i < 0 || len(ob.Profiles[i].Rows) != 1 || ob.Profiles[i].Rows[0].Count != 60 || ob.Profiles[i].Rows[0].Query.DB != "tenants" || ob.Profiles[i].Rows[0].Query.Sent != 60*100 {
		t.Fatalf("profiles %+v", ob.Profiles)
	}
	facts := map[string]string{}
	for _, f := range known {
		if f.Target == "tenants" {
			facts[f.Topic] = fact.Text(f)
		}
	}
	for topic, want := range map[string]string{string(fact.TopicFileGroup): `"files":3,`, string(fact.TopicTable): `"name":"score"`, string(fact.TopicSize): `"rows":20000,`,
		string(fact.TopicDialect): `"product":"sqlite"`, string(fact.TopicPlan): `"access":"ALL"`} {
		if !strings.Contains(facts[topic], want) {
			t.Errorf("fact %s: %s, want %s", topic, facts[topic], want)
		}
	}
	at := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == "DB101" })
	if at < 0 {
		t.Fatalf("findings %v", codes(fs))
	}
	r := fs[at].Remedies[0]
	if r.Kind != "ddl" || r.Target != "tenants" || r.Args["schema"] != "tenants" || r.Args["table"] != "score" || !strings.HasSuffix(r.Args["columns"], "row_num DESC") || !strings.Contains(r.Args["columns"], "competition_id") {
		t.Errorf("the remedy: %+v", r)
	}
}

// TestSQLiteBlind observes files without a trace, and with a trace of another time.
func TestSQLiteBlind(t *testing.T) {
	a := newTenantApp(t)
	none := a.watched()
	none.Target.Services[1].Logs = nil
	ob, known, _ := a.run(t, none, func() { time.Sleep(10 * time.Millisecond) })
	if s := slowSensor(t, ob); s.Green || !strings.Contains(s.Why(), "names no trace") {
		t.Errorf("without a trace: %+v", s)
	}
	if !slices.ContainsFunc(known, func(f iikanji.Fact) bool { return fact.TopicTable.Is(f) }) {
		t.Error("without a trace the tables are not known")
	}
	ob, _, _ = a.run(t, a.watched(), func() {})
	if s := slowSensor(t, ob); s.Green || s.Error == "" {
		t.Errorf("an empty trace: %+v", s)
	}
	ob, _, fs := a.run(t, a.watched(), func() {
		old := time.Now().Add(-time.Hour).Format(time.RFC3339Nano)
		if _, err := fmt.Fprintf(a.trace, "{\"time\": %q, \"statement\": \"SELECT * FROM score\", \"query_time\": 1}\n", old); err != nil {
			t.Fatal(err)
		}
	})
	if s := slowSensor(t, ob); s.Green || !strings.Contains(s.Why(), "before the load") {
		t.Errorf("statements of another hour: %+v", s)
	}
	if slices.ContainsFunc(fs, func(f iikanji.Finding) bool { return strings.HasPrefix(string(f.Code), "DB") }) {
		t.Errorf("findings from a red sensor: %v", codes(fs))
	}
}
