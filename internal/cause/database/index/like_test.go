package index_test

import (
	"testing"

	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// TestBuiltPatterns: a pattern that CONCAT builds is a search for a prefix only if it can
// begin with text; one that begins with a wildcard is a search that no index serves.
func TestBuiltPatterns(t *testing.T) {
	s := index.NewSchema(catalog.Dialect{Product: "mariadb", Major: 10, Minor: 11})
	s.Add(catalog.Table{Schema: "app", Name: "book", Columns: []catalog.Column{{Name: "id", Type: "int", Width: 4}, {Name: "title", Type: "varchar(80)", Width: 322}},
		Indexes: []catalog.Index{{Name: "PRIMARY", Kind: "btree", Unique: true, Primary: true, Parts: []catalog.IndexPart{{Column: "id"}}}}}, catalog.TableSize{Rows: 50_000})
	for pattern, prefix := range map[string]bool{
		"'%sea%'":                 false,
		"CONCAT('%', 'sea', '%')": false,
		"concat(('_'), 'sea')":    false,
		"CONCAT('sea', '%')":      true,
		"CONCAT('%s', @word)":     false,
		"CONCAT('s', @word, '%')": true,
		"CONCAT(@word, '%')":      true, // the word is not known
		"CONCAT('', '%', 'sea')":  true, // likewise
		"LOWER('SEA%')":           true,
	} {
		w := index.Workload{Queries: []index.Query{{SQL: "SELECT id, title FROM book WHERE title LIKE " + pattern, DB: "app", Count: 1000, Seconds: 30, Examined: 5e7, Sent: 1000}}}
		a := s.Advise(w)
		wildcard := false
		for _, m := range a.Marks {
			wildcard = wildcard || m.Obstacle == "wildcard"
		}
		if wildcard == prefix {
			t.Errorf("%s: a wildcard: %v", pattern, wildcard)
		}
	}
}
