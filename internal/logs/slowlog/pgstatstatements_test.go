package slowlog

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver postgres

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestPGStatCSV: columns of both forms of pg_stat_statements are read, and what it does not
// know is not 0.
func TestPGStatCSV(t *testing.T) {
	for _, text := range []string{
		"userid,dbid,queryid,query,calls,total_exec_time,min_exec_time,max_exec_time,mean_exec_time,stddev_exec_time,rows\n" +
			"10,5,-77,\"SELECT a, \"\"B\"\"\nFROM t WHERE id = $1\",4,10.5,1,5,2.625,1.5,8\n10,5,78,UPDATE t SET a = $1,2,3,1,2,1.5,0.5,6\n",
		"query\tcalls\ttotal_time\trows\tmin_time\tmax_time\nSELECT a, \"B\" FROM t WHERE id = $1\t4\t10.5\t8\t1\t5\nUPDATE t SET a = $1\t2\t3\t6\t1\t2\n",
	} {
		p := mustRead(t, text)
		if p.Intake.Format != formatPGStat || p.Intake.Lines != 2 || p.Intake.Bad != 0 || len(p.Rows) != 2 {
			t.Fatalf("%+v", p)
		}
		r := p.Rows[0]
		if r.Count != 4 || r.Total != 10500*time.Microsecond || r.Max != 5*time.Millisecond || r.Query.Sent != 8 || !r.Query.NoExamined {
			t.Errorf("%+v %+v", r, r.Query)
		}
		if u := p.Rows[1]; u.Key != "update t set a = ?" || u.Query.Affected != 6 || u.Query.Sent != 0 {
			t.Errorf("%+v %+v", u, u.Query)
		}
	}
}

// TestRealPGStatements compares pg_stat_statements of a real server, live and as CSV, with
// what was run.
func TestRealPGStatements(t *testing.T) {
	tier.Slow(t)
	socket := servertest.Postgres(t, func(string) []string {
		return []string{"-c", "shared_preload_libraries=pg_stat_statements"}
	})
	psql := exec.Command("psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", socket, "-U", "postgres")
	file := filepath.Join(t.TempDir(), "statements.csv")
	psql.Stdin = strings.NewReader(`create extension pg_stat_statements;
create table t (id int primary key, a text);
insert into t select n, 'x' from generate_series(1, 100) n;
select a from t where id = 1; select a from t where id = 2; select a from t where id = 3;
select * from t where id <= 40;
update t set a = 'y' where id <= 7;
select pg_sleep(0.05);
\copy (select * from pg_stat_statements) to '` + file + `' csv header
`)
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	db, err := sql.Open("postgres", "host="+socket+" user=postgres dbname=postgres sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	live, err := ReadPGStatements(t.Context(), db, "pg", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	in, err := lines.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	saved, err := Read(t.Context(), []*lines.Input{in}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*iikanji.Profile{live, saved} {
		if r := row(t, p, "select a from t where id = ?"); r.Count != 3 || r.Query.Sent != 3 || r.Total <= 0 {
			t.Errorf("%s: %+v %+v", p.Intake.Format, r, r.Query)
		}
		if r := row(t, p, "select * from t where id <= ?"); r.Count != 1 || r.Query.Sent != 40 {
			t.Errorf("%+v %+v", r, r.Query)
		}
		if r := row(t, p, "update t set a = ? where id <= ?"); r.Query.Affected != 7 {
			t.Errorf("%+v %+v", r, r.Query)
		}
		if r := row(t, p, "select pg_sleep(?)"); r.Total < 50*time.Millisecond || r.Total > 10*time.Second || r.Max != r.Total {
			t.Errorf("%+v", r)
		}
	}
	filteredDigests(t, func(w Where) (*iikanji.Profile, error) {
		return ReadPGStatements(t.Context(), db, "pg", Options{Where: w})
	})
	if r := row(t, live, "select a from t where id = ?"); r.Query.DB != "postgres" || r.Query.Users[0].Name != "postgres" {
		t.Errorf("%+v", r.Query)
	}
}

// TestUnknownIsNotZero: rows that a log of PostgreSQL does not count are absent in JSON, and
// a log without statements has an empty list of rows.
func TestUnknownIsNotZero(t *testing.T) {
	p := mustRead(t, "2026-11-19 04:04:05.000 UTC [7] LOG:  duration: 12.500 ms  statement: SELECT 1 FROM a\n")
	text, err := json.Marshal(p)
	if err != nil || strings.Contains(string(text), `"rows_sent":`) || strings.Contains(string(text), `"rows_examined":`) || strings.Contains(string(text), `"lock_ns":`) {
		t.Errorf("%s, %v", text, err)
	}
	var again iikanji.Profile
	if err := json.Unmarshal(text, &again); err != nil || !again.Rows[0].Query.NoSent || again.Rows[0].Query.Digest != p.Rows[0].Query.Digest {
		t.Errorf("read again: %+v, %v", again.Rows, err)
	}
	header := mustRead(t, "/usr/sbin/mariadbd, Version: 10.11.6-MariaDB-0 (Debian 12). started with:\nTcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\nTime\t\t    Id Command\tArgument\n")
	if text, err := json.Marshal(header); err != nil || !strings.Contains(string(text), `"rows":[]`) {
		t.Errorf("a header only: %s, %v", text, err)
	}
	counted, err := json.Marshal(mustRead(t, entry(1, 1000, "select 1 from t")))
	if err != nil || !strings.Contains(string(counted), `"rows_sent":`) || !strings.Contains(string(counted), `"rows_examined":`) || !strings.Contains(string(counted), `"lock_ns":`) {
		t.Errorf("a slow log has counts: %s, %v", counted, err)
	}
}

// filteredDigests: the filter applies to digests, and one that cannot is an error.
func filteredDigests(t *testing.T, read func(Where) (*iikanji.Profile, error)) {
	t.Helper()
	for text, want := range map[string]int{"db=postgres and statement~^update": 1, "db=other": 0, "user=postgres and statement contains 'from t'": 2, "time>1s": -1} {
		w, err := ParseWhere(text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		p, err := read(w)
		if want < 0 {
			if err == nil || !strings.Contains(err.Error(), "single executions") {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Rows) != want || p.Intake.Left != p.Intake.Lines-int64(want) {
			t.Errorf("%s: %d rows, %d left out of %d", text, len(p.Rows), p.Intake.Left, p.Intake.Lines)
		}
	}
}
