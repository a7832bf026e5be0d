package isuports_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

// ranksOf reads a ranking as a player.
func ranksOf(t *testing.T, tenant, reader, competition, query string) []rank {
	t.Helper()
	got := data[ranking](t, as(t, tenant, "player", reader).get("/api/player/competition/"+competition+"/ranking"+query))
	if got.Ranks == nil {
		t.Error("the ranking is null")
	}
	return got.Ranks
}

// wantRanks compares players and scores in their order.
func wantRanks(t *testing.T, got []rank, from int64, rows ...any) {
	t.Helper()
	var want []rank
	for i := 0; i+1 < len(rows); i += 2 {
		want = append(want, rank{Rank: from + int64(i/2), ID: rows[i].(string), Score: int64(rows[i+1].(int))})
	}
	if !slices.EqualFunc(got, want, func(a, b rank) bool { return a.Rank == b.Rank && a.ID == b.ID && a.Score == b.Score }) {
		t.Errorf("ranks %+v, want %+v", got, want)
	}
}

func testScores(t *testing.T) {
	name, p := newTenant(t, 4)
	id := newCompetition(t, name, "x")
	if got := ranksOf(t, name, p[0], id, ""); len(got) != 0 {
		t.Errorf("before any score: %+v", got)
	}
	uploaded(t, name, id, csvOf(p[0], 1, p[1], 2, p[2], 3))
	wantRanks(t, ranksOf(t, name, p[3], id, ""), 1, p[2], 3, p[1], 2, p[0], 1)
	uploaded(t, name, id, csvOf(p[2], -3, p[1], 9000000000))
	wantRanks(t, ranksOf(t, name, p[3], id, ""), 1, p[1], 9000000000, p[2], -3)
	uploaded(t, name, id, csvOf(p[0], 5, p[1], 7, p[0], 7, p[2], 7)) // the last row counts, ties by row
	wantRanks(t, ranksOf(t, name, p[3], id, ""), 1, p[1], 7, p[0], 7, p[2], 7)
	uploaded(t, name, id, csvOf())
	if got := ranksOf(t, name, p[3], id, ""); len(got) != 0 {
		t.Errorf("after an upload of no rows: %+v", got)
	}
	organizer(t, name).post("/api/organizer/player/"+p[0]+"/disqualified").want(t, http.StatusOK)
	uploaded(t, name, id, csvOf(p[0], 1))
	wantRanks(t, ranksOf(t, name, p[3], id, ""), 1, p[0], 1)
}

func testRefusedScores(t *testing.T) {
	name, p := newTenant(t, 2)
	id := newCompetition(t, name, "x")
	o := organizer(t, name)
	uploaded(t, name, id, csvOf(p[0], 1))
	_, foreign := newTenant(t, 1)
	for what, c := range map[string]struct {
		csv    string
		status int
	}{
		"unknown player":      {csvOf(p[1], 2, "0000000000", 3), 400},
		"foreign player":      {csvOf(foreign[0], 3), 400},
		"no number":           {csvOf(p[1], 2, p[0], "x"), 400},
		"fraction":            {csvOf(p[1], "1.5"), 400},
		"columns swapped":     {"score,player_id\n1," + p[0] + "\n", 400},
		"a column more":       {"player_id,score,x\n" + p[0] + ",1,2\n", 400},
		"no header":           {p[0] + ",1\n", 400},
		"nothing":             {"", 500},
		"a long row":          {"player_id,score\n" + p[0] + ",1,2\n", 500},
		"a short row":         {"player_id,score\n" + p[0] + "\n", 500},
		"a quote without end": {"player_id,score\n\"" + p[0] + ",1\n", 500},
	} {
		t.Run(what, func(t *testing.T) {
			o.t = t
			o.upload(id, c.csv).refused(t, c.status, "")
		})
	}
	o.t = t
	o.uploadAs(id, "score", csvOf(p[0], 1)).refused(t, http.StatusInternalServerError, "")
	o.post("/api/organizer/competition/"+id+"/score", "scores", "x").refused(t, http.StatusInternalServerError, "")
	o.upload("0000000000", csvOf(p[0], 1)).refused(t, http.StatusNotFound, "")
	wantRanks(t, ranksOf(t, name, p[1], id, ""), 1, p[0], 1) // nothing was stored

	o.post("/api/organizer/competition/"+id+"/finish").want(t, http.StatusOK)
	o.upload(id, csvOf(p[0], 2)).refused(t, http.StatusBadRequest, "competition is finished")
	wantRanks(t, ranksOf(t, name, p[1], id, ""), 1, p[0], 1)
}

func testRanking(t *testing.T) {
	name, p := newTenant(t, 105)
	id := newCompetition(t, name, "順位")
	var rows, want []any
	for i, player := range p {
		rows = append(rows, player, 1000-i)
	}
	uploaded(t, name, id, csvOf(rows...))
	reader := as(t, name, "player", p[0])
	got := data[ranking](t, reader.get("/api/player/competition/"+id+"/ranking"))
	if got.Competition != (competition{id, "順位", false}) || got.Ranks[0].Name != "p1" {
		t.Errorf("the ranking begins %+v, %+v", got.Competition, got.Ranks[0])
	}
	wantRanks(t, got.Ranks, 1, rows[:200]...)
	wantRanks(t, ranksOf(t, name, p[0], id, "?rank_after=0"), 1, rows[:200]...)
	wantRanks(t, ranksOf(t, name, p[0], id, "?rank_after=103"), 104, rows[206:]...)
	wantRanks(t, ranksOf(t, name, p[0], id, "?rank_after=105"), 106, want...)

	visits := func() int64 {
		return number(t, "SELECT COUNT(*) FROM visit_history WHERE competition_id = ? AND player_id = ? AND tenant_id = (SELECT id FROM tenant WHERE name = ?)", id, p[0], name)
	}
	before := visits()
	reader.get("/api/player/competition/"+id+"/ranking?rank_after=x").refused(t, http.StatusInternalServerError, "")
	if now := visits(); before != 4 || now != 5 {
		t.Errorf("%d visits are stored, then %d; want 4, then 5", before, now)
	}
	reader.get("/api/player/competition/0000000000/ranking").refused(t, http.StatusNotFound, "")
	if now := visits(); now != 5 {
		t.Errorf("%d visits are stored, want 5", now)
	}
}

func testPlayer(t *testing.T) {
	name, p := newTenant(t, 2)
	var ids []string
	for i := range 3 {
		ids = append(ids, newCompetition(t, name, fmt.Sprintf("第%d回", i+1)))
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // lists are in the order of seconds
	}
	uploaded(t, name, ids[2], csvOf(p[0], 30, p[1], 31))
	uploaded(t, name, ids[0], csvOf(p[0], 10, p[0], 11))
	reader := as(t, name, "player", p[1])
	got := data[detail](t, reader.get("/api/player/player/"+p[0]))
	if want := []playerScore{{"第1回", 11}, {"第3回", 30}}; got.Player != (player{p[0], "p1", false}) || !slices.Equal(got.Scores, want) {
		t.Errorf("the player is %+v, want the scores %+v", got, want)
	}
	reader.get("/api/player/player/0000000000").refused(t, http.StatusNotFound, "")
	_, others := newTenant(t, 1)
	reader.get("/api/player/player/"+others[0]).refused(t, http.StatusNotFound, "")
	uploaded(t, name, ids[0], csvOf())
	uploaded(t, name, ids[2], csvOf())
	if got := data[detail](t, reader.get("/api/player/player/"+p[0])); got.Scores == nil || len(got.Scores) != 0 {
		t.Errorf("a player without a score has %v", got.Scores)
	}
}

func testBilling(t *testing.T) {
	name, p := newTenant(t, 5)
	id := newCompetition(t, name, "請求")
	o := organizer(t, name)
	uploaded(t, name, id, csvOf(p[0], 1, p[1], 2))
	for _, reader := range []string{p[1], p[2], p[3], p[3]} {
		ranksOf(t, name, reader, id, "")
	}
	reports := func() []report { return data[theReports](t, o.get("/api/organizer/billing")).Reports }
	if got := reports(); !slices.Equal(got, []report{{ID: id, Title: "請求"}}) {
		t.Errorf("an open competition is billed %+v", got)
	}
	o.post("/api/organizer/competition/"+id+"/finish").want(t, http.StatusOK)
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // visits of the same second count
	ranksOf(t, name, p[3], id, "")
	ranksOf(t, name, p[4], id, "")
	want := []report{{id, "請求", 2, 2, 200, 20, 220}}
	if got := reports(); !slices.Equal(got, want) {
		t.Errorf("billed %+v, want %+v", got, want)
	}
	if page := data[theTenants](t, admin(t).get("/api/admin/tenants/billing")).Tenants; page[0].Name != name || page[0].Billing != 220 {
		t.Errorf("the admin's page begins with %+v", page[0])
	}
}
