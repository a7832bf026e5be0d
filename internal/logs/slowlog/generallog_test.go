package slowlog

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

const mariaGeneral = bannerText +
	"261122  5:11:33\t     3 Connect\tisu@localhost on lab using Socket\n" +
	"\t\t     3 Query\tinsert into t values (1,'two\nlines\ttab'),(2,'x')\n" +
	"\t\t     3 Prepare\tselect * from t where id=?\n" +
	"\t\t     3 Execute\tselect * from t where id=1\n" +
	"\t\t     4 Connect\tother@10.0.0.9 on  using TCP/IP\n" +
	"\t\t     4 Init DB\tshop\n" +
	"\t\t     4 Query\tbegin\n" +
	"261122  5:11:34\t     4 Query\tupdate t set a='q'\n" +
	"\t\t     3 Execute\tselect * from t where id=2\n" +
	"\t\t     4 Query\tcommit\n" +
	"\t\t     4 Quit\t\n" + bannerText +
	"261122  5:11:40\t     3 Query\tselect * from t where id=3\n"

const mysqlGeneral = mysqlBanner +
	"2026-11-22T05:11:33.000001Z\t    3 Connect\tisu@localhost on lab using Socket\n" +
	"2026-11-22T05:11:33.000002Z\t    3 Query\tinsert into t values (1,'two\nlines\ttab'),(2,'x')\n" +
	"2026-11-22T05:11:33.000003Z\t    3 Prepare\tselect * from t where id=?\n" +
	"2026-11-22T05:11:33.000004Z\t    3 Execute\tselect * from t where id=1\n" +
	"2026-11-22T05:11:33.000005Z\t    4 Connect\tother@10.0.0.9 on  using TCP/IP\n" +
	"2026-11-22T05:11:33.000006Z\t    4 Init DB\tshop\n" +
	"2026-11-22T05:11:33.000007Z\t    4 Query\tbegin\n" +
	"2026-11-22T05:11:34.000001Z\t    4 Query\tupdate t set a='q'\n" +
	"2026-11-22T05:11:34.000002Z\t    3 Execute\tselect * from t where id=2\n" +
	"2026-11-22T05:11:34.000003Z\t    4 Query\tcommit\n" +
	"2026-11-22T05:11:34.000004Z\t    4 Quit\t\n" + mysqlBanner +
	"2026-11-22T05:11:40.000001Z\t    3 Query\tselect * from t where id=3\n"

// TestGeneralLog: counts, users, databases, transactions and prepares of a general
// log, which has no durations.
func TestGeneralLog(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	for name, log := range map[string]string{"MariaDB": mariaGeneral, "MySQL": mysqlGeneral} {
		want := ""
		for _, o := range []Options{{Workers: 1}, {Workers: 3, BlockSize: 100}, {Workers: 2, BlockSize: 300}} {
			p, err := readText(t, log, o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if p.Intake.Format != "MySQL general log" || p.Intake.Lines != 12 || p.Intake.Bad != 0 || !hasNote(p.Notes, "no durations") || hasNote(p.Notes, "plan") {
				t.Errorf("%s: %+v, notes %q", name, p.Intake, p.Notes)
			}
			r := row(t, p, "select * from t where id = ?")
			if r.Count != 3 || r.Total != 0 || r.Query.Prepares != 1 || r.Query.DB != "lab" || r.Query.Users[0].Name != "isu" {
				t.Errorf("%s: %+v %+v", name, r, r.Query)
			}
			if u := row(t, p, "update t set a = ?").Query; u.DB != "shop" || u.Users[0].Name != "other" || u.Hosts[0].Name != "10.0.0.9" {
				t.Errorf("%s: %+v", name, u)
			}
			if i := row(t, p, "insert into t values (?+)"); i.Example.Line != 5 || !strings.Contains(i.Example.Text, "two\nlines\ttab") {
				t.Errorf("%s: %+v", name, i.Example)
			}
			if len(p.Transactions) != 1 || p.Transactions[0].Shape != "begin; update t; commit" {
				t.Errorf("%s: %+v", name, p.Transactions)
			}
			if p.First.Unix() != 1795324293 || p.Last.Unix() != 1795324300 {
				t.Errorf("%s: %v to %v", name, p.First, p.Last)
			}
			got, _ := json.Marshal(p)
			if want == "" {
				want = string(got)
			}
			if string(got) != want {
				t.Errorf("%s: blocks change the result:\n%s\n%s", name, want, got)
			}
		}
	}
}

// FuzzGeneralLog: any bytes are read without a panic, and blocks change nothing.
func FuzzGeneralLog(f *testing.F) {
	f.Add([]byte("2026-11-22T05:11:33.000001Z\t    3 Query\tselect 1\n\t\t  4 Init DB\t`x`\n" + bannerText))
	f.Add([]byte("261122  5:11:33\t     3 Connect\ta@b on c using d\n\t\t     3 Query\tuse `y`\n\t\t 3 Quit\t\n"))
	f.Fuzz(func(t *testing.T, tail []byte) { sameInBlocks(t, mysqlGeneral+string(tail)) })
}

// sameInBlocks checks that the size of blocks does not change a profile, and that
// every byte is counted.
func sameInBlocks(t *testing.T, log string) {
	t.Helper()
	read := func(o Options) (string, bool) {
		p, err := Read(context.Background(), []*lines.Input{lines.Bytes("a", []byte(log))}, o)
		if err != nil {
			return err.Error(), false
		}
		if int(p.Intake.Bytes) != len(log) {
			t.Errorf("%d bytes of %d", p.Intake.Bytes, len(log))
		}
		b, _ := json.Marshal(p)
		return string(b), true
	}
	a, okA := read(Options{Workers: 1})
	b, okB := read(Options{Workers: 2, BlockSize: 50 + rand.IntN(200)})
	if a != b || okA != okB {
		t.Errorf("blocks change the result:\n%s\n%s", a, b)
	}
}
