package cause_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestCutInserts checks that the writes of an INSERT are known if it is cut off
// anywhere after VALUES. An INSERT that is cut off before is reported as unread.
func TestCutInserts(t *testing.T) {
	whole := "INSERT INTO `log``s` (`a`, `values`) /* ( ' */ VALUES (1, 'it''s (\\') '), (2, \"x), (\"), (3, NOW()) ON DUPLICATE KEY UPDATE a = VALUES(a)"
	s := index.NewSchema(catalog.Dialect{Product: "mariadb", Major: 10, Minor: 11})
	behind := strings.Index(whole, "VALUES") + len("VALUE") // VALUE is a synonym
	for i := range len(whole) {
		for _, mark := range []string{"", " …", "..."} {
			w := index.Workload{Queries: []index.Query{{SQL: whole[:i] + mark, DB: "app"}}}
			unread := len(s.Unread(w)) > 0
			if unread != (i < behind) {
				t.Errorf("%s%s: unread %v", whole[:i], mark, unread)
			}
		}
	}
	for _, sql := range []string{"SELECT * FROM a WHERE b IN ('values (1), (…", "UPDATE a SET values (1), (2", "INSERT INTO a SELECT 'values (", "insert"} {
		if len(s.Unread(index.Workload{Queries: []index.Query{{SQL: sql}}})) != 1 {
			t.Errorf("%s is read", sql)
		}
	}
}

// TestLongInsert makes a real server log one INSERT of many rows and one of a large
// picture, both longer than the kept part of an example. Both are analysed and
// count as writes to their tables, so that the unused index is reported.
func TestLongInsert(t *testing.T) {
	tier.Slow(t)
	ctx := t.Context()
	srv, err := factstest.Start(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	db, err := srv.Open(ctx, "long")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	log := filepath.Join(t.TempDir(), "slow.log")
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(ctx, sql, args...); err != nil {
			t.Fatalf("%.80s: %v", sql, err)
		}
	}
	exec("CREATE TABLE entry (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, body MEDIUMBLOB NOT NULL, KEY unused (name))")
	exec("SET GLOBAL slow_query_log_file = '" + log + "'; SET GLOBAL long_query_time = 0; SET SESSION long_query_time = 0; SET GLOBAL slow_query_log = 1; SET SESSION slow_query_log = 1")
	rows := make([]string, 900)
	for i := range rows {
		rows[i] = fmt.Sprintf("('o\\'clock %d', 'body; (%d) of it')", i, i)
	}
	for range 20 {
		exec("INSERT INTO entry (name, body) VALUES " + strings.Join(rows, ", "))
		exec("INSERT INTO entry (name, body) VALUES (?, ?)", "picture", []byte(strings.Repeat("\x00\xff'\\(", 10_000)))
		exec("SELECT body FROM entry WHERE id = 1")
	}
	exec("SET GLOBAL slow_query_log = 0; FLUSH SLOW LOGS")
	in, err := lines.Open(log, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p, err := slowlog.Read(ctx, []*lines.Input{in}, slowlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for i, r := range p.Rows {
		if strings.HasSuffix(r.Example.Text, "…") {
			cut++
			p.Rows[i].Count *= 1000 // a run sends more of them
		}
	}
	if info, err := os.Stat(log); err != nil || cut == 0 {
		t.Fatalf("no statement is cut off, the test would prove nothing: %+v, %v, %v", p.Rows, info, err)
	}
	key := func(name, column string, primary bool) catalog.Index {
		return catalog.Index{Name: name, Kind: "btree", Unique: primary, Primary: primary, Parts: []catalog.IndexPart{{Column: column}}}
	}
	table := catalog.Table{Schema: "long", Name: "entry", Engine: "InnoDB", Columns: []catalog.Column{{Name: "id", Type: "int(11)", Width: 4}, {Name: "name", Type: "varchar(40)", Width: 162}, {Name: "body", Type: "mediumblob"}},
		Indexes: []catalog.Index{key("PRIMARY", "id", true), key("unused", "name", false)}}
	input := cause.Input{Profiles: []iikanji.Profile{*p}, Facts: []iikanji.Fact{factOf(string(fact.TopicTable), "long.entry", table), factOf(string(fact.TopicSize), "long.entry", catalog.TableSize{Rows: 18_020})}}
	s, err := index.ReadSchema(input.Facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range s.Unread(index.WorkloadOf(input.Profiles)) {
		if strings.HasPrefix(strings.ToLower(u.Query.SQL), "insert") {
			t.Errorf("%.80s … %.40s is not read: %v", u.Query.SQL, u.Query.SQL[max(0, len(u.Query.SQL)-40):], u.Err)
		}
	}
	if f, ok := found(t, input, "DB104"); !ok || f.Where != "long.entry unused" {
		t.Errorf("the writes of long statements do not count: %v %+v", ok, f)
	}
}
