package cause_test

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestStaleStatistics checks that statistics are reported only if a statement joins
// by the index, the server's number of distinct values is far from the counted one,
// and the statement read many times the necessary rows.
func TestStaleStatistics(t *testing.T) {
	const join = "SELECT r.id FROM device d JOIN reading r ON r.device = d.id WHERE d.owner = 3"
	column := func(name string) catalog.Column { return catalog.Column{Name: name, Type: "int", Width: 4} }
	index := func(name, col string, primary bool) catalog.Index {
		return catalog.Index{Name: name, Kind: "btree", Unique: primary, Primary: primary, Parts: []catalog.IndexPart{{Column: col}}}
	}
	device := catalog.Table{Schema: "app", Name: "device", Engine: "InnoDB", Columns: []catalog.Column{column("id"), column("owner")},
		Indexes: []catalog.Index{index("PRIMARY", "id", true), index("o", "owner", false)}}
	reading := catalog.Table{Schema: "app", Name: "reading", Engine: "InnoDB", Columns: []catalog.Column{column("id"), column("device")},
		Indexes: []catalog.Index{index("PRIMARY", "id", true), index("d", "device", false)}}
	for _, c := range []struct {
		name     string
		sql      string
		rows     int64
		held     float64
		examined int64 // by each of 500 executions
		want     bool
	}{
		{"old", join, 10000, 2, 10000, true},
		{"far too many", join, 10000, 40000, 10000, true},
		{"a few times off", join, 10000, 400, 10000, false},
		{"no estimate of the server", join, 10000, 0, 10000, false},
		{"planned well all the same", join, 10000, 2, 60, false},
		{"small", join, 100, 2, 100, false},
		{"by a constant: the server looks into the index", "SELECT id FROM reading WHERE device = 3", 10000, 2, 10000, false},
	} {
		size := catalog.TableSize{Rows: c.rows, Distinct: map[string]float64{"id": float64(c.rows), "device": 2000}, Held: map[string]float64{"device": c.held}}
		p := statements(c.sql, 500, 5*time.Second, 0)
		p.Rows[0].Query.Examined = 500 * c.examined
		plan := catalog.QueryPlan{Ran: true, Steps: []catalog.QueryStep{{Table: "r", Access: "ALL", Rows: 10000, Foreseen: 10000}, {Table: "d", Access: "ref", Rows: 2000, Foreseen: 1}, {Table: "e", Access: "eq_ref", Rows: 0.02, Foreseen: 1}}}
		f, ok := found(t, cause.Input{Profiles: []iikanji.Profile{p}, Facts: []iikanji.Fact{
			factOf(string(fact.TopicTable), "app.device", device), factOf(string(fact.TopicTable), "app.reading", reading), factOf(string(fact.TopicPlan), "d1", plan),
			factOf(string(fact.TopicSize), "app.device", catalog.TableSize{Rows: 100, Distinct: map[string]float64{"id": 100, "owner": 10}}), factOf(string(fact.TopicSize), "app.reading", size)}}, "DB205")
		if ok != c.want {
			t.Errorf("%s: found %v: %+v", c.name, ok, f)
		}
		if ok && (f.Where != "app.reading" || f.Gain.Lo != 0 || f.Gain.Hi < 4 || f.Gain.Hi > 5 || f.Remedies[0].Args["table"] != "reading") {
			t.Errorf("%s: %+v", c.name, f)
		}
		if ok && f.Evidence[len(f.Evidence)-1].Text != "d (ref): 1 row estimated each time, 2,000 read" {
			t.Errorf("%s: %+v", c.name, f.Evidence)
		}
	}
}

// TestKeyless checks that a table is reported if it is InnoDB's, has no key of its
// own, and is used often.
func TestKeyless(t *testing.T) {
	columns := []catalog.Column{{Name: "name", Type: "varchar(50)", Width: 202}, {Name: "serial", Type: "int", Width: 4}, {Name: "note", Type: "int", Width: 5, Nullable: true}}
	unique := func(col string, prefix int) []catalog.Index {
		return []catalog.Index{{Name: "u", Kind: "btree", Unique: true, Parts: []catalog.IndexPart{{Column: col, Prefix: prefix}}}}
	}
	for _, c := range []struct {
		name    string
		engine  string
		indexes []catalog.Index
		sql     string
		column  string // of the remedy
		want    bool
	}{
		{"no index at all", "InnoDB", nil, "SELECT note FROM bare WHERE note > 1", "serial", true},
		{"a plain index", "InnoDB", []catalog.Index{{Name: "k", Kind: "btree", Parts: []catalog.IndexPart{{Column: "serial"}}}}, "SELECT note FROM bare WHERE serial = 1", "", true}, // not counted
		{"unique, with NULLs", "InnoDB", unique("note", 0), "SELECT note FROM bare WHERE note > 1", "serial", true},
		{"unique by its beginning", "InnoDB", unique("name", 4), "DELETE FROM bare WHERE name = 'a'", "serial", true},
		{"only written", "InnoDB", nil, "INSERT INTO bare VALUES ('a', 1, 2)", "serial", true},
		{"unique and never NULL", "InnoDB", unique("serial", 0), "SELECT note FROM bare WHERE note > 1", "", false},
		{"of another engine", "MyISAM", nil, "SELECT note FROM bare WHERE note > 1", "", false},
		{"hardly used", "InnoDB", nil, "SELECT 1 FROM other WHERE id = 1", "", false},
	} {
		p := statements(c.sql, 2000, 5*time.Second, 0)
		p.Rows[0].Query.Examined = 2000 * 100
		in := cause.Input{Profiles: []iikanji.Profile{p, statements("SELECT name FROM bare WHERE serial = 2", 20, time.Millisecond, 0)}, Facts: []iikanji.Fact{
			factOf(string(fact.TopicTable), "app.bare", catalog.Table{Schema: "app", Name: "bare", Engine: c.engine, Columns: columns, Indexes: c.indexes}),
			factOf(string(fact.TopicSize), "app.bare", catalog.TableSize{Rows: 5000, Distinct: map[string]float64{"serial": 5000, "note": 5000}})}}
		f, ok := found(t, in, "DB121")
		if ok != c.want || ok && (f.Where != "app.bare" || f.Remedies[0].Args["column"] != c.column || f.Gain.Lo != 0) {
			t.Errorf("%s: found %v: %+v", c.name, ok, f)
		}
	}
}
