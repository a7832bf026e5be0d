package slowlog

import (
	"testing"

	tidb "github.com/pingcap/tidb/pkg/parser"
)

// corpus holds pairs of statements that differ only in values or layout. why is
// set if TiDB's normaliser has two digests for them; otherwise both have one.
var corpus = []struct{ a, b, why string }{
	{"SELECT * FROM users WHERE id = 1", "select *\nfrom `users` where id=25", ""},
	{"SELECT * FROM users WHERE name = 'a;b' AND x > 1.5", "SELECT * FROM users WHERE name = \"it''s\" AND x > .25e3", ""},
	{"SELECT id FROM t WHERE id IN (1,2,3) ORDER BY id", "SELECT id FROM t WHERE id IN (4, 5) ORDER BY id", ""},
	{"INSERT INTO t (a, b) VALUES (1,'x')", "INSERT INTO t (a,b) VALUES (2,'y'),(3,'z')", ""},
	{"INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a)", "INSERT INTO t (a) VALUES (1),(2) ON DUPLICATE KEY UPDATE a=VALUES(a)", "TiDB keeps one row of one value apart from several rows"},
	{"SELECT a FROM t WHERE b BETWEEN 1 AND 2 LIMIT 10", "SELECT a FROM t WHERE b BETWEEN 30 AND 40 LIMIT 99", ""},
	{"SELECT a /* one */ FROM t WHERE b = 1 -- c", "SELECT a FROM t WHERE b = 2 # d", ""},
	{"UPDATE t SET a = 1, b = 'x' WHERE id = 3", "UPDATE t SET a = 5, b = 'y' WHERE id = 9", ""},
	{"DELETE FROM t WHERE a < '2021-01-01' AND b <> 5", "DELETE FROM t WHERE a < '2022-02-02' AND b <> 6", ""},
	{"SELECT COUNT(*) FROM a JOIN b ON a.id = b.a_id WHERE b.x = 1 GROUP BY a.y HAVING COUNT(*) > 2", "SELECT count( * ) FROM a JOIN b ON a.id=b.a_id WHERE b.x=7 GROUP BY a.y HAVING COUNT(*)>3", ""},
	{"SELECT EXISTS (SELECT 1 FROM f WHERE a = 1 AND b = 2)", "SELECT EXISTS(SELECT 1 FROM f WHERE a=3 AND b=4)", ""},
	{"BEGIN", "begin", ""},
	{"SELECT x'00ff', 0xff FROM t", "SELECT x'aa', 0x01 FROM t", ""},

	{"SELECT a FROM t LIMIT 10", "SELECT a FROM t LIMIT 10 OFFSET 20", "the first page has no OFFSET in many programs; it is the same query"},
	{"SELECT a FROM t LIMIT 10", "SELECT a FROM t LIMIT 20, 10", "the same with the other form of LIMIT"},
	{"SELECT a FROM t WHERE b = 5", "SELECT a FROM t WHERE b = -5", ""},
	{"SELECT a FROM t WHERE b = 5", "SELECT a FROM t WHERE b = NULL", ""},
	{"INSERT INTO t VALUES (1, NULL)", "INSERT INTO t VALUES (1, 2)", ""},
	{"SELECT a FROM t WHERE b = TRUE", "SELECT a FROM t WHERE b = 0", "so are TRUE and FALSE"},
	{"SELECT a FROM t WHERE (a,b) IN ((1,2))", "SELECT a FROM t WHERE (a,b) IN ((1,2),(3,4))", ""},
	{"SELECT a FROM t WHERE b = _utf8mb4'x'", "SELECT a FROM t WHERE b = 'x'", "a character set is how a driver writes a value"},
	{"INSERT INTO t VALUES (1, NOW())", "INSERT INTO t VALUES (1, NOW()), (2, NOW())", "the number of rows is a value also when they hold calls"},
}

// TestAgainstTiDB: statements that differ in values only have one digest here, and
// one in TiDB's normaliser, except for the differences explained in the corpus.
func TestAgainstTiDB(t *testing.T) {
	var fp Fingerprinter
	for _, c := range corpus {
		if a, b := string(fp.Fingerprint([]byte(c.a))), string(fp.Fingerprint([]byte(c.b))); a != b {
			t.Errorf("two digests of\n%s\n%s:\n%s\n%s", c.a, c.b, a, b)
		}
		na, _ := tidb.NormalizeDigest(c.a)
		nb, _ := tidb.NormalizeDigest(c.b)
		if same := na == nb; same != (c.why == "") {
			t.Errorf("TiDB sees the same: %v, explained as %q:\n%s\n%s", same, c.why, na, nb)
		}
	}
}

// TestTiDBMergesMore: pairs with one digest in TiDB and two here.
func TestTiDBMergesMore(t *testing.T) {
	var fp Fingerprinter
	for _, c := range []struct{ a, b, why string }{
		{"COMMIT", "COMMIT /* POST api */", "the tag names who pays for the commit"},
		{"SELECT a FROM t", "SELECT /*+ MAX_EXECUTION_TIME(1) */ a FROM t", "a hint changes the plan"},
		{"SELECT a FROM t", "SELECT a FROM t USE INDEX (b)", "so does an index hint"},
	} {
		if a, b := string(fp.Fingerprint([]byte(c.a))), string(fp.Fingerprint([]byte(c.b))); a == b {
			t.Errorf("one digest, though %s: %s", c.why, a)
		}
		na, _ := tidb.NormalizeDigest(c.a)
		nb, _ := tidb.NormalizeDigest(c.b)
		if na != nb {
			t.Errorf("TiDB keeps them apart too (%s):\n%s\n%s", c.why, na, nb)
		}
	}
}

// TestAgainstTiDBKeepsApart: statements that differ in more than values have two
// digests in both.
func TestAgainstTiDBKeepsApart(t *testing.T) {
	var fp Fingerprinter
	seen, theirs := map[string]string{}, map[string]string{}
	for i, c := range corpus[:13] {
		key := string(fp.Fingerprint([]byte(c.a)))
		norm, _ := tidb.NormalizeDigest(c.a)
		if seen[key] != "" || theirs[norm] != "" {
			t.Errorf("%d: %s is like %s %s", i, c.a, seen[key], theirs[norm])
		}
		seen[key], theirs[norm] = c.a, c.a
	}
}
