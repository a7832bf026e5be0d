package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/catalog"
)

func TestReading(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM a", "SELECT * FROM a"},
		{"select 1 ;\n", "select 1"},
		{"(SELECT 1) UNION (SELECT 2)", "(SELECT 1) UNION (SELECT 2)"},
		{"WITH q AS (SELECT 1) SELECT * FROM q", "WITH q AS (SELECT 1) SELECT * FROM q"},
		{"UPDATE a SET x = 1 WHERE y = 2", "SELECT 1 FROM a WHERE y = 2"},
		{"UPDATE LOW_PRIORITY a JOIN b ON a.id = b.id SET a.x = 'where' WHERE b.y = 2 LIMIT 3", "SELECT 1 FROM a JOIN b ON a.id = b.id WHERE b.y = 2 LIMIT 3"},
		{"UPDATE a SET x = (SELECT 1 WHERE 1) ORDER BY y LIMIT 1", "SELECT 1 FROM a ORDER BY y LIMIT 1"},
		{"UPDATE `a``where` SET x = 1", "SELECT 1 FROM `a``where`"},
		{"DELETE FROM a WHERE x = 'from' LIMIT 2", "SELECT 1 FROM a WHERE x = 'from' LIMIT 2"},
		{"INSERT INTO a (x) SELECT y FROM b WHERE z = 1", "SELECT y FROM b WHERE z = 1"},
		{"/* c */ UPDATE a SET x = 1 -- WHERE\n WHERE y = 2", "SELECT 1 FROM a WHERE y = 2"},
		{"INSERT INTO a VALUES (1)", ""},
		{"SELECT * FROM a FOR UPDATE", ""},
		{"SELECT * FROM a LOCK IN SHARE MODE", ""},
		{"SELECT 1 INTO OUTFILE '/tmp/x'", ""},
		{"WITH q AS (SELECT 1) SELECT * FROM q INTO OUTFILE '/tmp/x'", ""},
		{"(SELECT 1) UNION (SELECT 2) INTO OUTFILE '/tmp/x'", ""},
		{"(SELECT 1 INTO @x)", ""},
		{"SELECT 1.INTO OUTFILE '/tmp/x'", ""},
		{"SELECT a.into, `into`, 'into' FROM a -- into\n", "SELECT a.into, `into`, 'into' FROM a -- into"},
		{"INSERT INTO a (x) SELECT y FROM b FOR UPDATE", ""},
		{"SELECT * FROM (SELECT * FROM a FOR UPDATE) q", ""},
		{"WITH q AS (SELECT 1 AS x) DELETE FROM a WHERE y IN (SELECT x FROM q)", ""},
		{"SELECT GET_LOCK('a', 1)", ""},
		{"SELECT * FROM a WHERE (x = get_lock /* c */ ('a', 1))", ""},
		{"UPDATE a SET x = 1 WHERE RELEASE_LOCK('a')", ""},
		{"SELECT get_lock FROM a WHERE a.sleep = 1", "SELECT get_lock FROM a WHERE a.sleep = 1"},
		{"SELECT NEXT VALUE FOR s", ""},
		{"SELECT REPLACE(x, 'a', 'b') FROM a FORCE INDEX FOR JOIN (k)", "SELECT REPLACE(x, 'a', 'b') FROM a FORCE INDEX FOR JOIN (k)"},
		{"DROP TABLE a", ""},
		{"SELECT 1; DROP TABLE a", ""},
		{"SELECT (1;) DROP TABLE a", ""},
		{"SELECT ';' FROM a", "SELECT ';' FROM a"},
		{"SELECT 1 /*! INTO OUTFILE '/tmp/x' */", ""},
		{"", ""},
		{"COMMIT", ""},
	} {
		got, err := Reading(c.sql)
		if (err != nil) != (c.want == "") || got != c.want {
			t.Errorf("Reading(%q) = %q, %v; want %q", c.sql, got, err, c.want)
		}
	}
}

// FuzzReading checks that a statement sent for planning always starts like a SELECT,
// and that nothing panics.
func FuzzReading(f *testing.F) {
	for _, s := range []string{"UPDATE a SET x=1 WHERE y='a\\'b'", "DELETE FROM a /* x", "insert into a select 1", "((", "`", "-- x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		got, err := Reading(sql)
		if err != nil {
			return
		}
		w := scan(got)
		if len(w) == 0 || !strings.Contains("select with (", w[0].text) {
			t.Errorf("Reading(%q) = %q", sql, got)
		}
		if why := acts(got); why != "" {
			t.Errorf("Reading(%q) = %q: %s", sql, got, why)
		}
	})
}

func TestParsePlanMySQL(t *testing.T) {
	p, err := ParseQueryPlan([]byte(`{"query_block": {"select_id": 1, "cost_info": {"query_cost": "1.2"}, "ordering_operation": {"using_filesort": true,
	  "nested_loop": [{"table": {"table_name": "u", "access_type": "const", "possible_keys": ["PRIMARY"], "key": "PRIMARY", "used_key_parts": ["id"],
	  "rows_examined_per_scan": 1, "filtered": "100.00", "using_index": true}}, {"table": {"table_name": "p", "access_type": "ALL", "rows_examined_per_scan": 4000, "filtered": "10.00"}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Steps) != 2 || !p.Sort || p.Temp || p.Steps[0].Key != "PRIMARY" || !p.Steps[0].Covering || p.Steps[1].Rows != 4000 || p.Steps[1].Filtered != 10 {
		t.Errorf("%+v", p)
	}
	if _, err := ParseQueryPlan([]byte(`{"query_block"`)); err == nil {
		t.Error("half a query plan was read")
	}
}

// TestParseTree parses an output of MySQL's EXPLAIN ANALYZE and merges it into the
// steps of the query plan.
func TestParseTree(t *testing.T) {
	mets := ParseTree(strings.TrimPrefix(`
-> Limit: 20 row(s)  (cost=23.6 rows=1) (actual time=1806..1806 rows=20 loops=1)
    -> Sort: p.made DESC, limit input to 20 row(s) per chunk  (actual time=6.5..6.52 rows=20 loops=1)
        -> Nested loop inner join  (cost=581 rows=661) (actual time=0.0407..3.98 rows=642 loops=1)
            -> Filter: (p.body like '% on p using x (actual time=1..1 rows=9 loops=9)%')  (cost=1.6 rows=154) (actual time=0.03..6.7 rows=634 loops=1)
                -> Table scan on p  (cost=1.6 rows=15400) (actual time=0.0213..4.92 rows=16044 loops=1)
            -> Single-row covering index lookup on u using PRIMARY (id=p.user_id)  (cost=250e-6 rows=1) (actual time=114e-6..140e-6 rows=0.5 loops=6.96e+6)
            -> Index range scan on v using at over ('2005-07-30' <= at)  (cost=2 rows=3) (never executed)
-> Select #2 (subquery in condition; dependent)
    -> Table scan on <temporary>  (cost=2.5..2.5 rows=0) (actual time=7.68..7.7 rows=200 loops=1)
`, "\n"))
	want := []Met{{"p", "", 16044, 1}, {"u", "PRIMARY", 0.5, 6.96e6}, {"v", "at", 0, 0}, {"<temporary>", "", 200, 1}}
	if !slices.Equal(mets, want) {
		t.Errorf("%+v, want %+v", mets, want)
	}
	p := catalog.QueryPlan{Steps: []catalog.QueryStep{{Table: "c", Access: "const", Key: "PRIMARY", Rows: 1}, {Table: "p", Access: "ALL", Rows: 15400}, {Table: "u", Access: "eq_ref", Key: "PRIMARY", Rows: 1}}}
	meet(&p, mets)
	if c, p, u := p.Steps[0], p.Steps[1], p.Steps[2]; c.Foreseen != 0 || p.Rows != 16044 || p.Foreseen != 15400 || u.Rows != 0.5 || u.Loops != 6.96e6 {
		t.Errorf("%+v", p)
	}
	if !p.Ran {
		t.Error("a query plan that was run is marked as not run")
	}
}

func TestParseVersion(t *testing.T) {
	for _, c := range []struct {
		text, want   string
		desc, hidden bool
		srid         bool
	}{
		{"10.11.6-MariaDB-0+deb12u1", "mariadb 10.11.6", true, true, false},
		{"5.5.5-10.3.39-MariaDB", "mariadb 10.3.39", false, false, false},
		{"10.6.12-MariaDB", "mariadb 10.6.12", false, true, false},
		{"8.0.36-0ubuntu0.22.04.1", "mysql 8.0.36", true, true, true},
		{"5.7.44-log", "mysql 5.7.44", false, false, false},
		{"9.1.0", "mysql 9.1.0", true, true, true},
	} {
		d, err := ParseVersion(c.text)
		if err != nil || d.String() != c.want || d.StoresDesc() != c.desc || (d.HidesIndexes() != "") != c.hidden || d.SpatialWantsSRID() != c.srid {
			t.Errorf("%s: %v %v: desc %v, hides %q, srid %v", c.text, d, err, d.StoresDesc(), d.HidesIndexes(), d.SpatialWantsSRID())
		}
	}
	if _, err := ParseVersion("x"); err == nil {
		t.Error("x is a version")
	}
}
