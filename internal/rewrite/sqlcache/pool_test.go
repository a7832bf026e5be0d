package sqlcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

const createItem = `CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(50), picture LONGBLOB, price DECIMAL(8,2), at DATETIME NULL)`

const readItem = "SELECT id, name, picture, price, at FROM item WHERE id = ?"

func itemPlan() Plan {
	return Plan{
		SelectsOnlyRead: true,
		Tables:          []Table{{"item", []Column{{"id", Integer}}}},
		Statements: []Statement{
			{Text: Fold(MySQL, readItem), Keep: true, Reads: []Touch{{"item", []Key{{Column: "id", Groups: []int{0}}}}}},
			{Text: Fold(MySQL, "UPDATE item SET name = ? WHERE id = ?"), Writes: []Touch{{"item", []Key{{Column: "id", Groups: []int{1}}}}}},
		},
	}
}

func itemCache(t testing.TB, database string, bytes int64, interpolate bool) (*Cache, *sql.DB, *sql.DB) {
	direct := freshDatabase(t, database)
	for _, text := range []string{createItem, `INSERT INTO item VALUES (1, '日本語', x'00ff', 1.50, '2021-09-01 10:00:00'), (2, NULL, NULL, NULL, NULL)`} {
		if _, err := direct.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	c, err := New(itemPlan(), Options{Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(c.Connector(mysqlConnector(t, "cached", database, interpolate), database))
	t.Cleanup(func() { pool.Close() })
	return c, pool, direct
}

// readAnyItem reads everything that a caller can see of an answer.
func readAnyItem(t *testing.T, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, id any) string {
	rows, err := db.QueryContext(t.Context(), readItem, id)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range types {
		length, hasLength := c.Length()
		null, hasNull := c.Nullable()
		p, s, dec := c.DecimalSize()
		fmt.Fprintln(&b, c.Name(), c.DatabaseTypeName(), c.ScanType(), length, hasLength, null, hasNull, p, s, dec)
	}
	for rows.Next() {
		v := make([]any, 5)
		if err := rows.Scan(&v[0], &v[1], &v[2], &v[3], &v[4]); err != nil {
			t.Fatal(err)
		}
		for _, x := range v {
			format := "%T %v\n"
			if _, ok := x.([]byte); ok {
				format = "%T %s\n" // %v prints a number for each byte: slow with large ones
			}
			fmt.Fprintf(&b, format, x, x)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSameAnswers: a kept answer is what the driver gives, with its types, by
// either protocol.
func TestSameAnswers(t *testing.T) {
	for _, interpolate := range []bool{true, false} {
		c, pool, _ := itemCache(t, "same", 1<<20, interpolate)
		plain := sql.OpenDB(mysqlConnector(t, "cached", "same", interpolate))
		defer plain.Close()
		for _, id := range []any{1, 2, 3, "1"} {
			want := readAnyItem(t, plain, id)
			for i := range 3 {
				if got := readAnyItem(t, pool, id); got != want {
					t.Errorf("interpolate %v, id %v, call %d:\n%s\nwant\n%s", interpolate, id, i, got, want)
				}
			}
		}
		stmt, err := pool.Prepare(readItem)
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		for range 2 {
			var id int64
			var name, picture, price, at sql.NullString
			if err := stmt.QueryRow(1).Scan(&id, &name, &picture, &price, &at); err != nil || name.String != "日本語" {
				t.Errorf("%v %v", name, err)
			}
		}
		if s := c.Stats(); s.Statements[0].Hits < 8 {
			t.Errorf("interpolate %v: %+v", interpolate, s)
		}
	}
}

func TestOwnCopy(t *testing.T) {
	_, pool, _ := itemCache(t, "own", 1<<20, true)
	for range 3 {
		var picture []byte
		var id int64
		var rest [3]any
		if err := pool.QueryRow(readItem, 1).Scan(&id, &rest[0], &picture, &rest[1], &rest[2]); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(picture, []byte{0, 0xff}) {
			t.Fatalf("a caller's change of its copy reached the cache: %v", picture)
		}
		picture[0] = 9
	}
}

// TestMemory: a full cache stays within its bound, keeps what is used again, and
// does not keep what is too large.
func TestMemory(t *testing.T) {
	const bound = 8 << 20
	c, pool, direct := itemCache(t, "memory", bound, true)
	if _, err := direct.Exec("INSERT INTO item (id, picture) SELECT 10 + seq, REPEAT('x', 50000) FROM seq_1_to_1000"); err != nil {
		t.Fatal(err)
	}
	if _, err := direct.Exec("INSERT INTO item (id, picture) VALUES (5000, REPEAT('x', 2000000))"); err != nil {
		t.Fatal(err)
	}
	c.Flush()
	for i := range 1000 {
		readAnyItem(t, pool, 11+i)
		readAnyItem(t, pool, 1)
		if _, bytes := c.store.size(); bytes > bound {
			t.Fatalf("%d bytes are kept", bytes)
		}
	}
	s := c.Stats()
	if s.Statements[0].Hits < 950 || s.Statements[0].Evicted < 500 {
		t.Errorf("%+v", s.Statements[0])
	}
	large := readAnyItem(t, pool, 5000)
	before, _ := c.store.size()
	if again := readAnyItem(t, pool, 5000); again != large || len(large) < 2000000 {
		t.Errorf("the large answer has %d and %d bytes", len(large), len(again))
	}
	if after, _ := c.store.size(); after > before {
		t.Errorf("an answer of 2 MB was kept")
	}
}

// TestSession: connections with settings or temporary tables of their own read
// past the cache.
func TestSession(t *testing.T) {
	_, pool, direct := itemCache(t, "session", 1<<20, true)
	readAnyItem(t, pool, 1)
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, text := range []string{"CREATE TEMPORARY TABLE item (id INT, name TEXT, picture TEXT, price TEXT, at TEXT)", "INSERT INTO item VALUES (1, 'mine', '', '', '')"} {
		if _, err := conn.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if got := readAnyItem(t, conn, 1); !strings.Contains(got, "mine") {
		t.Errorf("the connection does not see its temporary table: %s", got)
	}
	if got := readAnyItem(t, pool, 1); strings.Contains(got, "mine") {
		t.Errorf("another connection sees the temporary table: %s", got)
	}
	_ = direct
}

func TestPlanErrors(t *testing.T) {
	for want, p := range map[string]Plan{
		"twice":         {Tables: []Table{{Name: "a"}, {Name: "A"}}},
		"writes":        {Tables: []Table{{Name: "a"}}, Statements: []Statement{{Keep: true, Reads: []Touch{{Table: "a"}}, Writes: []Touch{{Table: "a"}}}}},
		"reads no":      {Statements: []Statement{{Keep: true}}},
		"not in the":    {Statements: []Statement{{Keep: true, Reads: []Touch{{Table: "a"}}}}},
		"no key column": {},
	} {
		_, err := New(p, Options{})
		if want == "no key column" {
			_, err = New(Plan{Tables: []Table{{Name: "a"}}, Statements: []Statement{{Keep: true, Reads: []Touch{{"a", []Key{{Column: "x"}}}}}}}, Options{})
			want = "not a key column"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// BenchmarkHit is one kept row at the driver's interface.
func BenchmarkHit(b *testing.B) {
	c, pool, _ := itemCache(b, "bench", 1<<20, true)
	for range 2 {
		rows, err := pool.Query(readItem, 1)
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
		}
		rows.Close()
	}
	con, err := c.Connector(mysqlConnector(b, "cached", "bench", true), "bench").Connect(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer con.Close()
	k := con.(*conn)
	args := []driver.NamedValue{{Ordinal: 1, Value: int64(1)}}
	dest := make([]driver.Value, 5)
	read := func() {
		rows, err := k.QueryContext(b.Context(), readItem, args)
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next(dest) != io.EOF {
		}
		if err := rows.Close(); err != nil {
			b.Fatal(err)
		}
	}
	read()
	b.ReportAllocs()
	for b.Loop() {
		read()
	}
}

// BenchmarkMiss is the same row without the cache.
func BenchmarkMiss(b *testing.B) {
	_, _, direct := itemCache(b, "benchmiss", 1<<20, true)
	for b.Loop() {
		var v [5]any
		if err := direct.QueryRow(readItem, 1).Scan(&v[0], &v[1], &v[2], &v[3], &v[4]); err != nil {
			b.Fatal(err)
		}
	}
}

// TestHitAllocations: a hit of one small row allocates its rows and nothing else.
func TestHitAllocations(t *testing.T) {
	c, _, _ := itemCache(t, "allocs", 1<<20, true)
	con, err := c.Connector(mysqlConnector(t, "cached", "allocs", true), "allocs").Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer con.Close()
	k := con.(*conn)
	args := []driver.NamedValue{{Ordinal: 1, Value: int64(1)}}
	dest := make([]driver.Value, 5)
	ctx := t.Context()
	read := func() {
		rows, err := k.QueryContext(ctx, readItem, args)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next(dest) != io.EOF {
		}
		rows.Close()
	}
	read()
	if n := testing.AllocsPerRun(100, read); n > 1 {
		t.Errorf("a hit allocates %v times", n)
	}
}
