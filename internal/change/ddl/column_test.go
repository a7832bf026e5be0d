package ddl

import (
	"errors"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestColumn: a computed column has its values in the rows of the table, in the rows
// that initialize loads and in later ones, is used by its index, and is not seen by
// SELECT * and by an INSERT without columns. Reverts restore table and file to the byte.
func TestColumn(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	a := newActs(t, s.open(s.dir))
	untouched, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(query string) (got string) {
		t.Helper()
		if err := s.db.QueryRow(query).Scan(&got); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return got
	}
	part := change.IntoSchemaFile(remedy("add column", "isu_condition", "name", "part", "type", "tinyint",
		"as", "CASE WHEN minute(timestamp) < 5 THEN 0 WHEN minute(timestamp) < 10 THEN 1 ELSE 2 END", "columns", "part, timestamp DESC, id", "index name", "part"))
	spot := change.IntoSchemaFile(remedy("add column", "isu_condition", "name", "spot", "type", "point", "default", "POINT(minute(timestamp), 1)",
		"columns", "spot", "index", "spatial", "index name", "spot"))
	c := a.apply(part)
	if c.Risk != iikanji.RiskLock {
		t.Errorf("risk %s of a copied table", c.Risk)
	}
	a.apply(spot)
	if _, err := change.Plan(t.Context(), a.site, part); !errors.Is(err, change.ErrNothing) {
		t.Errorf("planned twice: %v", err)
	}
	for range 2 {
		for query, want := range map[string]string{
			"SELECT group_concat(n ORDER BY part) FROM (SELECT part, count(*) n FROM isu_condition GROUP BY part) x":               "200,250,550",
			"SELECT count(*) FROM isu_condition WHERE ST_Contains(ST_PolygonFromText('POLYGON((0 0,3.5 0,3.5 2,0 2,0 0))'), spot)": "150",
			"SELECT count(*) FROM information_schema.COLUMNS WHERE TABLE_NAME = 'isu_condition' AND EXTRA LIKE '%INVISIBLE%'":      "2",
		} {
			if got := ask(query); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		s.initialize(t)
	}
	if _, err := s.db.Exec("INSERT INTO isu_condition VALUES (5000, 'u', '2024-01-01 00:07:00', 'm')"); err != nil {
		t.Fatal(err)
	}
	if got := ask("SELECT concat(part, ST_X(spot)) FROM isu_condition WHERE id = 5000"); got != "17" {
		t.Errorf("the columns of a new row are %s", got)
	}
	if got := ask("EXPLAIN FORMAT=JSON SELECT id FROM isu_condition WHERE part = 1 ORDER BY timestamp DESC, id LIMIT 3"); !strings.Contains(got, `"key": "part"`) {
		t.Errorf("the index is not used: %s", got)
	}
	if done, err := a.x.RevertAll(t.Context(), "test"); err != nil || len(done) != 2 {
		t.Fatalf("reverted %v: %v", done, err)
	}
	s.initialize(t)
	if now, err := s.state(); err != nil || now != untouched {
		t.Errorf("%v\n%s\nwant\n%s", err, now, untouched)
	}
}

// TestOneExpression: what could end the brackets around an expression, or hide what
// follows them, is refused.
func TestOneExpression(t *testing.T) {
	for _, good := range []string{"a + 1", "CASE WHEN a < 3 THEN 0 ELSE 1 END", "concat(a, ',', `b``c`)", "POINT(latitude, longitude)", "'it''s'"} {
		if err := oneExpression(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "a)", "(a", "a) STORED, DROP COLUMN (b", "a, b", "a; DROP TABLE b", "a -- b", "a # b", "a /* b */", "a /*! b */", "'a", "`a", `'a\'`, `"a"`,
		"(SELECT 1)", "source x", `'a''`, "delimiter x\na", ")("} {
		if oneExpression(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// FuzzOneExpression: an accepted expression leaves the brackets around it where they
// are, so that nothing of it is outside.
func FuzzOneExpression(f *testing.F) {
	for _, seed := range []string{"a + 1", "CASE WHEN a < 3 THEN ')' ELSE 1 END", "a) , (b", "`a)`"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if oneExpression(text) != nil {
			return
		}
		all := sqltext.MySQL.Statements("SET x = (" + text + ")")
		if len(all) != 1 {
			t.Fatalf("%q: %d statements", text, len(all))
		}
		tokens, depth := all[0].Tokens, 0
		for i, tok := range tokens {
			if tok.Spells("(") {
				depth++
			} else if tok.Spells(")") {
				depth--
			}
			if i >= 3 && depth == 0 && i != len(tokens)-1 {
				t.Fatalf("%q ends its brackets at token %d of %d", text, i, len(tokens))
			}
		}
		if depth != 0 || tokens[len(tokens)-1].End != len("SET x = (")+len(text)+1 {
			t.Fatalf("%q hides the end of its brackets", text)
		}
	})
}
