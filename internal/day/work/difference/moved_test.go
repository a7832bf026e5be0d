package difference

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/day/work/state"
)

// onTwo is the site on two hosts: the database is on the second one, or a spare there. The SQL of
// initialize is on the first one, wherever the database is.
func onTwo(moved bool) *site {
	s := newSite()
	home := &s.Hosts[0]
	home.Name = "isu1"
	other := state.Host{Name: "isu2", Sysctl: maps.Clone(home.Sysctl), Packages: maps.Clone(home.Packages)}
	db := *s.service("db")
	spare := state.Service{Name: "db", Role: db.Role, Engine: db.Engine}
	if !moved {
		other.Services = []state.Service{spare}
		s.Hosts = append(s.Hosts, other)
		return s
	}
	spare.Loads, db.Loads = db.Loads, nil
	home.Services[2], other.Services = spare, []state.Service{db}
	s.Hosts = append(s.Hosts, other)
	return s
}

// TestMovedDatabase: the move itself is no edit by hand of a table or of a file that initialize
// loads. An index that is made afterwards is told, with the warning that the file gives.
func TestMovedDatabase(t *testing.T) {
	base, now := onTwo(false), onTwo(true)
	if edits := between(base, now, nil); len(edits) > 0 {
		t.Fatalf("the move alone: %+v", edits)
	}
	tables := now.Hosts[1].Services[0].Tables
	tables["isu.t"] = strings.Replace(tables["isu.t"], "(`id`)", "(`id`),\n  KEY `by_a` (`a`)", 1)
	edits := between(base, now, nil)
	if len(edits) != 1 || edits[0].Host != "isu2" || say(edits[0]) != "table isu.t [index by_a (a)] INITIALIZE UNDOES IT: not in 0_Schema.sql" {
		t.Errorf("an index on the new host: %+v", edits)
	}
	now.write("/srv/sql/0_Schema.sql", "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a INT, KEY by_a (a));\n")
	edits = between(base, now, nil)
	if len(edits) != 2 || slices.ContainsFunc(edits, func(e Edit) bool { return e.Warning != "" }) {
		t.Errorf("with the index in the file of the first host: %+v", edits)
	}
	if back := between(now, base, nil); !slices.ContainsFunc(back, func(e Edit) bool { return e.Host == "isu1" && say(e) == "table isu.t [− index by_a]" }) {
		t.Errorf("the way back: %+v", back)
	}
}
