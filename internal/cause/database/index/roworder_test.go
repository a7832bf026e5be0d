package index_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/cause/database/index/indextest"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
	"github.com/pingcap/tidb/pkg/parser"
)

// orderTables are a table without a primary key and one with it, of the same columns.
const orderTables = `CREATE TABLE visit (ward INT NOT NULL, bed INT NOT NULL, nurse VARCHAR(20) NOT NULL, at INT NOT NULL);
CREATE TABLE loan (ward INT NOT NULL, bed INT NOT NULL, nurse VARCHAR(20) NOT NULL, at INT NOT NULL, id INT PRIMARY KEY)`

// orderStatements leave the order of rows to the server in different ways; T is the table.
var orderStatements = []string{
	"SELECT ward, bed, nurse, at FROM T WHERE ward = 3",
	"SELECT ward, bed, nurse, at FROM T WHERE ward = 3 AND bed = 2",
	"SELECT ward, bed, nurse, at FROM T WHERE ward = 3 AND nurse IN ('n1', 'n2')",
	"SELECT ward, bed, nurse, at FROM T WHERE ward = 3 AND at > 9900",
	"SELECT ward, bed, nurse, at FROM T WHERE nurse = 'n1' AND ward = 3 AND bed = 1",
	"SELECT ward, bed, nurse, at FROM T WHERE ward = 3 LIMIT 1",
	"SELECT ward, bed, nurse, at FROM T WHERE ward = 3 ORDER BY bed LIMIT 7",
	"SELECT ward, bed, nurse, at FROM T WHERE ward = 3 OR bed = 1",
	"SELECT bed FROM T ",
	"SELECT DISTINCT nurse FROM T ",
	"SELECT nurse, COUNT(*) FROM T GROUP BY nurse",
	"SELECT ward, bed, nurse, at FROM T WHERE ward + 0 = 3",
	"SELECT a.at, b.at FROM T a JOIN T b ON b.at = a.at WHERE a.ward = 3 AND a.bed = 2",
}

// orderIndexes are indexes that may be added.
var orderIndexes = []string{"ward", "bed", "nurse", "at", "ward, bed", "ward, nurse", "ward, at", "bed, ward", "nurse, ward, bed", "ward, bed, nurse, at"}

// TestRowOrder: on a real server, no index that is said to keep the order of a statement's
// rows changes what the statement sends; those that may change it often do.
func TestRowOrder(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	srv, err := factstest.Start(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	db, err := srv.Open(ctx, "hospital")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(sql string) {
		if _, err := db.ExecContext(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for statement := range strings.SplitSeq(orderTables, ";") {
		exec(statement)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var values []string
	for i := range 4000 {
		values = append(values, fmt.Sprintf("(%d, %d, 'n%d', %d)", r.IntN(20), r.IntN(5), r.IntN(8), 10_000-i))
	}
	exec("INSERT INTO visit VALUES " + strings.Join(values, ","))
	exec("INSERT INTO loan SELECT *, (at * 7919) % 10007 FROM visit")

	s := index.NewSchema(catalog.Dialect{Product: "mariadb", Major: 10, Minor: 11})
	for _, table := range indextest.Tables(t, orderTables) {
		s.Add(table, catalog.TableSize{Rows: 4000})
	}
	kept, changed, warned := 0, 0, 0
	for _, table := range s.Tables {
		for _, columns := range orderIndexes {
			ix := catalog.Index{Name: "x", Kind: "btree"}
			for c := range strings.SplitSeq(columns, ", ") {
				ix.Parts = append(ix.Parts, catalog.IndexPart{Column: c})
			}
			var before []string
			for _, text := range orderStatements {
				before = append(before, answer(ctx, t, db, strings.ReplaceAll(text, " T ", " "+table.Name+" ")))
			}
			exec("ALTER TABLE " + table.Name + " ADD INDEX x (" + columns + ")")
			exec("ANALYZE TABLE " + table.Name)
			for i, text := range orderStatements {
				text = strings.ReplaceAll(text, " T ", " "+table.Name+" ")
				st, err := s.Parse(parser.New(), text, "app")
				if err != nil {
					t.Fatal(err)
				}
				may, differs := !st.Sorted() && st.MayReorder(table, ix), answer(ctx, t, db, text) != before[i]
				switch {
				case differs && !may:
					t.Errorf("%s: an index on (%s) changes the rows", text, columns)
				case differs:
					changed++
				case may:
					warned++
				default:
					kept++
				}
			}
			exec("ALTER TABLE " + table.Name + " DROP INDEX x")
		}
	}
	t.Logf("%d kept the order, %d changed it, of %d it was said in vain", kept, changed, warned)
	if kept < 50 || changed < 30 {
		t.Errorf("%d kept the order and %d changed it: the test proves too little", kept, changed)
	}
}

// answer is what a statement sends, in the order in which it comes.
func answer(ctx context.Context, t *testing.T, db *sql.DB, statement string) string {
	t.Helper()
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	row := make([]any, len(names))
	for i := range row {
		row[i] = new(string)
	}
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			t.Fatal(err)
		}
		for _, v := range row {
			out.WriteString(*v.(*string) + " ")
		}
		out.WriteString("\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
