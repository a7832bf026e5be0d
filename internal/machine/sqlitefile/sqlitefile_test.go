package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/machine/host"
)

const schema = `
CREATE TABLE player (id VARCHAR(255) NOT NULL PRIMARY KEY, tenant_id BIGINT NOT NULL, name TEXT NOT NULL);
CREATE TABLE score (id INTEGER PRIMARY KEY, player_id VARCHAR(255) NOT NULL REFERENCES player (id), competition_id TEXT NOT NULL, points BIGINT, row_num BIGINT NOT NULL);
CREATE INDEX by_player ON score (player_id, row_num DESC);
CREATE TABLE kv (k TEXT, n INT, v BLOB, PRIMARY KEY (k, n)) WITHOUT ROWID;
`

// write makes a database file by another connection, as an app does.
func write(t testing.TB, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

// fill adds scores: players in 10 competitions.
func fill(t testing.TB, db *sql.DB, rows int) {
	t.Helper()
	_, err := db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ?)
		INSERT INTO score (player_id, competition_id, points, row_num) SELECT 'p' || (i % 500), 'c' || (i % 10), i % 100, i FROM n`, rows)
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) *Reader {
	t.Helper()
	r, err := Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestGroups(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1.db"), schema)
	fill(t, write(t, filepath.Join(dir, "2.db"), "PRAGMA journal_mode = WAL", schema), 1000)
	write(t, filepath.Join(dir, "other.db"), "CREATE TABLE x (a INT)")
	write(t, filepath.Join(dir, "empty.db"), "PRAGMA user_version = 0")
	for name, text := range map[string]string{"1.lock": "", "notes.txt": "SQLite format 3 is not in this file", "short.db": "SQLite format 3\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "1.db"), filepath.Join(dir, "link.db")); err != nil {
		t.Fatal(err)
	}
	files, err := Find(t.Context(), host.Local{}, dir, filepath.Join(dir, "missing"))
	if err != nil {
		t.Fatal(err)
	}
	groups, failed := Groups(t.Context(), files)
	if len(failed) > 0 || len(groups) != 2 {
		t.Fatalf("%d groups, failed %v", len(groups), failed)
	}
	g := groups[0]
	base := filepath.Base(dir)
	if g.Name != base || len(g.Files) != 2 || g.Largest().Path != filepath.Join(dir, "2.db") || !g.Files[1].WAL || g.Files[0].WAL || g.Files[0].PageSize != 4096 {
		t.Errorf("the group of the tenants: %+v", g)
	}
	if groups[1].Name != base+"-other" || groups[1].Tables[0].Schema != base+"-other" {
		t.Errorf("the other group: %+v", groups[1])
	}
	if _, err := Read(t.Context(), filepath.Join(dir, "link.db")); err == nil || !strings.Contains(err.Error(), ErrNotPlain.Error()) {
		t.Errorf("a link: %v", err)
	}
}

func TestTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b%?#.db")
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23", " ", "%20").Replace(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(schema + "CREATE INDEX some ON score (points) WHERE points > 5; CREATE INDEX lower ON player (lower(name));"); err != nil {
		t.Fatal(err)
	}
	all, err := read(t, path).Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, x := range all {
		got.WriteString(Definition(x))
	}
	want := `table kv (without rowid)
  column k text nullable=false generated=false
  column n int nullable=false generated=false
  column v blob nullable=true generated=false
  index sqlite_autoindex_kv_1 (k, n) btree unique=true primary=true
table player (rowid)
  column id varchar(255) nullable=false generated=false
  column tenant_id bigint nullable=false generated=false
  column name text nullable=false generated=false
  index lower () CREATE INDEX lower ON player (lower(name)) unique=false primary=false
  index sqlite_autoindex_player_1 (id) btree unique=true primary=false
table score (rowid)
  column id integer nullable=true generated=false
  column player_id varchar(255) nullable=false generated=false
  column competition_id text nullable=false generated=false
  column points bigint nullable=true generated=false
  column row_num bigint nullable=false generated=false
  index by_player (player_id, row_num DESC) btree unique=false primary=false
  index rowid (id) btree unique=true primary=true
  index some (points) CREATE INDEX some ON score (points) WHERE points > 5 unique=false primary=false
  foreign key (player_id) references player (id)
`
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
	for _, c := range all[1].Columns {
		if c.Long() {
			t.Errorf("column %s cannot be indexed as a whole", c.Name)
		}
	}
}

func TestSample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.db")
	fill(t, write(t, path, schema), 60_000)
	r := read(t, path)
	all, err := r.Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	score := all[2]
	rows, err := r.Rows(t.Context(), score)
	if err != nil || rows != 60_000 {
		t.Errorf("%d rows, %v", rows, err)
	}
	distinct, shares, err := r.Sample(t.Context(), score, rows, []string{"competition_id", "row_num", "player_id"}, []string{"`competition_id` = 'c3'", "no_such = 1"})
	if err != nil {
		t.Fatal(err)
	}
	for col, want := range map[string][2]float64{"competition_id": {9, 13}, "row_num": {59_000, 61_000}, "player_id": {400, 800}} {
		if d := distinct[col]; d < want[0] || d > want[1] {
			t.Errorf("%s has %.0f distinct values, want %v", col, d, want)
		}
	}
	if s := shares["`competition_id` = 'c3'"]; len(shares) != 1 || s < 0.09 || s > 0.11 {
		t.Errorf("shares %v", shares)
	}
	if sizes := r.Sizes(t.Context()); sizes["score"] < 1_000_000 || sizes["by_player"] < 500_000 {
		t.Errorf("sizes %v", sizes)
	}
}

func TestExplain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.db")
	write(t, path, schema)
	r := read(t, path)
	for _, c := range []struct {
		sql  string
		want catalog.QueryPlan
	}{
		{"SELECT * FROM score WHERE competition_id = ? AND points > 3 ORDER BY row_num /* args: [\"?\"] */",
			catalog.QueryPlan{Sort: true, Steps: []catalog.QueryStep{{Table: "score", Access: "ALL"}}}},
		{"SELECT row_num FROM score WHERE player_id = '?' AND row_num < ?;",
			catalog.QueryPlan{Steps: []catalog.QueryStep{{Table: "score", Access: "range", Key: "by_player", KeyParts: []string{"player_id", "row_num"}, Covering: true}}}},
		{"SELECT DISTINCT points FROM score s JOIN player p ON p.id = s.player_id",
			catalog.QueryPlan{Temp: true, Steps: []catalog.QueryStep{{Table: "s", Access: "ALL"},
				{Table: "p", Access: "ref", Key: "sqlite_autoindex_player_1", KeyParts: []string{"id"}, Covering: true}}}},
		{"UPDATE score SET points = 1 WHERE id = 3",
			catalog.QueryPlan{Steps: []catalog.QueryStep{{Table: "score", Access: "eq_ref", Key: "primary key"}}}},
	} {
		got, err := r.Explain(t.Context(), c.sql)
		c.want.SQL = c.sql
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n%+v, %v\nwant\n%+v", c.sql, got, err, c.want)
		}
	}
	for _, bad := range []string{"DELETE FROM score; DROP TABLE score", "ATTACH 'x' AS y", "VACUUM", "SELECT * FROM nothing"} {
		if _, err := r.Explain(t.Context(), bad); err == nil {
			t.Errorf("%s was planned", bad)
		}
	}
}

// TestReadsBesideWriter reads while another connection writes, in both journal modes:
// the writer is never refused, and the reader sees whole transactions.
func TestReadsBesideWriter(t *testing.T) {
	for _, journal := range []string{"DELETE", "WAL"} {
		t.Run(journal, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "1.db")
			db := write(t, path, "PRAGMA journal_mode = "+journal, schema)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			wrote := make(chan error, 1)
			go func() {
				var err error
				for ctx.Err() == nil && err == nil {
					_, err = db.Exec("INSERT INTO score (player_id, competition_id, row_num) VALUES ('a', 'b', 1), ('a', 'b', 2)")
				}
				wrote <- err
			}()
			reads := 0
			for ctx.Err() == nil || reads == 0 {
				def, err := TableIn(t.Context(), path, "score")
				if err != nil || !strings.Contains(def, "index by_player") {
					t.Fatalf("%q, %v", def, err)
				}
				reads++
			}
			if err := <-wrote; err != nil {
				t.Errorf("the app's write: %v", err)
			}
			if reads == 0 {
				t.Error("the reader never got its lock")
			}
		})
	}
}

func TestAlter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.db")
	db := write(t, path, schema)
	fill(t, db, 1000)
	before, err := TableIn(t.Context(), path, "score")
	if err != nil {
		t.Fatal(err)
	}
	create, err := Created(t.Context(), path, "score")
	if err != nil || len(create) != 2 {
		t.Fatalf("%q, %v", create, err)
	}
	add := CreateIndex("by_competition", "score", Columns([]catalog.IndexPart{{Column: "competition_id"}, {Column: "points", Desc: true}}))
	was, is, err := Trial(t.Context(), "score", create, []string{add})
	if err != nil || Definition(was) != before {
		t.Fatalf("the trial's table\n%s\n%v", Definition(was), err)
	}
	a := Alteration{Table: "score", Statements: []string{add},
		Before: func(d string) bool { return d == before }, After: func(d string) bool { return d == Definition(is) }}
	for range 2 { // the second time there is nothing to do
		if err := Alter(t.Context(), path, a); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := TableIn(t.Context(), path, "score"); err != nil || now != Definition(is) || !strings.Contains(now, "index by_competition (competition_id, points DESC)") {
		t.Errorf("after it:\n%s\n%v", now, err)
	}
	if _, err := db.Exec("CREATE INDEX by_hand ON score (row_num)"); err != nil {
		t.Fatal(err)
	}
	if err := Alter(t.Context(), path, a); err == nil || !strings.Contains(err.Error(), ErrForeign.Error()) {
		t.Errorf("a table edited since: %v", err)
	}
	a.Before, a.Statements = func(string) bool { return true }, []string{"CREATE INDEX other ON score (points)"}
	foreign, _ := TableIn(t.Context(), path, "score")
	if err := Alter(t.Context(), path, a); err == nil {
		t.Error("statements that make another table were committed")
	}
	if now, _ := TableIn(t.Context(), path, "score"); now != foreign {
		t.Errorf("a failed alteration left\n%s", now)
	}
	if err := Alter(t.Context(), path+".gone", a); err != nil {
		t.Errorf("a file that was removed: %v", err)
	}
}

func BenchmarkCreateIndex(b *testing.B) {
	path := filepath.Join(b.TempDir(), "1.db")
	db := write(b, path, schema)
	fill(b, db, 300_000)
	for b.Loop() {
		for i, s := range []string{"CREATE INDEX x ON score (competition_id, player_id, row_num DESC)", "DROP INDEX x"} {
			began := time.Now()
			if _, err := db.Exec(s); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(time.Since(began).Milliseconds()), fmt.Sprintf("ms-%d", i))
		}
	}
}
