package index_test

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// searchSchema has a table of flats that is searched by conditions.
func searchSchema() *index.Schema {
	s := index.NewSchema(catalog.Dialect{Product: "mariadb", Major: 10, Minor: 11})
	columns := []catalog.Column{{Name: "id", Type: "int", Width: 4}, {Name: "title", Type: "varchar(4000)", Width: 16000}, {Name: "notes", Type: "text", Width: 65535}}
	for _, name := range []string{"cost", "floor", "size", "fame"} {
		columns = append(columns, catalog.Column{Name: name, Type: "int", Width: 4})
	}
	s.Add(catalog.Table{Schema: "app", Name: "flat", Columns: columns,
		Indexes: []catalog.Index{{Name: "PRIMARY", Kind: "btree", Unique: true, Primary: true, Parts: []catalog.IndexPart{{Column: "id"}}}}},
		catalog.TableSize{Rows: 30_000, Data: 12_000_000, Distinct: map[string]float64{"id": 30_000, "cost": 5000, "floor": 40, "size": 200, "fame": 20_000}})
	return s
}

// counts are counts of flats by conditions.
func counts(conditions ...string) (out []index.Query) {
	for _, c := range conditions {
		out = append(out, index.Query{SQL: "SELECT COUNT(*) FROM flat WHERE " + c, DB: "app", Count: 100, Seconds: 1, Examined: 3e6, Sent: 100})
	}
	return out
}

// gathered are the columns of the proposals that contain the columns of all counts.
func gathered(a index.Advice) (out [][]string) {
	for _, p := range a.Add {
		if p.Gathers {
			var cols []string
			for _, part := range p.Index.Parts {
				cols = append(cols, part.Column)
			}
			out = append(out, cols)
		}
	}
	return out
}

// TestGather: counts by different columns get one index with all of them. It begins
// with the index of a sorted list, and replaces it.
func TestGather(t *testing.T) {
	cheapest := index.Query{SQL: "SELECT * FROM flat ORDER BY cost ASC, id ASC LIMIT 20", DB: "app", Count: 300, Seconds: 3, Examined: 9e6, Sent: 6000}
	forms := counts("cost >= 10 AND cost < 20", "floor >= 3 AND floor < 5", "size < 90", "cost < 10 AND floor >= 9")
	a := searchSchema().Advise(index.Workload{Queries: append(slices.Clone(forms), cheapest)})
	if got := gathered(a); len(got) != 1 || len(got[0]) != 4 || got[0][0] != "cost" || got[0][1] != "id" || !slices.Contains(got[0], "floor") || !slices.Contains(got[0], "size") {
		t.Errorf("gathered: %v; want one index on cost, id, and floor and size", got)
	}
	for _, p := range a.Add {
		if !p.Gathers && p.Index.Parts[0].Column == "cost" {
			t.Errorf("an index on cost besides: %v", p.Index.Parts)
		}
	}
	a = searchSchema().Advise(index.Workload{Queries: forms})
	if got := gathered(a); len(got) != 1 || len(got[0]) != 3 || slices.Contains(got[0], "id") {
		t.Errorf("without a list, gathered: %v; want one index on cost, floor and size", got)
	}
}

// TestGatherNothing: workloads that look alike but need no index of all columns.
func TestGatherNothing(t *testing.T) {
	for name, queries := range map[string][]index.Query{
		"two forms":               counts("cost < 10", "floor < 3"),
		"one form, other values":  counts("cost < 10", "cost < 20", "cost >= 30"),
		"one form has them all":   counts("cost < 10", "cost < 10 AND floor > 3", "cost < 10 AND floor > 3 AND size < 9"),
		"no index can serve them": counts("notes = 'a'", "title LIKE '%a%'", "cost + 1 > floor", "size MOD 7 = 1"),
		"lists, and no counts": {
			{SQL: "SELECT * FROM flat WHERE cost < 10", DB: "app", Count: 100, Seconds: 1},
			{SQL: "SELECT * FROM flat WHERE floor < 3", DB: "app", Count: 100, Seconds: 1},
			{SQL: "SELECT * FROM flat WHERE size < 9", DB: "app", Count: 100, Seconds: 1},
		},
		"by group": {
			{SQL: "SELECT COUNT(*) FROM flat WHERE cost < 10 GROUP BY fame", DB: "app", Count: 100, Seconds: 1},
			{SQL: "SELECT COUNT(*) FROM flat WHERE floor < 3 GROUP BY fame", DB: "app", Count: 100, Seconds: 1},
			{SQL: "SELECT COUNT(*) FROM flat WHERE size < 9 GROUP BY fame", DB: "app", Count: 100, Seconds: 1},
		},
	} {
		if got := gathered(searchSchema().Advise(index.Workload{Queries: queries})); len(got) > 0 {
			t.Errorf("%s: gathered %v; want nothing", name, got)
		}
	}
	// A table that is written far more often than it is counted.
	w := index.Workload{Queries: counts("cost >= 10 AND cost < 20", "floor >= 3 AND floor < 5", "size < 90"), Writes: map[string]float64{"app.flat": 5e6}}
	if got := gathered(searchSchema().Advise(w)); len(got) > 0 {
		t.Errorf("many writes: gathered %v; want nothing", got)
	}
}
