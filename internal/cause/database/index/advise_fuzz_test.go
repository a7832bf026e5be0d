package index_test

import (
	"testing"

	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// FuzzAdvise checks that no statement makes the advisor panic, hang, or advise an
// index on a column that the table does not have.
func FuzzAdvise(f *testing.F) {
	for _, s := range []string{
		"SELECT * FROM a WHERE x = 1 AND (y = 2 OR z > 3) ORDER BY y DESC, z LIMIT 3",
		"SELECT a.x, COUNT(*) FROM a JOIN b USING (id) LEFT JOIN a c ON c.y = b.x WHERE b.t LIKE 'q%' GROUP BY 1 HAVING COUNT(*) > 2",
		"WITH q AS (SELECT MAX(y) m FROM a GROUP BY x) SELECT * FROM q, b WHERE q.m = b.x AND NOT EXISTS (SELECT 1 FROM a WHERE a.x = b.id)",
		"UPDATE a SET x = x + 1 WHERE z IN (SELECT x FROM b) ORDER BY y LIMIT 1",
		"DELETE FROM b WHERE (id, x) IN ((1, 2), (3, 4)) OR t IS NULL",
		"(SELECT x FROM a) UNION (SELECT id FROM b ORDER BY RAND()) LIMIT 1",
		"INSERT INTO a SELECT * FROM b WHERE ? = x AND DATE(y) <=> '2020-01-01'",
		"INSERT INTO a (x, z) VALUES (1, 'it''s \\'), (2, 'cut …",
		"SELECT DISTINCT x FROM a WHERE y BETWEEN 1 AND 2 AND ST_Contains(?, t)",
	} {
		f.Add(s)
	}
	s := index.NewSchema(catalog.Dialect{Product: "mariadb", Major: 10, Minor: 11})
	columns := []catalog.Column{{Name: "id", Type: "int", Width: 4}, {Name: "x", Type: "int", Width: 4}, {Name: "y", Type: "datetime", Width: 8},
		{Name: "z", Type: "varchar(20)", Width: 82}, {Name: "t", Type: "text"}}
	for _, name := range []string{"a", "b"} {
		s.Add(catalog.Table{Schema: "app", Name: name, Columns: columns, Indexes: []catalog.Index{
			{Name: "PRIMARY", Kind: "btree", Unique: true, Primary: true, Parts: []catalog.IndexPart{{Column: "id"}}},
			{Name: "k", Kind: "btree", Parts: []catalog.IndexPart{{Column: "x"}, {Column: "z", Prefix: 4}}}}}, catalog.TableSize{Rows: 5000})
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if len(sql) > 2000 {
			return
		}
		w := index.Workload{Queries: []index.Query{{SQL: sql, DB: "app", Count: 10, Seconds: 1}}}
		s.Questions(w)
		for _, p := range s.Advise(w).Add {
			seen := map[string]bool{}
			for _, part := range p.Index.Parts {
				if seen[part.Column] || part.Column == "" {
					t.Errorf("%s: index %v", sql, p.Index.Parts)
				}
				seen[part.Column] = true
			}
		}
	})
}
