package slowlog

import (
	"context"
	"database/sql"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// startMariaDB starts a private server with all statements in its slow log and its
// general log, and with performance_schema. It stops when the test ends.
func startMariaDB(t *testing.T, verbosity string) (db *sql.DB, log string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "iikanji-slowlog-") // short: a socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	data, sock := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	log = filepath.Join(dir, "slow.log")
	user := "--user=" + os.Getenv("USER")
	if os.Getuid() == 0 {
		user = "--user=root"
	}
	if err := factstest.DataFolder(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("mariadbd", "--no-defaults", user, "--datadir="+data, "--socket="+sock, "--skip-networking", "--pid-file="+filepath.Join(dir, "pid"),
		"--slow-query-log=1", "--slow-query-log-file="+log, "--long-query-time=0", "--log-slow-filter=", "--log-slow-disabled-statements=", "--log-slow-verbosity="+verbosity,
		"--general-log=1", "--general-log-file="+log+".general", "--performance-schema=ON", "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	conf := mysql.NewConfig()
	conf.User, conf.Net, conf.Addr = "root", "unix", sock
	conf.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(conf)
	if err != nil {
		t.Fatal(err)
	}
	db = sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
		if _, err := net.Dial("unix", sock); err == nil && db.Ping() == nil {
			return db, log
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("mariadbd is not ready after 3 minutes")
	return nil, ""
}

// TestRealMariaDB reads the logs of a real server: prepared statements,
// transactions, strings that look like entries, binary data, warnings, routines.
// Its performance_schema and its general log have the same digests.
func TestRealMariaDB(t *testing.T) {
	tier.Slow(t)
	db, log := startMariaDB(t, "innodb,query_plan,explain,engine,warnings")
	ctx := context.Background()
	c, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	run := func(q string, args ...any) {
		t.Helper()
		rows, err := c.QueryContext(ctx, q, args...)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		for rows.Next() {
		}
		rows.Close()
	}
	run("create database lab")
	run("create database if not exists lab") // a warning
	run("use lab")
	run("create table T1 (id int primary key, a varchar(500), b blob)")
	run("insert into T1 values (1,'x;#y\n# Time: 261121  5:24:10\n# User@Host: a[b] @ c []\n','z'),(2,?,?)", "it's", []byte{0, 1, 255, 254})
	for i := range 7 {
		run("select a from T1 where id=?", i)
	}
	for range 3 {
		run("select count(*)\n\tfrom T1\n\twhere b = 'same' -- ;\n")
	}
	run("begin")
	run("update T1 set a='q' where id=1")
	run("commit /* tag 5 */")
	run("set autocommit=0")
	run("update T1 set a='r' where id=1")
	run("rollback")
	run("create procedure p() begin select * from T1 order by a; end")
	run("call p()")
	digests, err := ReadDigests(ctx, db, "live", Options{})
	if err != nil {
		t.Fatal(err)
	}
	run("set global slow_query_log=0") // closes the log, so that no entry is half written
	c.Close()
	in, err := lines.Open(log, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := Read(ctx, []*lines.Input{in}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Intake.Bad != 0 || p.Intake.Format != "MariaDB slow log" {
		t.Errorf("intake %+v", p.Intake)
	}
	r := row(t, p, "select a from t1 where id = ?")
	if r.Count != 7 || r.Query.DB != "lab" || strings.Join(r.Query.Tables, ",") != "T1" {
		t.Errorf("%+v %+v", r, r.Query)
	}
	if got := repeatOf(t, p, r.Key); got.Runs != 1 || got.Longest != 7 {
		t.Errorf("%+v", got)
	}
	if got := repeatOf(t, p, "select count(*) from t1 where b = ?"); got.Same != 2 {
		t.Errorf("%+v", got)
	}
	if r := row(t, p, "select count(*) from t1 where b = ?"); r.Query.FullScan != 3 {
		t.Errorf("%d full scans", r.Query.FullScan)
	}
	row(t, p, "insert into t1 values (?+)")
	shapes := map[string]bool{}
	for _, x := range p.Transactions {
		shapes[x.Shape] = true
	}
	if !shapes["begin; update T1; commit /* tag ? */"] || !shapes["update T1; rollback"] {
		t.Errorf("shapes %v", shapes)
	}
	general, err := lines.Open(log+".general", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer general.Close()
	g, err := Read(ctx, []*lines.Input{general}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Intake.Bad != 0 || g.Intake.Format != formatGeneral {
		t.Errorf("intake of the general log %+v", g.Intake)
	}
	for _, key := range []string{"select count(*) from t1 where b = ?", "select a from t1 where id = ?", "update t1 set a = ? where id = ?", "begin", "rollback", "commit /* tag ? */"} {
		r, logged := row(t, g, key), row(t, p, key)
		if r.Count != logged.Count || r.Query.DB != logged.Query.DB || r.Query.Users[0] != logged.Query.Users[0] {
			t.Errorf("%s: the general log has %d of %s, the slow log %d of %s", key, r.Count, r.Query.DB, logged.Count, logged.Query.DB)
		}
	}
	// MariaDB keeps no digests of prepared statements.
	for _, key := range []string{"select count(*) from t1 where b = ?", "update t1 set a = ? where id = ?", "begin", "rollback"} {
		live, logged := row(t, digests, key), row(t, p, key)
		if live.Count != logged.Count || live.Query.Digest != logged.Query.Digest {
			t.Errorf("%s: performance_schema counts %d of %s, the log %d of %s", key, live.Count, live.Query.Digest, logged.Count, logged.Query.Digest)
		}
	}
}
