package sqlcache

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"
)

const (
	benchParent = "SELECT id FROM item ORDER BY id"
	benchChild  = "SELECT id, name FROM item WHERE id = ?"
)

func loopPlan() Plan {
	return Plan{
		SelectsOnlyRead: true,
		Tables:          []Table{{"item", []Column{{"id", Integer}}}},
		Statements: []Statement{
			{Text: Fold(MySQL, benchChild), Keep: true, Reads: []Touch{{"item", []Key{{Column: "id", Groups: []int{0}}}}}},
			{Text: Fold(MySQL, "UPDATE item SET name = ? WHERE id = ?"), Writes: []Touch{{"item", []Key{{Column: "id", Groups: []int{1}}}}}},
		},
		Batches: []Batch{{Child: benchChild, Column: "id", Kind: Integer, Shape: Rows, Head: "SELECT id, name, id FROM item WHERE id IN (", Tail: ")",
			Parents: []Parent{{Text: Fold(MySQL, benchParent), Column: "id"}}}},
	}
}

// loopConn answers the statements of a loop without a database.
type loopConn struct {
	driver.Conn
	rows int
	sent int
}

func (c *loopConn) QueryContext(_ context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.sent++
	if text == benchParent {
		r := &memoryRows{names: []string{"id"}}
		for i := 1; i <= c.rows; i++ {
			r.rows = append(r.rows, []driver.Value{int64(i)})
		}
		return r, nil
	}
	r := &memoryRows{names: []string{"id", "name"}}
	for _, a := range args {
		row := []driver.Value{a.Value, []byte("a name")}
		if len(args) > 1 {
			row = append(row, a.Value)
		}
		r.rows = append(r.rows, row)
	}
	if len(args) > 1 {
		r.names = append(r.names, "id")
	}
	return r, nil
}

type memoryRows struct {
	names []string
	rows  [][]driver.Value
}

func (r *memoryRows) Columns() []string { return r.names }
func (r *memoryRows) Close() error      { return nil }
func (r *memoryRows) Next(dest []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(dest, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

func loopOf(t testing.TB, rows int) (*conn, *loopConn) {
	c, err := New(loopPlan(), Options{Bytes: 64 << 20, Eager: true})
	if err != nil {
		t.Fatal(err)
	}
	base := &loopConn{rows: rows}
	return &conn{base: base, cache: c, connector: &connector{cache: c, space: c.space("")}}, base
}

// runLoop asks the parent and each child.
func runLoop(t testing.TB, k *conn, rows int) {
	read := func(text string, args ...driver.NamedValue) {
		r, err := k.QueryContext(t.Context(), text, args)
		if err != nil {
			t.Fatal(err)
		}
		dest := make([]driver.Value, len(r.Columns()))
		for r.Next(dest) == nil {
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read(benchParent)
	for i := 1; i <= rows; i++ {
		read(benchChild, driver.NamedValue{Ordinal: 1, Value: int64(i)})
	}
}

// TestBatchSizes: a long loop is read by batches of bounded size, the first of them small.
func TestBatchSizes(t *testing.T) {
	for _, c := range []struct{ rows, want int }{{1, 2}, {2, 3}, {3, 3}, {64, 3}, {66, 4}, {600, 6}, {1024, 7}} {
		k, base := loopOf(t, c.rows)
		k.find(benchChild).batches[0].counts.size = mostKeys
		if runLoop(t, k, c.rows); base.sent != c.want {
			t.Errorf("%d rows: %d statements were sent, want %d", c.rows, base.sent, c.want)
		}
	}
}

// BenchmarkChild is a child of a loop whose rows are read ahead, with its share of the
// batch and of the parent, without the database.
func BenchmarkChild(b *testing.B) {
	const rows = 100
	k, _ := loopOf(b, rows)
	k.find(benchChild).batches[0].counts.size = mostKeys
	b.ReportAllocs()
	before := cpuTime(b)
	for i := 0; i < b.N; i += rows {
		k.cache.store.clear()
		runLoop(b, k, rows)
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpuTime is the time of processors that the process has used: what a measurement beside
// other programs is worth. It includes the collection of garbage.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLoop is a loop over ten rows at a real server, with and without the cache.
func BenchmarkLoop(b *testing.B) {
	for _, cached := range []bool{false, true} {
		b.Run(fmt.Sprintf("cached=%v", cached), func(b *testing.B) {
			c, pool, direct := itemCache(b, "loop", 64<<20, true)
			for i := 3; i <= 10; i++ {
				if _, err := direct.Exec("INSERT INTO item (id, name) VALUES (?, 'a name')", i); err != nil {
					b.Fatal(err)
				}
			}
			c.plan, _ = compile(loopPlan())
			if !cached {
				pool = direct
			}
			b.ReportAllocs()
			for b.Loop() {
				c.Flush()
				rows, err := pool.Query(benchParent)
				if err != nil {
					b.Fatal(err)
				}
				var ids []int
				for rows.Next() {
					var id int
					if err := rows.Scan(&id); err != nil {
						b.Fatal(err)
					}
					ids = append(ids, id)
				}
				for _, id := range ids {
					var name []byte
					if err := pool.QueryRow(benchChild, id).Scan(&id, &name); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
