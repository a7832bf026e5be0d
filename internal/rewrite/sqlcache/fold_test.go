package sqlcache

import (
	"reflect"
	"testing"
)

func TestFold(t *testing.T) {
	for _, c := range []struct {
		dialect Dialect
		in, out string
		groups  [][]int
	}{
		{MySQL, "SELECT  a\n FROM t WHERE id=?;", "SELECT a FROM t WHERE id = ?", [][]int{{0}}},
		{MySQL, "SELECT a FROM t WHERE x = ? AND id IN (?, ?,?) AND y < ?", "SELECT a FROM t WHERE x = ? AND id IN ( ?... ) AND y < ?", [][]int{{0}, {1, 2, 3}, {4}}},
		{MySQL, "SELECT a FROM t WHERE id IN (?, 1)", "SELECT a FROM t WHERE id IN ( ? , 1 )", [][]int{{0}}},
		{MySQL, "INSERT INTO t (a, b) VALUES (?, ?), (?, ?)", "INSERT INTO t ( a , b ) VALUES ( ? , ? ) ...", [][]int{{0, 2}, {1, 3}}},
		{MySQL, "INSERT INTO t VALUES (?, NOW()), (?, NOW()) ON DUPLICATE KEY UPDATE a = ?", "INSERT INTO t VALUES ( ? , NOW ( ) ) ... ON DUPLICATE KEY UPDATE a = ?", [][]int{{0, 1}, {2}}},
		{MySQL, "INSERT INTO t VALUES (?, 1), (?, 2)", "INSERT INTO t VALUES ( ? , 1 ) , ( ? , 2 )", [][]int{{0}, {1}}},
		{MySQL, "INSERT INTO t VALUES (?)", "INSERT INTO t VALUES ( ? ) ...", [][]int{{0}}},
		{MySQL, `SELECT '?', "a\"?", ` + "`?`" + ` FROM t WHERE a = 'it''s ?' AND b = ?`, `SELECT '?' , "a\"?" , ` + "`?`" + ` FROM t WHERE a = 'it''s ?' AND b = ?`, [][]int{{0}}},
		{SQLite, `SELECT 'a\' FROM t WHERE b = ?`, `SELECT 'a\' FROM t WHERE b = ?`, [][]int{{0}}},
		{SQLite, "SELECT a FROM t WHERE b = ?2 AND c = ?1 OR d=?", "SELECT a FROM t WHERE b = ?2 AND c = ?1 OR d = ?", [][]int{{1}, {0}, {2}}},
		{SQLite, "SELECT a FROM t WHERE b IN ($1, $2) AND c=$1", "SELECT a FROM t WHERE b IN ( $1 , $2 ) AND c = $1", [][]int{{0}, {1}, {0}}},
		{MySQL, "SELECT '日本語' FROM 表 WHERE b = ?", "SELECT '日本語' FROM 表 WHERE b = ?", [][]int{{0}}},
		{MySQL, "SELECT 'no end", "SELECT 'no end", nil},
	} {
		f := fold(c.dialect, c.in)
		if f.text != c.out || !reflect.DeepEqual(f.groups, c.groups) || f.odd {
			t.Errorf("fold(%q)\n got %q %v %v\nwant %q %v", c.in, f.text, f.groups, f.odd, c.out, c.groups)
		}
	}
}

func TestClass(t *testing.T) {
	for text, want := range map[string]class{
		"SELECT 1": reads, "select 1": reads, "WITH x AS (SELECT 1) DELETE FROM t": changes,
		"INSERT INTO t VALUES (1)": changes, "TRUNCATE t": changes,
		"CREATE TABLE t (a INT)": changes, "CREATE TEMPORARY TABLE t (a INT)": unsure,
		"CREATE OR REPLACE TEMPORARY TABLE t (a INT)": unsure,
		"BEGIN": begins, "START TRANSACTION": begins, "COMMIT": ends, "ROLLBACK": ends, "ROLLBACK TO a": savepoint,
		"ROLLBACK WORK TO a": savepoint, "SAVEPOINT a": savepoint,
		"SET NAMES utf8mb4": session, "SET autocommit = 0": unsure, "set session transaction isolation level read committed": unsure,
		"CALL p()": unsure, "LOCK TABLES t WRITE": unsure, "USE other": unsure, "": unsure,
		"SELECT 1; DELETE FROM t": unsure, "/* a */ SELECT 1": unsure, "SELECT 1 -- a": unsure, "SELECT 1;": reads,
		"CREATE TEMP TRIGGER a AFTER INSERT ON t BEGIN DELETE FROM u": reaches,
		"ATTACH 'b.db' AS b": reaches, "attach database ? as b": reaches, "VACUUM": changes, "VACUUM INTO 'b.db'": reaches,
		"SELECT 1; ATTACH 'b.db' AS b": reaches, "/* a */ SELECT attachment FROM t": unsure,
		"PRAGMA journal_mode=WAL": reads, "PRAGMA case_sensitive_like=1": session,
		"EXPLAIN ANALYZE DELETE FROM t": changes, "SHOW TABLES": reads,
	} {
		if got := classOf(fold(MySQL, text), true); got != want {
			t.Errorf("class of %q is %d, want %d", text, got, want)
		}
	}
	if got := classOf(fold(MySQL, "SELECT f()"), false); got != changes {
		t.Errorf("a SELECT that may call a function that writes has class %d", got)
	}
}

// FuzzFold: folding a folded text changes nothing but the marks of lists, and
// every placeholder is in one group.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"SELECT a FROM t WHERE id IN (?, ?) AND b = '\\'?'", "INSERT INTO t VALUES (?, ?), (?, ?)",
		"INSERT INTO t VALUES ((?)),((?)", "VALUES (", "IN (?", "a'b", "--", "VALUES(?),(?),(?,?)", "a=?2 AND b IN (?1,?1)", "$2,$1"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, mysql bool) {
		d := SQLite
		if mysql {
			d = MySQL
		}
		tokens, odd := tokenize(d, s)
		left := map[int]int{} // placeholders of each argument that no group has
		for _, tok := range tokens {
			if tok.group >= 0 {
				left[tok.group]++
			}
		}
		folded := fold(d, s)
		for _, g := range folded.groups {
			for _, a := range g {
				if left[a]--; left[a] < 0 || a >= folded.args {
					t.Fatalf("argument %d of %d too often or out of range in %v", a, folded.args, folded.groups)
				}
			}
		}
		for a, n := range left {
			if n != 0 || mysql && a >= len(left) {
				t.Fatalf("%d placeholders of argument %d are in no group of %v", n, a, folded.groups)
			}
		}
		if folded.odd != odd {
			t.Fatalf("odd is %v and %v", folded.odd, odd)
		}
		if again := fold(d, s); again.text != folded.text {
			t.Fatalf("two results: %q and %q", folded.text, again.text)
		}
	})
}
