package index_test

import (
	"fmt"
	"testing"

	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// BenchmarkAdvise advises a workload of 240 digests over 12 tables, as a
// large contest app has them.
func BenchmarkAdvise(b *testing.B) {
	s := index.NewSchema(catalog.Dialect{Product: "mariadb", Major: 10, Minor: 11})
	var w index.Workload
	for i := range 12 {
		name := fmt.Sprintf("t%d", i)
		var columns []catalog.Column
		distinct := map[string]float64{}
		for j := range 12 {
			c := fmt.Sprintf("c%d", j)
			columns = append(columns, catalog.Column{Name: c, Type: "int", Width: 4})
			distinct[c] = float64(int(10) << j)
		}
		s.Add(catalog.Table{Schema: "app", Name: name, Columns: columns, Indexes: []catalog.Index{
			{Name: "PRIMARY", Kind: "btree", Unique: true, Primary: true, Parts: []catalog.IndexPart{{Column: "c11"}}}}}, catalog.TableSize{Rows: 50000, Distinct: distinct})
		for j := range 10 {
			w.Queries = append(w.Queries,
				index.Query{DB: "app", Count: 100, Seconds: 1, SQL: fmt.Sprintf("SELECT * FROM %s WHERE c%d = 1 AND c%d > 5 ORDER BY c%d DESC LIMIT 10", name, j, (j+3)%11, (j+5)%11)},
				index.Query{DB: "app", Count: 100, Seconds: 1, SQL: fmt.Sprintf("SELECT a.c1, b.c2 FROM %s a JOIN t%d b ON b.c%d = a.c%d WHERE a.c%d IN (1, 2)", name, (i+1)%12, j, (j+1)%11, (j+2)%11)})
		}
	}
	for b.Loop() {
		if a := s.Advise(w); len(a.Unread) > 0 || len(a.Add) == 0 {
			b.Fatal(a.Unread)
		}
	}
	b.ReportMetric(float64(len(w.Queries)), "digests/op")
}
