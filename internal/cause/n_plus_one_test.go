package cause_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const competitions = `
-- schema.sql --
CREATE TABLE competition (id BIGINT PRIMARY KEY, tenant_id BIGINT NOT NULL, title VARCHAR(255) NOT NULL, KEY t (tenant_id));
CREATE TABLE player (id BIGINT PRIMARY KEY, tenant_id BIGINT NOT NULL, KEY t (tenant_id));
-- sizes --
competition 2000
competition.tenant_id 100
player 20000
player.tenant_id 100
-- digests --
`

const visits = `
-- schema.sql --
CREATE TABLE visit (id BIGINT PRIMARY KEY, competition_id BIGINT NOT NULL, player_id BIGINT NOT NULL, KEY c (competition_id));
-- sizes --
visit 300000
visit.competition_id 2000
-- threads --
repeat d1 400 30 11000 0
-- digests --
12000 9 1800000 12000 | SELECT count(*) FROM visit WHERE competition_id = 7
`

// TestParentElsewhere: a list is read in one database, and each of its rows is looked
// up in another one. The counts must agree, exactly one statement may fit, and the
// look-up must be by a column that the list sends.
func TestParentElsewhere(t *testing.T) {
	of := func(text, service string) (facts []iikanji.Fact, profiles []iikanji.Profile) {
		in, _ := readInput(t, txtar.Parse([]byte(text)))
		for i := range in.Facts {
			in.Facts[i].Target = service
		}
		for i := range in.Profiles {
			in.Profiles[i].Target = service
		}
		return in.Facts, in.Profiles
	}
	loops := func(lists, lookups string) []iikanji.Finding {
		t.Helper()
		var in cause.Input
		in.Target.Services = []iikanji.Service{{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
			{Name: "tenants", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}, {Name: "admin", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB}}
		facts, profiles := of(lists, "tenants")
		more, further := of(lookups, "admin")
		in.Facts, in.Profiles = slices.Concat(facts, more), slices.Concat(profiles, further)
		all, err := findAll(in)
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(all, func(f iikanji.Finding) bool { return f.Code != "DB113" })
	}
	const list = "600 1 12000 12050 | SELECT id, title FROM competition WHERE tenant_id = 1\n"
	got := loops(competitions+list, visits)
	if len(got) != 1 || !strings.HasSuffix(got[0].Where, " at admin") || !strings.Contains(got[0].Claim, "20× for each of 600 executions") {
		t.Fatalf("%+v", got)
	}
	if !slices.ContainsFunc(got[0].Evidence, func(e iikanji.Evidence) bool {
		return e.Source == "statement d1 of tenants" && strings.Contains(e.Text, "12,050 rows")
	}) {
		t.Errorf("the list is not in the evidence: %+v", got[0].Evidence)
	}
	for name, c := range map[string][2]string{
		"other counts":         {competitions + "600 1 12000 15000 | SELECT id, title FROM competition WHERE tenant_id = 1\n", visits},
		"few rows":             {competitions + "4000 1 12000 12000 | SELECT id, title FROM competition WHERE tenant_id = 1\n", visits},
		"two lists":            {competitions + list + "500 1 12000 12010 | SELECT id FROM competition WHERE title = 'x'\n", visits},
		"a column of its own":  {competitions + "600 1 12000 12050 | SELECT title FROM competition WHERE tenant_id = 1\n", visits},
		"no series of lookups": {competitions + list, strings.Replace(visits, "repeat d1 400 30 11000 0", "repeat d1 3 6 12 0", 1)},
	} {
		if got := loops(c[0], c[1]); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
