package cacheplan

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// counting counts the statements that reach a server.
type counting struct {
	driver.Connector
	sent atomic.Int64
}

func (c *counting) Connect(ctx context.Context) (driver.Conn, error) {
	base, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countingConn{base.(fullConn), c}, nil
}

type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.Validator
}

type countingConn struct {
	fullConn
	of *counting
}

func (c *countingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.fullConn.QueryContext(ctx, text, args)
	if err != driver.ErrSkip {
		c.of.sent.Add(1)
	}
	return rows, err
}

func (c *countingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.of.sent.Add(1)
	return c.fullConn.PrepareContext(ctx, text)
}

// everything is all that a caller can see of an answer.
func everything(t *testing.T, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, text string, args ...any) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s with %v: %v", text, args, err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range types {
		null, _ := c.Nullable()
		p, s, _ := c.DecimalSize()
		fmt.Fprintln(&b, c.Name(), c.DatabaseTypeName(), c.ScanType(), null, p, s)
	}
	for rows.Next() {
		values := make([]any, len(types))
		into := make([]any, len(types))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			fmt.Fprintf(&b, "%T %q; ", v, fmt.Sprint(v))
		}
		b.WriteString("\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// loopChildren are children of loops over the answer of loopParent, with the column of the
// parent's answer that has their key and the arguments around the key.
var loopChildren = []struct {
	text, column  string
	before, after []any
}{
	{"SELECT * FROM posts WHERE id = ?", "id", nil, nil},
	{"SELECT id, title FROM posts WHERE user_id = ? ORDER BY id DESC", "id", nil, nil},
	{"SELECT id, title FROM posts WHERE user_id = ? ORDER BY id DESC LIMIT 2", "id", nil, nil},
	{"SELECT title FROM posts WHERE title <> ? AND user_id = ? ORDER BY id LIMIT ?", "id", []any{"t3"}, []any{1}},
	{"SELECT COUNT(*) FROM posts WHERE user_id = ?", "id", nil, nil},
	{"SELECT COUNT(title), COUNT(*) AS n FROM posts WHERE user_id = ? AND id > ?", "id", nil, []any{3}},
	{"SELECT IFNULL(SUM(id), 0) AS total FROM posts WHERE user_id = ?", "id", nil, nil},
	{"SELECT MAX(id), AVG(id) FROM posts WHERE user_id = ?", "id", nil, nil},
	{"SELECT id, name, score, bio FROM users WHERE name = ?", "name", nil, nil},
	{"SELECT score FROM users WHERE name = ? LIMIT 1", "name", nil, nil},
	{"SELECT 1 FROM tags WHERE post_id = ? AND tag = ? LIMIT 1", "id", nil, []any{"go"}},
	{"SELECT id, title FROM posts WHERE user_id = ? AND title IN (?, ?) ORDER BY id", "id", nil, []any{"t1", "t2"}},
	{"SELECT tag FROM tags WHERE tag = ? AND post_id = ?", "id", []any{"go"}, nil},
}

const loopParent = "SELECT id, name FROM users ORDER BY id"

// TestBatchesOnServer: loops over an answer get what the server gives for each child, in all
// that a caller can see, by either protocol, in a transaction and outside, and most children
// are not sent.
func TestBatchesOnServer(t *testing.T) {
	server, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	direct, err := server.Open(t.Context(), "plan")
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	fill := append([]string{}, creates...)
	for i := 1; i <= 40; i++ {
		fill = append(fill, fmt.Sprintf("INSERT INTO users (id, name, score, bio) VALUES (%d, '%s', %d, NULL)", i, []string{"User", "user", "é"}[i%3]+fmt.Sprint(i), i))
	}
	for i := 1; i <= 100; i++ {
		fill = append(fill, fmt.Sprintf("INSERT INTO posts (id, user_id, title) VALUES (%d, %d, 't%d')", i, 1+(i*i)%31, i%7))
		if i%2 == 0 {
			fill = append(fill, fmt.Sprintf("INSERT INTO tags VALUES (%d, 'go'), (%d, 'sql')", i, i))
		}
	}
	for _, text := range fill {
		if _, err := direct.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	texts := []string{loopParent, "UPDATE posts SET title = ? WHERE user_id = ?"}
	for _, c := range loopChildren {
		texts = append(texts, c.text)
	}
	plan, _ := Build(schema(t), texts)
	for _, how := range []struct{ interpolate, inTransaction, written bool }{{true, false, false}, {false, false, false}, {true, true, false}, {false, true, false}, {true, true, true}} {
		t.Run(fmt.Sprintf("%+v", how), func(t *testing.T) {
			c := mysql.NewConfig()
			c.User, c.Net, c.Addr, c.DBName, c.InterpolateParams = "root", "unix", server.Socket, "plan", how.interpolate
			base, err := mysql.NewConnector(c)
			if err != nil {
				t.Fatal(err)
			}
			plain := sql.OpenDB(base)
			defer plain.Close()
			for _, child := range loopChildren {
				cache, err := sqlcache.New(plan, sqlcache.Options{Bytes: 8 << 20, Eager: true}) // also on a busy machine
				if err != nil {
					t.Fatal(err)
				}
				counted := &counting{Connector: base}
				pool := sql.OpenDB(cache.Connector(counted, "plan"))
				defer pool.Close()
				rollback := func() error { return nil }
				var db interface {
					QueryContext(context.Context, string, ...any) (*sql.Rows, error)
				} = pool
				if how.inTransaction {
					tx, err := pool.Begin()
					if err != nil {
						t.Fatal(err)
					}
					rollback = tx.Rollback
					if db = tx; how.written {
						if _, err := tx.Exec("UPDATE posts SET title = title WHERE user_id = ?", 1); err != nil {
							t.Fatal(err)
						}
					}
				}
				for pass := range 2 {
					if how.inTransaction && pass > 0 {
						break
					}
					rows, err := db.QueryContext(t.Context(), loopParent)
					if err != nil {
						t.Fatal(err)
					}
					var ids []int
					var names []string
					for rows.Next() {
						var id int
						var name string
						if err := rows.Scan(&id, &name); err != nil {
							t.Fatal(err)
						}
						ids, names = append(ids, id), append(names, name)
					}
					if err := rows.Err(); err != nil {
						t.Fatal(err)
					}
					for i := range ids {
						args := append([]any{}, child.before...)
						if child.column == "id" {
							args = append(args, ids[i])
						} else {
							args = append(args, names[i])
						}
						args = append(args, child.after...)
						if got, want := everything(t, db, child.text, args...), everything(t, plain, child.text, args...); got != want {
							t.Fatalf("%s with %v, pass %d:\n got %s\nwant %s", child.text, args, pass, got, want)
						}
					}
				}
				if err := rollback(); err != nil {
					t.Fatal(err)
				}
				sent := counted.sent.Load()
				t.Logf("%3d sent for 40 children: %s", sent, child.text)
				most := int64(22) // texts beyond ASCII are asked for one by one
				if how.written {
					most = 1000
				}
				if sent > most {
					t.Errorf("%d statements were sent: %s: %+v", sent, child.text, cache.Stats().Batches)
				}
			}
		})
	}
}
