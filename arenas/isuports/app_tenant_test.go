package isuports_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func testTenants(t *testing.T) {
	got := data[struct{ Tenant tenantBilling }](t, admin(t).post("/api/admin/tenants/add", "name", "a-1", "display_name", "試験 <&>")).Tenant
	if id, err := strconv.Atoi(got.ID); err != nil || id <= 100 || got.Name != "a-1" || got.DisplayName != "試験 <&>" || got.Billing != 0 {
		t.Errorf("the new tenant is %+v", got)
	}
	if lists := data[thePlayers](t, organizer(t, "a-1").get("/api/organizer/players")); lists.Players == nil || len(lists.Players) != 0 {
		t.Errorf("a new tenant has the players %v", lists.Players)
	}
	if lists := data[theCompetitions](t, organizer(t, "a-1").get("/api/organizer/competitions")); lists.Competitions == nil || len(lists.Competitions) != 0 {
		t.Errorf("a new tenant has the competitions %v", lists.Competitions)
	}
	for _, name := range []string{"a-1", "isucon", "", "a", "1a", "-a", "a-", "A1", "a_b", "あa", "a b", strings.Repeat("a", 64)} {
		admin(t).post("/api/admin/tenants/add", "name", name, "display_name", "x").refused(t, http.StatusBadRequest, "")
	}
	admin(t).post("/api/admin/tenants/add", "name", strings.Repeat("a", 63)).want(t, http.StatusOK)

	newest := data[theTenants](t, admin(t).get("/api/admin/tenants/billing")).Tenants
	if len(newest) != 10 || newest[0].Name != strings.Repeat("a", 63) || newest[1] != got {
		t.Errorf("the first page is %+v", newest)
	}
	for _, before := range []string{"x", "1.5", "0x10"} {
		admin(t).get("/api/admin/tenants/billing?before="+before).refused(t, http.StatusBadRequest, "")
	}
	if last := data[theTenants](t, admin(t).get("/api/admin/tenants/billing?before=1")).Tenants; last == nil || len(last) != 0 {
		t.Errorf("before the first tenant there are %v", last)
	}
}

// testInitialBilling compares all initial tenants with the benchmarker's copy.
func testInitialBilling(t *testing.T) {
	for before := 101; before > 1; before -= 10 {
		page := data[theTenants](t, admin(t).get(fmt.Sprintf("/api/admin/tenants/billing?before=%d", before))).Tenants
		var want []tenantBilling
		for id := before - 1; id >= max(1, before-10); id-- {
			known := site.data.Tenants[id-1]
			want = append(want, tenantBilling{strconv.Itoa(id), known.Name, known.DisplayName, known.Billing})
		}
		if !slices.Equal(page, want) {
			t.Errorf("before %d: %+v\nwant %+v", before, page, want)
		}
	}
	for _, known := range site.data.Tenants[:3] {
		reports := data[theReports](t, organizer(t, known.Name).get("/api/organizer/billing")).Reports
		if len(reports) != len(known.Competitions) {
			t.Errorf("%s has %d reports, want %d", known.Name, len(reports), len(known.Competitions))
		}
		for _, c := range known.Competitions {
			i := slices.IndexFunc(reports, func(r report) bool { return r.ID == c.ID })
			if i < 0 || reports[i].Yen != c.Billing || reports[i].Title != c.Title {
				t.Errorf("%s: no report of %+v", known.Name, c)
			}
		}
	}
	for _, s := range site.data.Samples {
		if s.TenantName != "isucon" {
			continue
		}
		status := http.StatusOK
		if s.Disqualified {
			status = http.StatusForbidden
		}
		as(t, s.TenantName, "player", s.PlayerID).get("/api/player/competitions").want(t, status)
	}
}

func testPlayers(t *testing.T) {
	name, ids := newTenant(t, 3)
	o := organizer(t, name)
	added := data[thePlayers](t, o.post("/api/organizer/players/add", "display_name[]", "二", "display_name[]", "", "display_name[]", "二", "display_name", "no")).Players
	if len(added) != 3 || added[0].DisplayName != "二" || added[1].DisplayName != "" || added[0].ID == added[2].ID || added[0].Disqualified {
		t.Errorf("added %+v", added)
	}
	if none := data[thePlayers](t, o.post("/api/organizer/players/add")).Players; none == nil || len(none) != 0 {
		t.Errorf("added %v without names", none)
	}
	got := data[struct{ Player player }](t, o.post("/api/organizer/player/"+ids[1]+"/disqualified")).Player
	if got != (player{ids[1], "p2", true}) {
		t.Errorf("disqualified %+v", got)
	}
	o.post("/api/organizer/player/0000000000/disqualified").refused(t, http.StatusNotFound, "")
	_, foreign := newTenant(t, 1)
	o.post("/api/organizer/player/"+foreign[0]+"/disqualified").refused(t, http.StatusNotFound, "")

	listed := data[thePlayers](t, o.get("/api/organizer/players")).Players
	if len(listed) != 6 || !slices.Contains(listed, got) || !slices.Contains(listed, added[1]) {
		t.Errorf("listed %+v", listed)
	}
	id := newCompetition(t, name, "x")
	for _, path := range []string{"/api/player/competitions", "/api/player/player/" + ids[0], "/api/player/competition/" + id + "/ranking"} {
		as(t, name, "player", ids[1]).get(path).refused(t, http.StatusForbidden, "")
		as(t, name, "player", "0000000000").get(path).refused(t, http.StatusUnauthorized, "")
		as(t, name, "player", ids[0]).get(path).want(t, http.StatusOK)
	}
	times := data[thePlayers](t, organizer(t, "kayac").get("/api/organizer/players")).Players
	if last := times[len(times)-1]; last.ID != "0002" {
		t.Errorf("the oldest player is %+v, want 0002", last)
	}
}

func testCompetitions(t *testing.T) {
	name, ids := newTenant(t, 1)
	o, p := organizer(t, name), as(t, name, "player", ids[0])
	first := data[struct{ Competition competition }](t, o.post("/api/organizer/competitions/add", "title", "第1回 <大会>")).Competition
	if first.Title != "第1回 <大会>" || first.Finished || first.ID == "" {
		t.Errorf("added %+v", first)
	}
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // lists are in the order of seconds
	second := newCompetition(t, name, "")
	if res := o.post("/api/organizer/competition/" + first.ID + "/finish"); strings.Contains(string(res.body), "data") {
		t.Errorf("finish answered %s", res.body)
	} else {
		res.want(t, http.StatusOK)
	}
	o.post("/api/organizer/competition/0000000000/finish").refused(t, http.StatusNotFound, "")
	first.Finished = true
	want := []competition{{second, "", false}, first}
	for path, client := range map[string]account{"/api/organizer/competitions": o, "/api/player/competitions": p} {
		if got := data[theCompetitions](t, client.get(path)).Competitions; !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}
