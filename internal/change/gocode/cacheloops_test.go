package gocode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// loopsMain lists rooms with their owner, their newest message and the number of their
// messages, in a form of source that no rewrite of loops knows: keys are texts, helpers
// return pointers, an error is written before the return, and the pool is opened by a
// connector.
const loopsMain = `package main

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/go-sql-driver/mysql"
)

type owner struct{ Name string }

type message struct {
	Body string
	At   int
}

var db *sql.DB

func fail(w io.Writer, code int, err error) { fmt.Fprintln(w, code, err) }

func findOwner(id string) (*owner, error) {
	o := new(owner)
	err := db.QueryRow("SELECT name FROM owner WHERE id = ?", id).Scan(&o.Name)
	return o, err
}

func newest(room string) (*message, error) {
	m := &message{}
	err := db.QueryRow("SELECT body, at FROM message WHERE room = ? ORDER BY at DESC LIMIT 1", room).Scan(&m.Body, &m.At)
	if err == sql.ErrNoRows {
		return nil, nil
	}
	return m, err
}

func list(w io.Writer) {
	if _, err := db.Exec("UPDATE message SET at = at"); err != nil { // what is kept of messages ends
		fail(w, 500, err)
		return
	}
	rows, err := db.Query("SELECT id, owner_id FROM room ORDER BY id")
	if err != nil {
		fail(w, 500, err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var id, by string
		if err = rows.Scan(&id, &by); err != nil {
			fail(w, 500, err)
			return
		}
		o, err := findOwner(by)
		if err != nil {
			fail(w, 500, err)
			return
		}
		m, err := newest(id)
		if err != nil {
			fail(w, 500, err)
			return
		}
		n := 0
		if err = db.QueryRow("SELECT COUNT(*) FROM message WHERE room = ?", id).Scan(&n); err != nil {
			fail(w, 500, err)
			return
		}
		fmt.Fprintln(w, id, *o, n)
		if m != nil {
			fmt.Fprintln(w, *m)
		}
	}
}

func main() {
	config, err := mysql.ParseDSN(os.Getenv("DSN"))
	if err != nil {
		panic(err)
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		panic(err)
	}
	db = sql.OpenDB(connector)
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		list(c)
		c.Close()
	}
}
`

// roomTables have 40 rooms, most of them with messages.
func roomTables() (out []string) {
	out = []string{
		"CREATE TABLE owner (id CHAR(26) PRIMARY KEY, name VARCHAR(40) NOT NULL)",
		"CREATE TABLE room (id CHAR(26) PRIMARY KEY, owner_id CHAR(26) NOT NULL)",
		"CREATE TABLE message (id BIGINT AUTO_INCREMENT PRIMARY KEY, room CHAR(26) NOT NULL, body VARCHAR(80) NOT NULL, at INT NOT NULL, KEY (room, at))",
	}
	for i := range 40 {
		id := fmt.Sprintf("01HZX%021d", i)
		out = append(out, fmt.Sprintf("INSERT INTO owner VALUES ('%s', 'name %d')", id, i), fmt.Sprintf("INSERT INTO room VALUES ('%s', '01HZX%021d')", id, i*7%40))
		for j := range i % 5 {
			out = append(out, fmt.Sprintf("INSERT INTO message (room, body, at) VALUES ('%s', 'body %d', %d)", id, j, 100*i+j))
		}
	}
	return out
}

// TestCacheLoops: the loops of an app whose go.mod says 1.13 are read ahead, by the change
// alone; its answers stay.
func TestCacheLoops(t *testing.T) {
	tier.Slow(t)
	db, dsn := siteDatabase(t, roomTables()...)
	sum, err := os.ReadFile(filepath.Join("../../rewrite/testdata/apps/chi", "go.sum.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"main.go": loopsMain, "go.sum": string(sum),
		"go.mod": "module rooms\n\ngo 1.26.0\n\nrequire github.com/go-sql-driver/mysql v1.10.0\n\nrequire filippo.io/edwards25519 v1.2.0 // indirect\n"}
	a := cachedApp{testApp{changetest.NewApp(t, files, "DSN="+dsn)}, db}
	ask := func() (string, int) {
		t.Helper()
		n := a.selects(t)
		got, err := a.Ask()
		if err != nil || !strings.Contains(got, "{body 3 ") || strings.Contains(got, "500") {
			t.Fatalf("%q, %v", got, err)
		}
		return got, a.selects(t) - n
	}
	ask()
	want, before := ask()
	site := a.site()
	site.Target.Policy.Allow = []iikanji.Promise{iikanji.TestedOnly, iikanji.RowOrder}
	planned, err := change.Plan(t.Context(), site, cacheRemedy)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(planned.Says, "read the rows of 3 of them ahead where a loop sends them") {
		t.Errorf("%s", planned.Says)
	}
	applyPlanned(t, site, a.Dir, planned)
	table, err := os.ReadFile(a.Source("sqlcache/app_plan.go"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(table), `{Text: "SELECT id , owner_id FROM room ORDER BY id", Column: "", Place: "main.go:`); n < 3 {
		t.Errorf("the plan shows %d parents of children:\n%s", n, table)
	}
	got, after := "", before
	for range 20 { // the first batches are small; on a busy machine they stay so for longer
		if got, after = ask(); got != want {
			t.Errorf("with the cache:\n%s\nwant\n%s", got, want)
		}
		if after <= 4 {
			break
		}
	}
	t.Logf("%d SELECTs without the cache; with it %d", before, after)
	if got != want || before < 121 || after > 4 {
		t.Errorf("%d SELECTs without the cache, %d with it:\n%s\nwant\n%s", before, after, got, want)
	}
}
