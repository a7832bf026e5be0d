package cacheplan

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// oddCreates have columns of many types and collations.
var oddCreates = []string{
	`CREATE TABLE parents (id INT PRIMARY KEY, n BIGINT, ci VARCHAR(20) COLLATE utf8mb4_general_ci, bin VARCHAR(20) COLLATE utf8mb4_bin, digits VARCHAR(20))`,
	`CREATE TABLE odd (id INT PRIMARY KEY, pid INT, n BIGINT, big BIGINT UNSIGNED, ci VARCHAR(20) COLLATE utf8mb4_general_ci, bin VARCHAR(20) COLLATE utf8mb4_bin,
		nopad VARCHAR(20) COLLATE utf8mb4_nopad_bin, vb VARBINARY(20), fixed CHAR(8), f FLOAT, d DOUBLE, dd DOUBLE(8,2), price DECIMAL(8,2), z INT(6) ZEROFILL, b BIT(5), y YEAR, day DATE, at DATETIME(3), ts TIMESTAMP NULL, tm TIME,
		e ENUM('zz','aa','mm'), s SET('x','y'), j JSON, tiny TINYINT(1), u TINYINT UNSIGNED, txt TEXT, code VARCHAR(20) NOT NULL UNIQUE, KEY (pid), KEY (n), KEY (ci), KEY (bin))`,
}

var oddChildren = []struct {
	text, column  string
	before, after []any
}{
	{"SELECT * FROM odd WHERE pid = ?", "id", nil, nil},
	{"SELECT * FROM odd WHERE pid = ? ORDER BY id LIMIT 2", "id", nil, nil},
	{"SELECT id, f, d, dd, price, z, b, y, day, at, ts, tm, e, s, j, tiny, u, txt, 1, 'x', NULL, 1.50, f*2, price/3, z+0, -id, at > ?, TRUE, b+0, CONCAT(z, f), 1e3 FROM odd WHERE pid = ? ORDER BY id LIMIT 2", "id", []any{"2020-01-01"}, nil},
	{"SELECT MAX(f), MAX(d), MAX(dd), MAX(price), MAX(z), MAX(b), MAX(y), MAX(day), MAX(at), MAX(ts), MAX(tm), MAX(e), MIN(e), MAX(s), MAX(j), MAX(tiny), MAX(u), SUM(price), AVG(f), SUM(z), COUNT(DISTINCT e), SUM(tm), SUM(e), IFNULL(MAX(at), 'none'), COALESCE(SUM(price), 0), MAX(txt) FROM odd WHERE pid = ?", "id", nil, nil},
	{"SELECT COUNT(*) AS pid FROM odd WHERE pid = ?", "id", nil, nil},
	{"SELECT MAX(id) AS pid, COUNT(*) FROM odd WHERE pid = ?", "id", nil, nil},
	{"SELECT code AS pid FROM odd WHERE pid = ? ORDER BY id LIMIT 2", "id", nil, nil},
	{"SELECT ci AS pid, code FROM odd WHERE pid = ?", "id", nil, nil},
	{"SELECT id, ci FROM odd WHERE ci = ? ORDER BY id", "ci", nil, nil},
	{"SELECT id, ci FROM odd WHERE ci = ? ORDER BY id LIMIT 2", "ci", nil, nil},
	{"SELECT COUNT(*), MIN(id) FROM odd WHERE ci = ?", "ci", nil, nil},
	{"SELECT id, bin FROM odd WHERE bin = ? ORDER BY id", "bin", nil, nil},
	{"SELECT COUNT(*), MIN(id) FROM odd WHERE bin = ?", "bin", nil, nil},
	{"SELECT id, nopad FROM odd WHERE nopad = ? ORDER BY id", "bin", nil, nil},
	{"SELECT COUNT(*) FROM odd WHERE nopad = ?", "bin", nil, nil},
	{"SELECT id FROM odd WHERE vb = ? ORDER BY id LIMIT 2", "bin", nil, nil},
	{"SELECT COUNT(*) FROM odd WHERE vb = ?", "bin", nil, nil},
	{"SELECT id FROM odd WHERE fixed = ? ORDER BY id", "ci", nil, nil},
	{"SELECT id FROM odd WHERE n = ? ORDER BY id", "n", nil, nil},
	{"SELECT id, n FROM odd WHERE n = ? ORDER BY id", "digits", nil, nil},
	{"SELECT COUNT(*) FROM odd WHERE n = ?", "digits", nil, nil},
	{"SELECT COUNT(*) FROM odd WHERE big = ?", "n", nil, nil},
	{"SELECT id FROM odd WHERE big = ? ORDER BY id", "digits", nil, nil},
	{"SELECT COUNT(*) FROM odd WHERE ci = ?", "n", nil, nil},
	{"SELECT id FROM odd WHERE ci = ? ORDER BY id", "digits", nil, nil},
	{"SELECT id FROM odd WHERE pid = ? AND code = ? ORDER BY id LIMIT 1", "id", nil, []any{0}},
	{"SELECT id FROM odd WHERE code = ? AND pid = ? ORDER BY id DESC", "id", []any{0}, nil},
	{"SELECT id FROM odd WHERE code = 0 AND pid = ? ORDER BY id DESC LIMIT 1", "id", nil, nil},
	{"SELECT code FROM (SELECT pid AS id, code FROM odd) AS x WHERE id = ? LIMIT 1", "id", nil, nil},
	{"SELECT code FROM (SELECT pid AS id, code FROM odd ORDER BY code DESC LIMIT 100) AS x WHERE id = ? LIMIT 1", "id", nil, nil},
	{"SELECT COUNT(*) FROM (SELECT pid, code FROM odd) AS x WHERE pid = ?", "id", nil, nil},
	{"SELECT id FROM odd WHERE pid = ? AND tiny = ? ORDER BY id", "id", nil, []any{true}},
	{"SELECT id FROM odd WHERE pid = ? AND id IN (?, ?) ORDER BY id", "id", nil, []any{3, 5}},
	{"SELECT id FROM odd WHERE pid = ? AND ci LIKE ? ORDER BY id LIMIT ?", "id", nil, []any{[]byte("%a%"), 3}},
	{"SELECT id, ? FROM odd WHERE pid = ? AND price > ? ORDER BY id LIMIT ?", "id", []any{"é"}, []any{1.25, 3}},
	{"SELECT SUM(price > ?), COUNT(*) FROM odd WHERE pid = ? AND price < ?", "id", []any{3}, []any{"10.5"}},
	{"SELECT SQL_CALC_FOUND_ROWS id FROM odd WHERE pid = ? ORDER BY id LIMIT 1", "id", nil, nil},
	{"SELECT id FROM odd WHERE pid = ? ORDER BY price LIMIT 0", "id", nil, nil},
	{"SELECT id, id FROM odd WHERE pid = ? ORDER BY id LIMIT 2", "id", nil, nil},
}

// TestOddBatchesOnServer: what loops get does not differ from the server's own answers, whatever
// the types and the collations of keys and of answers are.
func TestOddBatchesOnServer(t *testing.T) {
	server, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	direct, err := server.Open(t.Context(), "odd")
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	fill := append([]string{}, oddCreates...)
	texts := []string{"'abc'", "'ABC'", "'abc '", "'Abc  '", "'e'", "'é'", "'É'", "''", "' '", "NULL", "'abc\\t'", "'7'", "'07'", "'7a'", "'8'", "'ss'", "'ß'", "'a%'", "'0'", "'x'"}
	numbers := []string{"9007199254740992", "9007199254740993", "9007199254740994", "-1", "0", "7", "8", "NULL", "12", "9223372036854775807"}
	digits := []string{"'9007199254740992'", "'9007199254740993'", "'9007199254740994'", "'-1'", "'0'", "'07'", "'7'", "'8.0'", "'8'", "'12a'", "' 12'", "'12'", "'9223372036854775807'"}
	for i := 1; i <= 40; i++ {
		fill = append(fill, fmt.Sprintf("INSERT INTO parents VALUES (%d, %s, %s, %s, %s)", i, numbers[i%len(numbers)], texts[i%len(texts)], texts[(i*7)%len(texts)], digits[i%len(digits)]))
	}
	for i := 1; i <= 150; i++ {
		x := texts[(i*3)%len(texts)]
		big := numbers[i%len(numbers)]
		if big == "-1" {
			big = "18446744073709551615"
		}
		fill = append(fill, fmt.Sprintf(`INSERT INTO odd VALUES (%d, %d, %s, %s, %s, %s, %s, %s, %s, %d.1, %d/3, %d.5, %d.25, %d, %d, 2001, '2020-01-0%d', '2020-01-0%d 01:02:03.250', '2020-01-0%d 01:02:03', '-1%d:00:01', %d, 'x,y', '{"a":%d}', %d, %d, %s, 'k%d')`,
			i, (i*i)%31, numbers[i%len(numbers)], big, texts[i%len(texts)], texts[i%len(texts)], texts[i%len(texts)], x, x, i, i, i%9, i%9, i, i%20, 1+i%9, 1+i%9, 1+i%9, i%9, 1+i%3, i, i%2, i, x, i))
	}
	for _, text := range fill {
		if _, err := direct.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	s, err := ReadSchema(oddCreates)
	if err != nil {
		t.Fatal(err)
	}
	s.Strict = true
	all := []string{oddParent}
	for _, c := range oddChildren {
		all = append(all, c.text)
	}
	plan, _ := Build(s, all)
	for _, how := range []struct{ interpolate, parseTime, numbered, bytes bool }{{true, true, false, false}, {false, true, false, true}, {true, false, true, true}, {false, false, true, false}} {
		t.Run(fmt.Sprintf("%+v", how), func(t *testing.T) {
			c := mysql.NewConfig()
			c.User, c.Net, c.Addr, c.DBName, c.InterpolateParams, c.ParseTime = "root", "unix", server.Socket, "odd", how.interpolate, how.parseTime
			base, err := mysql.NewConnector(c)
			if err != nil {
				t.Fatal(err)
			}
			plain := sql.OpenDB(base)
			defer plain.Close()
			p := plan
			if how.numbered {
				p.Batches = slices.DeleteFunc(slices.Clone(plan.Batches), func(b sqlcache.Batch) bool { return b.Shape == sqlcache.Parts })
			}
			for _, child := range oddChildren {
				cache, err := sqlcache.New(p, sqlcache.Options{Bytes: 8 << 20})
				if err != nil {
					t.Fatal(err)
				}
				pool := sql.OpenDB(cache.Connector(base, "odd"))
				defer pool.Close()
				for range 3 {
					keys := oddKeys(t, pool, child.column, how.bytes)
					for _, key := range keys {
						args := append(append(append([]any{}, child.before...), key), child.after...)
						if got, want := everything(t, pool, child.text, args...), everything(t, plain, child.text, args...); got != want {
							t.Errorf("%s with %q:\n got %s\nwant %s", child.text, args, got, want)
							break
						}
					}
				}
				t.Logf("%s: %+v", child.text, cache.Stats().Batches)
			}
		})
	}
}

const oddParent = "SELECT id, n, ci, bin, digits FROM parents ORDER BY id"

// oddKeys are the values of a column of the parent, as an app would send them.
func oddKeys(t *testing.T, db *sql.DB, column string, asBytes bool) (keys []any) {
	rows, err := db.Query(oddParent)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		var n sql.NullInt64
		var ci, bin, digits sql.NullString
		if err := rows.Scan(&id, &n, &ci, &bin, &digits); err != nil {
			t.Fatal(err)
		}
		text := map[string]sql.NullString{"ci": ci, "bin": bin, "digits": digits}
		switch v, isText := text[column]; {
		case column == "id":
			keys = append(keys, id)
		case column == "n":
			keys = append(keys, n)
		case isText && asBytes && v.Valid:
			keys = append(keys, []byte(v.String))
		default:
			keys = append(keys, v)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return keys
}
