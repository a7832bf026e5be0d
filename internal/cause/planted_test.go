package cause_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// A site is a small app over a real database, with faults that can be planted.
type site struct {
	ctx      context.Context
	t        *testing.T
	db       *sql.DB
	requests atomic.Int64
	took     atomic.Int64 // of all requests, ns
	ran      time.Duration
	seen     []iikanji.Fact // of the load
	fault    string
}

const siteSchema = `
CREATE TABLE device (id INT PRIMARY KEY, uuid CHAR(36) NOT NULL UNIQUE, owner INT NOT NULL, name VARCHAR(100) NOT NULL, icon MEDIUMBLOB NOT NULL, KEY o (owner));
CREATE TABLE state (id BIGINT AUTO_INCREMENT PRIMARY KEY, uuid CHAR(36) NOT NULL, ts INT NOT NULL, level INT NOT NULL, message VARCHAR(255) NOT NULL, KEY newest (uuid, ts));
CREATE TABLE setting (name VARCHAR(50) PRIMARY KEY, value VARCHAR(255) NOT NULL);
INSERT INTO device SELECT seq, CONCAT('device-', LPAD(seq, 29, '0')), seq MOD 10, CONCAT('d', seq), REPEAT('i', 20000) FROM seq_1_to_100;
INSERT INTO state (uuid, ts, level, message) SELECT CONCAT('device-', LPAD(1 + seq MOD 100, 29, '0')), seq, seq MOD 4, REPEAT('m', 80) FROM seq_1_to_8000;
INSERT INTO setting VALUES ('a', '1'), ('b', '2');`

// plants lists the faults, each with its change before the load, and the code that
// must be the first or second finding.
var plants = []struct {
	fault, ddl string
	code       iikanji.Code
}{
	{"none", "", ""},
	{"missing index", "DROP INDEX newest ON state", "DB101"},
	{"missing DESC index", "CREATE INDEX ranked ON state (level, ts)", "DB101"},
	{"wrong column", "DROP INDEX newest ON state; CREATE INDEX newest ON state (uuid, message)", "DB102"},
	{"redundant index", "CREATE INDEX u ON state (uuid); CREATE INDEX v ON state (uuid, ts, level)", "DB103"},
	{"hidden column", "", "DB105"},
	{"history", "", "DB110"},
	{"blob", "", "DB111"},
	{"n+1", "", "DB113"},
	{"refetch", "", "DB114"},
	{"churn", "", "DB115"},
	{"single inserts", "", "DB119"},
	{"n+1 of three", "", "DB113"},
	{"commit per row", "SET GLOBAL innodb_flush_log_at_trx_commit = 1", "DB116"},
	{"tiny pool", "", "APP103"},
	{"lock convoy", "", "DB117"},
	{"deadlock", "", "DB118"},
	{"no primary key", "ALTER TABLE state MODIFY id BIGINT NOT NULL DEFAULT 0, DROP PRIMARY KEY", "DB121"},
	{"old statistics", `CREATE TABLE reading (id INT PRIMARY KEY, device INT NOT NULL, v INT NOT NULL, KEY d (device)) STATS_PERSISTENT=1 STATS_AUTO_RECALC=0;
		INSERT INTO reading SELECT seq, 1, seq FROM seq_1_to_20; ANALYZE TABLE reading; INSERT INTO reading SELECT seq, seq MOD 2000, seq FROM seq_21_to_10000; FLUSH TABLES`, "DB205"},
}

func (s *site) exec(q string, args ...any) {
	if _, err := s.db.ExecContext(s.ctx, q, args...); err != nil {
		s.t.Fatalf("%s: %v", q, err)
	}
}

// all runs a query and discards its rows.
func (s *site) all(q string, args ...any) {
	rows, err := s.db.QueryContext(s.ctx, q, args...)
	if err != nil {
		s.t.Errorf("%s: %v", q, err) // also of goroutines
		return
	}
	defer rows.Close()
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		s.t.Errorf("%s: %v", q, err)
	}
}

func uuid(i int) string { return fmt.Sprintf("device-%029d", 1+i%100) }

// newest is GET /device/:uuid.
func (s *site) newest(i int) {
	if s.fault == "refetch" {
		for range 6 {
			s.all("SELECT value FROM setting WHERE name = ?", "a")
		}
	}
	switch s.fault {
	case "history":
		s.all("SELECT id, ts, level FROM state WHERE uuid = ? ORDER BY ts DESC", uuid(i))
	case "missing DESC index": // an index of two columns in one direction does not help
		s.all("SELECT id, uuid, level, ts FROM state ORDER BY level, ts DESC LIMIT 5")
	case "hidden column":
		s.all("SELECT id, ts, level FROM state WHERE CONCAT('x', uuid) = ? ORDER BY ts DESC LIMIT 1", "x"+uuid(i))
	default:
		s.all("SELECT id, ts, level FROM state WHERE uuid = ? ORDER BY ts DESC LIMIT 1", uuid(i))
	}
}

// list is GET /owner/:id.
func (s *site) list(i int) {
	switch s.fault {
	case "blob":
		s.all("SELECT * FROM device WHERE owner = ?", i%10)
		return
	case "old statistics":
		s.all("SELECT r.id FROM device d JOIN reading r ON r.device = d.id WHERE d.owner < 5")
		return
	case "n+1 of three":
		s.all("SELECT id, uuid FROM device WHERE owner = ? ORDER BY id LIMIT 3", i%10)
		for j := range 3 {
			s.all("SELECT name FROM device WHERE uuid = ?", uuid(i+10*j))
		}
		return
	}
	s.all("SELECT id, uuid FROM device WHERE owner = ?", i%10)
	if s.fault == "n+1" {
		for j := range 10 {
			s.all("SELECT name FROM device WHERE uuid = ?", uuid(i+10*j))
		}
	}
}

// post is POST /device/:uuid: five rows in one transaction.
func (s *site) post(i int) {
	row := fmt.Sprintf("('%s', %d, 1, 'new')", uuid(i), 1_000_000+i)
	insert := "INSERT INTO state (uuid, ts, level, message) VALUES "
	n, text := 1, insert+strings.Repeat(row+", ", 4)+row
	switch s.fault {
	case "commit per row":
		for range 5 {
			s.exec(insert + row)
		}
		return
	case "single inserts":
		n, text = 5, insert+row
	}
	tx, err := s.db.BeginTx(s.ctx, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for range n {
		if _, err := tx.ExecContext(s.ctx, text); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		s.t.Fatal(err)
	}
}

// request runs one request and counts it.
func (s *site) request(do func(int), i int) {
	began := time.Now()
	do(i)
	s.requests.Add(1)
	s.took.Add(int64(time.Since(began)))
}

// run is the load: one client, or several for faults that need concurrency.
func (s *site) run(asker *facts.Server) {
	began := time.Now()
	defer func() { s.ran = time.Since(began) }()
	switch s.fault {
	case "tiny pool":
		s.db.SetMaxOpenConns(2)
		s.crowd(asker, 16, 30, func(int) { s.all("SELECT value, SLEEP(0.003) FROM setting WHERE name = ?", "a") })
	case "lock convoy":
		s.crowd(asker, 8, 60, s.hold)
	case "deadlock":
		for range 3 {
			s.request(s.cross, 0)
		}
		d, err := asker.Deadlock(s.ctx)
		if err != nil {
			s.t.Fatal(err)
		}
		s.seen = append(s.seen, facts.DeadlockFacts("database", nil, d)...)
	default:
		for i := range 350 {
			for _, do := range []func(int){s.newest, func(i int) { s.newest(i + 7) }, s.list, s.post} {
				s.request(do, i)
			}
		}
	}
}

// crowd is the load of several concurrent clients, with samples of lock waits.
func (s *site) crowd(asker *facts.Server, clients, each int, do func(int)) {
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := range each {
				s.request(do, i)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	var waits []fact.LockWait
	for {
		w, err := asker.LockWaits(s.ctx)
		if err != nil {
			s.t.Fatal(err)
		}
		waits = append(waits, w...)
		select {
		case <-done:
			s.seen = append(s.seen, facts.LockWaitFacts("database", waits)...)
			return
		case <-time.After(120 * time.Millisecond):
		}
	}
}

// hold is POST /setting: it locks a row that all clients need, and then does
// something else.
func (s *site) hold(i int) {
	tx, err := s.db.BeginTx(s.ctx, nil)
	if err != nil {
		s.t.Error(err)
		return
	}
	for _, q := range []string{fmt.Sprintf("UPDATE setting SET value = '%d' WHERE name = 'a'", i), "DO SLEEP(0.002)"} {
		if _, err := tx.ExecContext(s.ctx, q); err != nil {
			s.t.Error(err)
		}
	}
	if err := tx.Commit(); err != nil {
		s.t.Error(err)
	}
}

// cross is two transactions that lock two rows in different orders.
func (s *site) cross(int) {
	var txs [2]*sql.Tx
	for i := range txs {
		tx, err := s.db.BeginTx(s.ctx, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		txs[i] = tx
	}
	take := func(i int, name string) error {
		_, err := txs[i].ExecContext(s.ctx, "UPDATE setting SET value = 'x' WHERE name = ?", name)
		return err
	}
	if err := errors.Join(take(0, "a"), take(1, "b")); err != nil {
		s.t.Fatal(err)
	}
	other := make(chan error, 1)
	go func() { other <- take(0, "b") }()
	if mine, his := take(1, "a"), <-other; (mine == nil) == (his == nil) {
		s.t.Fatalf("one of two has to be rolled back: %v, %v", mine, his)
	}
}

// observe reads the log of the load and the facts, as a run does.
func (s *site) observe(log string, before, after map[string]string, srv *facts.Server) cause.Input {
	in, err := lines.Open(log, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer in.Close()
	p, err := slowlog.Read(s.ctx, []*lines.Input{in}, slowlog.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	fs, tables, err := srv.All(s.ctx, "database", "site")
	if err != nil {
		s.t.Fatal(err)
	}
	fs = append(append(fs, facts.StatusFacts("database", before, after)...), s.seen...)
	schema, err := index.ReadSchema(fs)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, q := range schema.Questions(index.WorkloadOf([]iikanji.Profile{*p})) {
		i := slices.IndexFunc(tables, func(t facts.SizedTable) bool { return t.Name == q.Table })
		if err := srv.Distinct(s.ctx, &tables[i], q.Columns); err != nil {
			s.t.Fatal(err)
		}
		shares, err := srv.Selectivity(s.ctx, &tables[i], q.Predicates)
		if err != nil {
			s.t.Fatal(err)
		}
		fs = append(append(fs, facts.TableFacts("database", tables[i])...), facts.SelectivityFacts("database", tables[i], shares)...)
	}
	for _, r := range p.Rows {
		if plan, err := srv.Analyze(s.ctx, r.Example.Text); err == nil { // other statements have no plan
			fs = append(fs, facts.QueryPlanFact("database", r.Query.Digest, plan))
		}
	}
	return cause.Input{Profiles: []iikanji.Profile{*p}, Facts: fs,
		Run: &iikanji.Run{Took: s.ran, Steps: []iikanji.StepStat{{Count: s.requests.Load(), Total: time.Duration(s.took.Load())}}}}
}

// TestPlantedFaults plants one fault at a time into an app that has none, and runs it
// on a real MariaDB with a slow log. The fault must be the first or second finding,
// and the clean app must have none.
func TestPlantedFaults(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	srv, err := factstest.Start(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	for _, p := range plants {
		t.Run(p.fault, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "slow.log")
			fs := load(ctx, t, srv, p.fault, p.ddl, log)
			at := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == p.code })
			switch {
			case p.code == "" && len(fs) > 0:
				t.Errorf("a clean app has findings:\n%s", formatted(fs))
			case p.code != "" && (at < 0 || at > 1):
				t.Errorf("%s is not first or second:\n%s", p.code, formatted(fs))
			case len(fs) > 2:
				t.Errorf("more than two findings for one fault:\n%s", formatted(fs))
			case strings.Contains(p.fault, "DESC") && !strings.Contains(fs[at].Where, "DESC"):
				t.Errorf("the index has no direction:\n%s", formatted(fs))
			}
		})
	}
}

// load runs the app with a fault, logged, and diagnoses it.
func load(ctx context.Context, t *testing.T, srv *factstest.Server, fault, ddl, log string) []iikanji.Finding {
	db, err := srv.Open(ctx, "site")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer func() { _, _ = db.ExecContext(ctx, "SET GLOBAL innodb_flush_log_at_trx_commit = 0") }()
	s := &site{ctx: ctx, t: t, db: db, fault: fault}
	s.exec(siteSchema)
	if ddl != "" {
		s.exec(ddl)
	}
	s.exec("ANALYZE TABLE device, state, setting")
	asker, err := facts.Connect(ctx, db, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	before, err := asker.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s.exec("SET GLOBAL slow_query_log_file = '" + log + "'; SET GLOBAL long_query_time = 0; SET GLOBAL log_slow_verbosity = 'query_plan'; SET GLOBAL slow_query_log = 1")
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName, c.InterpolateParams = "root", "unix", srv.Socket, "site", fault != "churn"
	pool, err := sql.Open("mysql", c.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(8)
	pool.SetMaxIdleConns(8)
	s.db = pool
	s.run(asker)
	s.seen = append(s.seen, facts.ConnectionFact("app", "database", fact.Connections{Unix: pool.Stats().OpenConnections}))
	s.db = db
	s.exec("SET GLOBAL slow_query_log = 0; FLUSH SLOW LOGS")
	after, err := asker.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fs, err := findAll(s.observe(log, before, after, asker))
	if err != nil {
		t.Fatal(err)
	}
	return fs
}
