package slowlog

import (
	"bytes"
	"strings"
	"testing"
)

func TestFingerprint(t *testing.T) {
	var fp Fingerprinter
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
	f("SELECT * FROM `isu` WHERE `jia_isu_uuid` = 'abc' AND id=-1;", "select * from isu where jia_isu_uuid = ? and id = ?")
	f("select  a.b ,c from  t1 where x IN(1,2 , 3)", "select a.b, c from t1 where x in (?+)")
	f("select a from t where (x,y) in ((1,'a'),(2,'b''c'))", "select a from t where (x, y) in (?+)")
	f("select a from t where x in (select y from u where z=1)", "select a from t where x in (select y from u where z = ?)")
	f("INSERT INTO t(a,b) VALUES (1,'x;#'),(2,NULL),\n(3,\"q\\\"\")", "insert into t(a, b) values (?+)")
	f("INSERT INTO t VALUES(1, NOW(6), DEFAULT), (2, NOW(), 5) ON DUPLICATE KEY UPDATE a=VALUES(a), b=VALUES(b)+1",
		"insert into t values (?, now(?), default) on duplicate key update a = values (a), b = values (b) + ?")
	f("SELECT 1 LIMIT 10,20", "select ? limit ?")
	f("SELECT 1 LIMIT 10 OFFSET 20 FOR UPDATE", "select ? limit ? for update")
	f("select /* id 77 */ a -- c\n from t # d\n where b<=>NULL or c IS NULL and d IS NOT NULL", "select a from t where b <=> ? or c is null and d is not null")
	f("COMMIT /* grade 12 */", "commit /* grade ? */")
	f("commit", "commit")
	f("SELECT /*+ MAX_EXECUTION_TIME(1000) */ a FROM t", "select max_execution_time(?) a from t")
	f("SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`", "select sql_no_cache * from t")
	f("select x'00ff', 0xFF, b'01', _utf8mb4'あ' , 1.5e-3, .5, 1e10 from dual", "select ?, ?, ?, ?, ?, ?, ? from dual")
	f("select a-1, a - -1, f(-1), -a from t where b between -5 and +5", "select a - ?, a - ?, f(?), - a from t where b between ? and ?")
	f("select * from 2021_log where `we``ird name` = 1", "select * from 2021_log where `we``ird name` = ?")
	f("select 'a' 'b' , \"c\"", "select ?, ?")
	f("USE `isucondition`;", "use ?")
	f("update t set a=true, b=false,c = if(d is true, 1, 0) where e='it''s \\' ok'", "update t set a = ?, b = ?, c = if(d is true, ?, ?) where e = ?")
	f("select count( * ) from 椅子 where 名前='いす'", "select count(*) from 椅子 where 名前 = ?")
	f("select 1; select 2;", "select ?; select ?")
	f("select 'cut off", "select ?")
	f("select `cut off", "select `cut off`")
	f("select a from t where b in (?,?,?) and c in (?)", "select a from t where b in (?+) and c in (?+)")
	f("select @a := @a + 1, @@global.x", "select @a := @a + ?, @@global.x")
	f("", "")
	f("select a from t where b in ()", "select a from t where b in ()")
	f("SELECT * FROM t WHERE a->>'$.b' = 'c' and d != 3", "select * from t where a ->> ? = ? and d != ?")
}

// TestSameDigest: statements that differ only in values, layout and comments have
// one digest.
func TestSameDigest(t *testing.T) {
	var fp Fingerprinter
	for _, same := range [][]string{
		{"select a from t where id = 1", "SELECT a\nFROM `t` WHERE id='x'", "select a from t where id=-1.5e3 /* c */", "select a from t where id = NULL", "select a from t where id = ?"},
		{"insert into t (a) values (1)", "insert into t (a) values (1),(2)", "INSERT INTO t (a) VALUES ('x') , (NULL), (?)"},
		{"select a from t where b in (1)", "select a from t where b in (1,2,3)", "select a from t where b in(?, ?)"},
		{"select a from t limit 1", "select a from t limit 5, 1", "select a from t limit 1 offset 5"},
	} {
		want := Digest(fp.Fingerprint([]byte(same[0])))
		for _, s := range same[1:] {
			if Digest(fp.Fingerprint([]byte(s))) != want {
				t.Errorf("%q and %q have two digests: %s", same[0], s, fp.Fingerprint([]byte(s)))
			}
		}
	}
}

// TestDifferentDigest: statements that differ in more than values have different
// digests.
func TestDifferentDigest(t *testing.T) {
	var fp Fingerprinter
	seen := map[uint64]string{}
	for _, s := range []string{"select a from t where b = 1", "select a from t where b > 1", "select a from t where c = 1", "select a from u where b = 1",
		"select a from t where b is null", "select a from t where b is not null", "commit", "commit /* a */", "commit /* b */", "select f(1)", "select f(1, 2)"} {
		d := Digest(fp.Fingerprint([]byte(s)))
		if seen[d] != "" {
			t.Errorf("%q and %q are one digest", s, seen[d])
		}
		seen[d] = s
	}
}

func TestFingerprintAllocatesNothing(t *testing.T) {
	var fp Fingerprinter
	sql := []byte("INSERT INTO `t` (a, b) VALUES (1, 'x'), (2, 'y') ON DUPLICATE KEY UPDATE a = VALUES(a)")
	if n := testing.AllocsPerRun(100, func() { fp.Fingerprint(sql) }); n != 0 {
		t.Errorf("%v allocations per statement", n)
	}
}

// FuzzFingerprint: any bytes are accepted, fingerprints are idempotent, and no value
// leaks: a secret string or number is not in the fingerprint.
func FuzzFingerprint(f *testing.F) {
	for _, s := range []string{"select * from t where a = 'x' and b in (1,2)", "insert into t values (1,'a'),(2,'b')", "commit /* tag 1 */", "select `a`.`b`, \"c\" from d -- e",
		"/*!50000 select */ 1", "a.5 .5 5. 5.e 1e-", "((((", "))))", "in (1", "values (1),(", "limit 1,", "'\\", "`", "use x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sql []byte) {
		var a, b Fingerprinter
		once := bytes.Clone(a.Fingerprint(sql))
		twice := b.Fingerprint(once)
		if len(once) < maxFingerprint/2 && !bytes.Equal(once, twice) {
			t.Errorf("%q: not idempotent:\n%q\n%q", sql, once, twice)
		}
		secret := "select 'sikritvalue' , 918273645 from (" + strings.ReplaceAll(string(sql), "sikrit", "") + ")"
		if got := a.Fingerprint([]byte(secret)); bytes.Contains(got, []byte("sikritvalue")) || bytes.Contains(got, []byte("918273645")) {
			t.Errorf("%q leaks: %q", secret, got)
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	var fp Fingerprinter
	sql := []byte("SELECT `id`, `jia_isu_uuid`, `timestamp`, `is_sitting`, `condition`, `message` FROM `isu_condition` WHERE `jia_isu_uuid` = '0694e4d7-dfce-4aec-b7ca-887ac42cfb8f' AND `timestamp` < '2021-08-08 12:00:00' ORDER BY `timestamp` DESC LIMIT 20")
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		fp.Fingerprint(sql)
	}
}
