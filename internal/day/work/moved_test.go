package work

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work/snapshot"
)

// TestSnapshotOfMoved: the SQL files of initialize are taken on the machine where they lie, and
// on no other one, also when the database is elsewhere and nothing else of the site is there.
func TestSnapshotOfMoved(t *testing.T) {
	for _, spare := range [][]string{{"isu1"}, nil} {
		d := &Day{Site: &change.Site{
			Target:   iikanji.Target{Services: []iikanji.Service{{Name: "app", Host: "isu3"}, {Name: "mariadb", Host: "isu2", Spare: spare}}},
			Services: map[string]change.Service{"mariadb": {Host: "isu2", Loads: []string{"/home/isu/sql"}, LoadsOn: "isu1"}}}}
		if used, _ := d.hosts(); !slices.Equal(used, []string{"isu1", "isu2", "isu3"}) {
			t.Errorf("hosts %q", used)
		}
		for on, want := range map[string]int{"isu1": 1, "isu2": 0, "isu3": 0} {
			folders := 0
			for _, s := range d.services(on) {
				folders += len(s.Loads)
			}
			has := slices.ContainsFunc(d.services(on), func(s snapshot.Service) bool { return s.Name == "mariadb" })
			if folders != want || has != (on != "isu3") {
				t.Errorf("on %s: %d folders, the database %v", on, folders, has)
			}
		}
	}
}
