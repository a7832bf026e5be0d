package diagnose_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/diagnose"
	"github.com/iikanji/iikanji/internal/facts"
	"github.com/iikanji/iikanji/internal/facts/factstest"
	"github.com/iikanji/iikanji/internal/lines"
	"github.com/iikanji/iikanji/internal/slowlog"
)

// A site is a small app over a real database, with faults that can be planted.
type site struct {
	ctx      context.Context
	t        *testing.T
	db       *sql.DB
	requests int64
	fault    string
}

const siteSchema = `
CREATE TABLE device (id INT PRIMARY KEY, uuid CHAR(36) NOT NULL UNIQUE, owner INT NOT NULL, name VARCHAR(100) NOT NULL, icon MEDIUMBLOB NOT NULL, KEY o (owner));
CREATE TABLE state (id BIGINT AUTO_INCREMENT PRIMARY KEY, uuid CHAR(36) NOT NULL, ts INT NOT NULL, level INT NOT NULL, message VARCHAR(255) NOT NULL, KEY newest (uuid, ts));
CREATE TABLE setting (name VARCHAR(50) PRIMARY KEY, value VARCHAR(255) NOT NULL);
INSERT INTO device SELECT seq, CONCAT('device-', LPAD(seq, 29, '0')), seq MOD 10, CONCAT('d', seq), REPEAT('i', 20000) FROM seq_1_to_100;
INSERT INTO state (uuid, ts, level, message) SELECT CONCAT('device-', LPAD(1 + seq MOD 100, 29, '0')), seq, seq MOD 4, REPEAT('m', 80) FROM seq_1_to_20000;
INSERT INTO setting VALUES ('a', '1'), ('b', '2');`

// plants are the faults, each with what it changes before the load and the
// code that has to be first or second.
var plants = []struct {
	fault, ddl string
	code       iikanji.Code
}{
	{"none", "", ""},
	{"missing index", "DROP INDEX newest ON state", "DB101"},
	{"wrong column", "DROP INDEX newest ON state; CREATE INDEX newest ON state (uuid, message)", "DB102"},
	{"redundant index", "CREATE INDEX u ON state (uuid); CREATE INDEX v ON state (uuid, ts, level)", "DB103"},
	{"hidden column", "", "DB105"},
	{"history", "", "DB110"},
	{"blob", "", "DB111"},
	{"n+1", "", "DB113"},
	{"refetch", "", "DB114"},
	{"churn", "", "DB115"},
	{"single inserts", "", "DB119"},
}

func (s *site) exec(q string, args ...any) {
	if _, err := s.db.ExecContext(s.ctx, q, args...); err != nil {
		s.t.Fatalf("%s: %v", q, err)
	}
}

// all runs a query and throws its rows away.
func (s *site) all(q string, args ...any) {
	rows, err := s.db.QueryContext(s.ctx, q, args...)
	if err != nil {
		s.t.Fatalf("%s: %v", q, err)
	}
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	rows.Close()
}

func uuid(i int) string { return fmt.Sprintf("device-%029d", 1+i%100) }

// newest is GET /device/:uuid.
func (s *site) newest(i int) {
	s.requests++
	if s.fault == "refetch" {
		for range 6 {
			s.all("SELECT value FROM setting WHERE name = ?", "a")
		}
	}
	switch s.fault {
	case "history":
		s.all("SELECT id, ts, level FROM state WHERE uuid = ? ORDER BY ts DESC", uuid(i))
	case "hidden column":
		s.all("SELECT id, ts, level FROM state WHERE CONCAT('x', uuid) = ? ORDER BY ts DESC LIMIT 1", "x"+uuid(i))
	default:
		s.all("SELECT id, ts, level FROM state WHERE uuid = ? ORDER BY ts DESC LIMIT 1", uuid(i))
	}
}

// list is GET /owner/:id.
func (s *site) list(i int) {
	s.requests++
	if s.fault == "blob" {
		s.all("SELECT * FROM device WHERE owner = ?", i%10)
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
	s.requests++
	tx, err := s.db.BeginTx(s.ctx, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	row := fmt.Sprintf("('%s', %d, 1, 'new')", uuid(i), 1_000_000+i)
	insert := "INSERT INTO state (uuid, ts, level, message) VALUES "
	n, text := 1, insert+strings.Repeat(row+", ", 4)+row
	if s.fault == "single inserts" {
		n, text = 5, insert+row
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

// observe reads the log of the load and the facts, as a run does.
func (s *site) observe(log string, before, after map[string]string, srv *facts.Server) diagnose.Input {
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
	fs = append(fs, facts.StatusFacts("database", before, after)...)
	schema, err := diagnose.ReadSchema(fs)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, q := range schema.Questions(diagnose.WorkloadOf([]iikanji.Profile{*p})) {
		i := slices.IndexFunc(tables, func(t facts.SizedTable) bool { return t.Name == q.Table })
		if err := srv.Distinct(s.ctx, &tables[i], q.Columns); err != nil {
			s.t.Fatal(err)
		}
		shares, err := srv.Selectivity(s.ctx, tables[i], q.Predicates)
		if err != nil {
			s.t.Fatal(err)
		}
		fs = append(append(fs, facts.TableFacts("database", tables[i])...), facts.SelectivityFacts("database", tables[i], shares)...)
	}
	return diagnose.Input{Profiles: []iikanji.Profile{*p}, Facts: fs, Run: &iikanji.Run{Steps: []iikanji.StepStat{{Count: s.requests}}}}
}

// TestPlantedFaults plants one fault at a time into an app that has none, runs
// it against a real MariaDB whose slow log is read as a run's is, and wants
// the fault first or second, and nothing at all from the clean app.
func TestPlantedFaults(t *testing.T) {
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
				t.Errorf("a clean app has findings:\n%s", told(fs))
			case p.code != "" && (at < 0 || at > 1):
				t.Errorf("%s is not first or second:\n%s", p.code, told(fs))
			case len(fs) > 2:
				t.Errorf("more than two findings for one fault:\n%s", told(fs))
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
	pool.SetMaxOpenConns(4)
	s.db = pool
	for i := range 400 {
		s.newest(i)
		s.newest(i + 7)
		s.list(i)
		s.post(i)
	}
	s.db = db
	s.exec("SET GLOBAL slow_query_log = 0; FLUSH SLOW LOGS")
	after, err := asker.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fs, err := diagnose.All(s.observe(log, before, after, asker))
	if err != nil {
		t.Fatal(err)
	}
	return fs
}
