package ladder

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/iikanji/iikanji"
)

// newRung is the file 02-rent.sql of a ladder. The heading has the words of the
// write-up; each statement is a change with its undo.
const newRung = `-- row: an index on the rent, another one in place of the popularity's
-- told: 640 → 1,144
-- source: a team's write-up of the contest, 12:31
-- target: database
-- schema: isuumo

ALTER TABLE chair ADD INDEX price_stock (price, stock);
ALTER TABLE estate ADD INDEX rent_popularity (rent, popularity), DROP INDEX popularity;
`

// TestNewRung: a file is all that a rung needs. docs/contributing.md quotes it.
func TestNewRung(t *testing.T) {
	rungs, err := Read(fstest.MapFS{
		"01-gzip.toml": {Data: []byte(headed + "[[remedy]]\nkind = \"nginxconf\"\ntarget = \"nginx\"\nargs = { act = \"gzip\" }\n")},
		"02-rent.sql":  {Data: []byte(newRung)},
	})
	if err != nil || len(rungs) != 2 {
		t.Fatalf("%+v %v", rungs, err)
	}
	r := rungs[1]
	if r.Told != "640 → 1,144" || r.Hurts || len(r.Remedies) != 2 {
		t.Errorf("%+v", r)
	}
	drops := func(r iikanji.Remedy) bool { return r.Kind == "ddl" && r.Args["drop"] == "popularity" }
	if !slices.ContainsFunc(r.Remedies, drops) {
		t.Errorf("no remedy drops the old index: %+v", r.Remedies)
	}
}
