package slowlog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestFoldTables: with FoldTables numbered tables are one table, and nothing else
// is folded.
func TestFoldTables(t *testing.T) {
	fp, plain := Fingerprinter{FoldTables: true}, Fingerprinter{}
	f := func(sql, want string) {
		t.Helper()
		got := string(fp.Fingerprint([]byte(sql)))
		if got != want {
			t.Errorf("%q\n got %s\nwant %s", sql, got, want)
		}
		if again := string(fp.Fingerprint([]byte(got))); again != got {
			t.Errorf("%q is not idempotent:\n%s\n%s", sql, got, again)
		}
	}
	f("SELECT * FROM tenant_1 WHERE id = 3", "select * from tenant_? where id = ?")
	f("SELECT * FROM `Tenant_12_player` p JOIN `score_7` AS s ON p.id = s.player_id", "select * from tenant_?_player p join score_? as s on p.id = s.player_id")
	f("SELECT tenant_1.id, t2.utf8, address1 FROM tenant_1, db_3.shard07, other AS t2 WHERE tenant_1.md5 = 1", "select tenant_?.id, t2.utf8, address1 from tenant_?, db_?.shard?, other as t2 where tenant_?.md5 = ?")
	f("INSERT INTO log_202608 (a1, b2) VALUES (1, 2) ON DUPLICATE KEY UPDATE a1 = VALUES(a1)", "insert into log_?(a1, b2) values (?+) on duplicate key update a1 = values (a1)")
	f("UPDATE LOW_PRIORITY t_1 SET c1 = c2 + 1", "update low_priority t_? set c1 = c2 + ?")
	f("DELETE FROM t_1 WHERE a IN (SELECT b1 FROM u_22 WHERE c1 = 1 FOR UPDATE)", "delete from t_? where a in (select b1 from u_? where c1 = ? for update)")
	f("CREATE TABLE IF NOT EXISTS 2021_log (a1 int)", "create table if not exists 2021_log(a1 int)")
	f("select sha1(a1), md5(a2) from t", "select sha1(a1), md5(a2) from t")
	f("TRUNCATE TABLE shard_5", "truncate table shard_?")
	if got := string(plain.Fingerprint([]byte("SELECT * FROM tenant_1"))); got != "select * from tenant_1" {
		t.Errorf("without FoldTables: %s", got)
	}
	var log strings.Builder
	for i := range 50 {
		log.WriteString(entry(1, 10, fmt.Sprintf("SELECT * FROM tenant_%d WHERE id = 1", i)))
	}
	p, err := readText(t, log.String(), Options{FoldTables: true})
	if err != nil || len(p.Rows) != 1 || p.Rows[0].Count != 50 || strings.Join(p.Rows[0].Query.Tables, ",") != "tenant_?" {
		t.Errorf("%v: %+v", err, p)
	}
	if p := mustRead(t, log.String()); len(p.Rows) != 50 {
		t.Errorf("%d rows without FoldTables", len(p.Rows))
	}
}

// FuzzFoldTables: fingerprints with folded tables are idempotent.
func FuzzFoldTables(f *testing.F) {
	for _, s := range []string{"select * from t_1, u_2.v3", "update a_1?b set c_9.d = 1", "from 1_a", "from `a``1`.b2", "from t_1 . x_2", "truncate ?", "a_1.b", ".00_0."} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sql []byte) {
		a, b := Fingerprinter{FoldTables: true}, Fingerprinter{FoldTables: true}
		once := bytes.Clone(a.Fingerprint(sql))
		if twice := b.Fingerprint(once); len(once) < maxFingerprint/2 && !bytes.Equal(once, twice) {
			t.Errorf("%q: not idempotent:\n%q\n%q", sql, once, twice)
		}
	})
}
