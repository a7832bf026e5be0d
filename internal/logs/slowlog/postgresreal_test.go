package slowlog

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// startPostgres boots a private server that logs all durations in three formats.
// It returns the folder of its socket and of its logs, pg.log, pg.csv and pg.json.
func startPostgres(t *testing.T) (socket, logs string) {
	t.Helper()
	socket = servertest.Postgres(t, func(folder string) []string {
		return []string{"-c", "log_min_duration_statement=0",
			"-c", "logging_collector=on", "-c", "log_destination=stderr,csvlog,jsonlog", "-c", "log_directory=" + filepath.Join(folder, "log"),
			"-c", "log_filename=pg.log", "-c", "log_file_mode=0644", "-c", "log_line_prefix=%m [%p] %q%u@%d "}
	})
	return socket, filepath.Join(socket, "log")
}

// TestRealPostgres reads the logs of a real server in its three formats.
func TestRealPostgres(t *testing.T) {
	tier.Slow(t)
	socket, logs := startPostgres(t)
	psql := exec.Command("psql", "-q", "-h", socket, "-U", "postgres")
	psql.Stdin = strings.NewReader(`create table "T1" (id int primary key, a text);
insert into "T1" values (1,'it''s
LOG:  two lines; "quoted"'),(2,E'x\\'';');
prepare p as select a from "T1" where id = $1;
execute p(1); execute p(2); execute p(3);
begin; update "T1" set a = 'q' where id = 1; commit;
select nonsense;
select $$dollar
quoted$$ from "T1" -- comment
;
set log_min_duration_statement = -1; set log_duration = on; set log_statement = 'all';
select id from "T1";
select id from "T1";
`)
	if out, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	script := filepath.Join(t.TempDir(), "s.sql")
	if err := os.WriteFile(script, []byte("select a from \"T1\" where id = :id\n;"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("pgbench", "-h", socket, "-U", "postgres", "-n", "-M", "extended", "-f", script, "-D", "id=1", "-t", "4", "postgres").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var first *iikanji.Profile
	for name, format := range map[string]string{"pg.log": formatPostgres, "pg.csv": formatCSVLog, "pg.json": formatJSONLog} {
		var p *iikanji.Profile
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); { // the server's collector writes a little later
			in, err := lines.Open(filepath.Join(logs, name), nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err = Read(t.Context(), []*lines.Input{in}, Options{})
			in.Close()
			counted := func(r iikanji.Row) bool { return r.Key == "select a from t1 where id = ?" && r.Count == 7 }
			if err == nil && slices.ContainsFunc(p.Rows, counted) {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if p.Intake.Format != format || p.Intake.Bad != 0 || !hasNote(p.Notes, "1 statements failed") {
			t.Errorf("%s: %+v %q", name, p.Intake, p.Notes)
		}
		r := row(t, p, "select a from t1 where id = ?")
		if r.Count != 7 || r.Total == 0 || r.Query.Users[0].Name != "postgres" || r.Query.DB != "postgres" || r.Query.Prepares != 4 {
			t.Errorf("%s: %+v %+v", name, r, r.Query)
		}
		row(t, p, "insert into t1 values (?+)")
		row(t, p, "select ? from t1")
		if r := row(t, p, "select id from t1"); r.Count != 2 || r.Total == 0 {
			t.Errorf("%s: durations on lines of their own: %+v", name, r)
		}
		if len(p.Transactions) != 1 || p.Transactions[0].Shape != "begin; update T1; commit" {
			t.Errorf("%s: %+v", name, p.Transactions)
		}
		if first == nil {
			first = p
		}
		for _, r := range first.Rows {
			if o := row(t, p, r.Key); o.Count != r.Count || o.Total != r.Total {
				t.Errorf("%s: %s: %d in %v, another format has %d in %v", name, r.Key, o.Count, o.Total, r.Count, r.Total)
			}
		}
	}
}
