package slowlog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/filter"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// readText reads a log in memory.
func readText(t testing.TB, text string, opt Options) (*iikanji.Profile, error) {
	t.Helper()
	return Read(context.Background(), []*lines.Input{lines.Bytes("slow.log", []byte(text))}, opt)
}

func mustRead(t testing.TB, text string) *iikanji.Profile {
	t.Helper()
	p, err := readText(t, text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// row finds the row of a fingerprint.
func row(t testing.TB, p *iikanji.Profile, key string) *iikanji.Row {
	t.Helper()
	for i := range p.Rows {
		if p.Rows[i].Key == key {
			return &p.Rows[i]
		}
	}
	for _, r := range p.Rows {
		t.Logf("there is %d × %s", r.Count, r.Key)
	}
	t.Fatalf("no row %q in %d rows", key, len(p.Rows))
	return nil
}

// TestHeaders: the entries of each server give the same facts.
func TestHeaders(t *testing.T) {
	const sql = "select a from t where id=7;\n"
	for name, c := range map[string]struct {
		log     string
		at      string // of the entry
		host    string
		db      string
		sent    int64
		bytes   iikanji.Bytes
		plan    string
		noTxn   bool
		wantErr int64
	}{
		"MariaDB 10.11": {log: `# Time: 261121  5:24:10
# User@Host: isu[isu] @ localhost [127.0.0.1]
# Thread_id: 6  Schema: lab  QC_hit: No
# Query_time: 0.001500  Lock_time: 0.000250  Rows_sent: 2  Rows_examined: 30
# Rows_affected: 0  Bytes_sent: 99
# Pages_accessed: 1  Pages_read: 0  Pages_prefetched: 0  Pages_updated: 0  Old_rows_read: 0
# Pages_read_time: 0.0000  Engine_time: 0.0257
# Full_scan: Yes  Full_join: No  Tmp_table: Yes  Tmp_table_on_disk: No
# Filesort: Yes  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: No
#
# explain: id	select_type	table	type
# explain: 1	SIMPLE	t	ALL
#
# Warnings
# Note 1003 something
SET timestamp=1795238650;
`, at: "2026-11-21T05:24:10Z", host: "localhost", db: "lab", sent: 2, bytes: 99, plan: "SFT"},
		"MariaDB without a schema": {log: "# User@Host: isu[isu] @  [10.0.0.9]\n# Thread_id: 6  Schema:   QC_hit: No\n# Query_time: 0.001500  Lock_time: 0.000250  Rows_sent: 2  Rows_examined: 30\nSET timestamp=1795238650;\n",
			at: "2026-11-21T05:24:10Z", host: "10.0.0.9", sent: 2},
		"MySQL 5.7": {log: "# Time: 2026-11-21T05:24:10.123456Z\n# User@Host: isu[isu] @ localhost []  Id:     6\n# Query_time: 0.001500  Lock_time: 0.000250 Rows_sent: 2  Rows_examined: 30\nuse lab;\nSET timestamp=1795238650;\n",
			at: "2026-11-21T05:24:10.123456Z", host: "localhost", db: "lab", sent: 2},
		"MySQL 8 with an offset": {log: "# Time: 2026-11-21T14:24:10.000001+09:00\n# User@Host: isu[isu] @ localhost [127.0.0.1]  Id:    6\n# Query_time: 0.001500  Lock_time: 0.000250 Rows_sent: 2  Rows_examined: 30\nSET timestamp=1795238650;\n",
			at: "2026-11-21T05:24:10.000001Z", host: "localhost", sent: 2},
		"MySQL 8.4, 9 with log_slow_extra": {log: "# Time: 2026-11-21T05:24:10.500000Z\n# User@Host: isu[isu] @ localhost [127.0.0.1]  Id:    6\n" +
			"# Query_time: 0.001500  Lock_time: 0.000250 Rows_sent: 2  Rows_examined: 30 Thread_id: 6 Errno: 1317 Killed: 0 Bytes_received: 50 Bytes_sent: 99 Read_first: 1 Read_last: 0 Read_key: 1 Read_next: 0 Read_prev: 0 Read_rnd: 0 Read_rnd_next: 31 Sort_merge_passes: 0 Sort_range_count: 0 Sort_rows: 2 Sort_scan_count: 1 Created_tmp_disk_tables: 1 Created_tmp_tables: 1 Start: 2026-11-21T05:24:10.498500Z End: 2026-11-21T05:24:10.500000Z\nSET timestamp=1795238650;\n",
			at: "2026-11-21T05:24:10.5Z", host: "localhost", sent: 2, bytes: 99, plan: "SFTD", wantErr: 1},
		"Percona Server 5.7, 8": {log: "# Time: 2026-11-21T05:24:10.500000Z\n# User@Host: isu[isu] @ localhost []  Id:     6\n# Schema: lab  Last_errno: 1062  Killed: 0\n" +
			"# Query_time: 0.001500  Lock_time: 0.000250  Rows_sent: 2  Rows_examined: 30  Rows_affected: 0\n# Bytes_sent: 99  Tmp_tables: 1  Tmp_disk_tables: 1  Tmp_table_sizes: 16384\n# InnoDB_trx_id: 1A2B\n" +
			"# Full_scan: Yes  Full_join: Yes  Tmp_table: Yes  Tmp_table_on_disk: Yes\n# Filesort: No  Filesort_on_disk: No  Merge_passes: 0\n#   InnoDB_IO_r_ops: 3  InnoDB_IO_r_bytes: 49152  InnoDB_IO_r_wait: 0.000100\n" +
			"#   InnoDB_rec_lock_wait: 0.000000  InnoDB_queue_wait: 0.000000\n#   InnoDB_pages_distinct: 9\n# Log_slow_rate_type: query  Log_slow_rate_limit: 10\nuse lab;\nSET timestamp=1795238650;\n",
			at: "2026-11-21T05:24:10.5Z", host: "localhost", db: "lab", sent: 2, bytes: 99, plan: "SJTD", wantErr: 1},
		"Percona Server 5.1, 5.5": {log: "# Time: 261121  5:24:10.058915\n# User@Host: isu[isu] @ localhost []\n# Thread_id: 6  Schema: lab  Last_errno: 0  Killed: 0\n# Query_time: 0.001500  Lock_time: 0.000250  Rows_sent: 2  Rows_examined: 30  Rows_affected: 0  Rows_read: 30\n# Bytes_sent: 99\nSET timestamp=1795238650;\n",
			at: "2026-11-21T05:24:10Z", host: "localhost", db: "lab", sent: 2, bytes: 99},
		"with insert ids": {log: "# User@Host: isu[isu] @ localhost []  Id: 6\n# Query_time: 0.001500  Lock_time: 0.000250 Rows_sent: 2  Rows_examined: 30\nuse `lab`;\nSET last_insert_id=4,insert_id=5,timestamp=1795238650;\n",
			at: "2026-11-21T05:24:10Z", host: "localhost", db: "lab", sent: 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustRead(t, c.log+sql)
			if p.Intake.Lines != 1 || p.Intake.Bad != 0 {
				t.Fatalf("intake %+v", p.Intake)
			}
			r := row(t, p, "select a from t where id = ?")
			q := r.Query
			if r.Total != 1500*time.Microsecond || q.Lock != 250*time.Microsecond || q.Sent != c.sent || q.Examined != 30 || q.BytesSent != c.bytes || q.DB != c.db || r.Errors != c.wantErr {
				t.Errorf("row %+v %+v", r, q)
			}
			if got := p.First.Format(time.RFC3339Nano); got != c.at {
				t.Errorf("at %s, want %s", got, c.at)
			}
			if len(q.Users) != 1 || q.Users[0].Name != "isu" || len(q.Hosts) != 1 || q.Hosts[0].Name != c.host {
				t.Errorf("users %v hosts %v", q.Users, q.Hosts)
			}
			plan := ""
			for _, l := range []struct {
				n int64
				s string
			}{{q.FullScan, "S"}, {q.FullJoin, "J"}, {q.Filesort, "F"}, {q.TmpTable, "T"}, {q.TmpDisk, "D"}} {
				if l.n > 0 {
					plan += l.s
				}
			}
			if plan != c.plan {
				t.Errorf("plan %q, want %q", plan, c.plan)
			}
			if r.Example.Text != "select a from t where id=7" || r.Example.Line == 0 {
				t.Errorf("example %+v", r.Example)
			}
		})
	}
}

// entry is one entry in the form of MariaDB; micros is its time.
func entry(thread, micros int, sql string) string {
	return fmt.Sprintf("# User@Host: isu[isu] @ localhost []\n# Thread_id: %d  Schema: lab  QC_hit: No\n# Query_time: %d.%06d  Lock_time: 0.000001  Rows_sent: 1  Rows_examined: 3\n# Rows_affected: 0  Bytes_sent: 11\nSET timestamp=1795238650;\n%s;\n",
		thread, micros/1e6, micros%1e6, sql)
}

const bannerText = "mariadbd, Version: 10.11.19-MariaDB (Debian 12). started with:\nTcp port: 0  Unix socket: /run/s\nTime\t\t    Id Command\tArgument\n"

// TestStatements: the contents of a statement do not end its entry.
func TestStatements(t *testing.T) {
	log := bannerText + "# Time: 261121  5:24:10\n" +
		entry(1, 10, "insert into t values (1,'x;#y\n# Time: 12\n# User@Host: a[b] @ c []\n# nothing\n;\n')") +
		entry(1, 20, "select 1\n  from t\n  where a = '\xff\x00\xfe';\n  -- and so on") +
		bannerText +
		entry(2, 30, "# administrator command: Quit") +
		"# Time: 261121  5:24:12\n" +
		entry(2, 40, "select `a;b` from `# User@Host: `")
	p := mustRead(t, log)
	if p.Intake.Lines != 4 || p.Intake.Bad != 0 {
		t.Fatalf("intake %+v", p.Intake)
	}
	row(t, p, "insert into t values (?+)")
	if r := row(t, p, "select ? from t where a = ?"); !strings.Contains(r.Example.Text, "\uFFFD") {
		t.Errorf("example %q", r.Example.Text)
	}
	row(t, p, "administrator command: Quit")
	row(t, p, "select `a;b` from `# user@host: `")
	if p.Intake.Bytes != iikanji.Bytes(len(log)) {
		t.Errorf("%d bytes of %d", p.Intake.Bytes, len(log))
	}
}

// TestHeadersInARow: headers of server starts count as no statement and take none away, however
// many are in a row, at the head, between two entries or at the end.
func TestHeadersInARow(t *testing.T) {
	for n := range 4 {
		headers := strings.Repeat(bannerText, n)
		log := headers + entry(1, 10, "select 1 from t") + headers + "# Time: 261121  5:24:10\n" + headers + entry(2, 20, "select 2 from u") + headers
		p := mustRead(t, log)
		if p.Intake.Lines != 2 || p.Intake.Bad != 0 {
			t.Errorf("%d headers in a row: intake %+v", n, p.Intake)
		}
		row(t, p, "select ? from t")
		row(t, p, "select ? from u")
	}
}

// TestCutOff: a log may begin and end inside an entry; that is said and counts as nothing.
func TestCutOff(t *testing.T) {
	whole := entry(1, 10, "select 1 from t") + entry(1, 20, "select 2 from t where a = 'x'")
	for cut := len(entry(1, 10, "select 1 from t")) + 1; cut < len(whole)-1; cut++ {
		p, err := readText(t, whole[:cut], Options{})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if p.Intake.Lines != 1 || p.Intake.Bad != 1 {
			t.Fatalf("cut at %d: %d entries, %d bad", cut, p.Intake.Lines, p.Intake.Bad)
		}
	}
	p, err := readText(t, whole[30:]+entry(1, 1, "select 3 from u"), Options{})
	if err != nil || p.Intake.Lines != 2 || p.Intake.Bad != 1 || p.Intake.BadLines[0].Why != whyLead {
		t.Errorf("%v %+v", err, p)
	}
}

// TestBadInput: a file that is not a log, or mostly unreadable, gives a clear error.
func TestBadInput(t *testing.T) {
	many := strings.Repeat(entry(1, 10, "select 1"), 10)
	for name, c := range map[string]struct{ log, want string }{
		"empty":  {"", "is empty"},
		"blank":  {"\n \n\r\n", "is empty"},
		"UTF-16": {"\xff\xfe#\x00 \x00T\x00i\x00m\x00e\x00", "is in UTF-16"},
		"text":   {"hello\nworld\n", "is not a statement log"},
		"binary": {string(bytes.Repeat([]byte{0, 255, 10, 35}, 1000)), "is not a statement log"},
		"access": {"127.0.0.1 - - [21/Nov/2026:05:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n", "is not a statement log"},
		"broken": {many + strings.ReplaceAll(entry(1, 1, "select 1"), "Query_time: ", "Query_tim: ") + many, "1 of 21 entries could not be read"},
	} {
		if _, err := readText(t, c.log, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := readText(t, many, Options{Since: filter.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))}); err == nil || !strings.Contains(err.Error(), "all 10 entries are left out") {
		t.Errorf("window: %v", err)
	}
}

// randomLog is a log of entries of many kinds on many threads.
func randomLog(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString(bannerText)
	kinds := []string{"begin", "commit", "commit /* tag 1 */", "rollback", "set autocommit=0", "set autocommit=1", "select a from t where id=%d", "select a from t where id=1",
		"insert into t values (%d,'x\n# Time: 1\n'),(2,'y')", "update u set a=%d", "# administrator command: Prepare", "# administrator command: Close stmt", "# administrator command: Quit", "select b from v%d", "cut off %d"}
	for i := range n {
		k := kinds[r.IntN(len(kinds))]
		if strings.Contains(k, "%d") {
			k = fmt.Sprintf(k, r.IntN(6))
		}
		thread := r.IntN(5)
		switch r.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "# Time: 2026-11-21T05:%02d:%02d.000000Z\n", i/60%60, i%60)
		case 1:
			b.WriteString("# Time: 261121  5:24:10\n")
		case 2:
			if r.IntN(6) == 0 {
				b.WriteString(bannerText)
			}
		}
		b.WriteString(entry(thread, 1+r.IntN(1000), k))
	}
	return b.String()
}

// TestSplittingChangesNothing: the size of blocks, the number of workers and
// reading from a stream do not change the result.
func TestSplittingChangesNothing(t *testing.T) {
	tier.Slow(t)
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 6 {
		log := randomLog(r, 400)
		want := ""
		for _, o := range []Options{{Workers: 1, BlockSize: 1 << 20}, {Workers: 1, BlockSize: 300}, {Workers: 4, BlockSize: 700}, {Workers: 3, BlockSize: 64}, {Workers: 7, BlockSize: 5000}} {
			for _, stream := range []bool{false, true} {
				in := lines.Bytes("slow.log", []byte(log))
				if stream {
					var err error
					if in, err = lines.Stream("slow.log", strings.NewReader(log)); err != nil {
						t.Fatal(err)
					}
				}
				o.PerSecond = true
				p, err := Read(context.Background(), []*lines.Input{in}, o)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range p.Rows {
					if r.PerSecond == nil || len(r.PerSecond.Counts) == 0 {
						t.Fatalf("%s has no counts by second", r.Key)
					}
				}
				got, err := json.Marshal(p)
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					want = string(got)
				}
				if string(got) != want {
					t.Fatalf("round %d, %+v, stream %v: another result\n%s\n%s", round, o, stream, want, got)
				}
			}
		}
	}
}

// FuzzParse: any bytes are read without a panic, and every byte is counted.
func FuzzParse(f *testing.F) {
	f.Add([]byte(entry(1, 10, "select 1") + bannerText + entry(2, 20, "select 'x")))
	f.Add([]byte("# User@Host: \n# Query_time: 1\nuse x;\nSET timestamp=1;\n;\n"))
	f.Add([]byte("# Time: 2026-11-21T14:24:10.000001+09:00\n# User@Host: a[b] @ c []  Id: 4\n# Query_time: 9999999999999999999.1\nselect;\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		a, errA := Read(context.Background(), []*lines.Input{lines.Bytes("a", log)}, Options{Workers: 1})
		b, errB := Read(context.Background(), []*lines.Input{lines.Bytes("a", log)}, Options{Workers: 2, BlockSize: 50})
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%v, %v", errA, errB)
		}
		if errA != nil {
			return
		}
		if a.Intake.Bytes != iikanji.Bytes(len(log)) {
			t.Errorf("%d bytes of %d", a.Intake.Bytes, len(log))
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if !bytes.Equal(x, y) {
			t.Errorf("blocks change the result:\n%s\n%s", x, y)
		}
	})
}
