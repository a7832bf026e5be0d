package facts

import (
	"testing"

	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// TestIndexPartExpression reads rows in the form of MySQL 8 for
// KEY lower_email ((lower(email)), id): COLUMN_NAME is NULL.
func TestIndexPartExpression(t *testing.T) {
	tab := SizedTable{Size: catalog.TableSize{Distinct: map[string]float64{}}}
	row := map[string]string{"index_name": "lower_email", "index_type": "BTREE", "non_unique": "1", "collation": "A", "is_visible": "YES"}
	for seq, more := range []map[string]string{
		{"seq_in_index": "1", "column_name": "", "expression": "lower(`email`)", "cardinality": "900"},
		{"seq_in_index": "2", "column_name": "id", "cardinality": "1000"},
	} {
		for k, v := range row {
			more[k] = v
		}
		tab.indexPart(more)
		if n := len(tab.Indexes); n != 1 || len(tab.Indexes[0].Parts) != seq+1 {
			t.Fatalf("%+v after row %d", tab.Indexes, seq+1)
		}
	}
	if p := tab.Indexes[0].Parts; p[0].Column != "" || p[1].Column != "id" {
		t.Errorf("parts %+v, want an expression and id", p)
	}
	if len(tab.Size.Distinct) != 0 {
		t.Errorf("distinct values %v: the expression's are not those of a column", tab.Size.Distinct)
	}
}
