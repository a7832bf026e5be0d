package isuumo_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	. "github.com/iikanji/iikanji/arenas/isuumo"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// The stack's supervisor is this same binary, executed again. It must branch into
// the supervisor before any test runs.
func init() { stack.MaybeSupervise() }

// site holds the running stack and what the tests need of it.
var site struct {
	*apptest.Site
	data *Dataset
}

// TestSite runs the app with its own MariaDB and nginx at the contest's size.
// They are started once for all tests below. Tests that only read come first.
func TestSite(t *testing.T) {
	tier.Slow(t)
	site.Site = apptest.Up(t, "isuumo")
	var err error
	if site.data, err = ReadDataset(site.Stack.Data()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"schema", testSchema}, {"conditions", testConditions}, {"details", testDetails},
		{"chair search", testChairSearch}, {"estate search", testEstateSearch}, {"search refusals", testSearchRefusals},
		{"low priced", testLowPriced}, {"recommended", testRecommended}, {"nazotte", testNazotte}, {"slow", testSlow},
		{"pages", testPages}, {"browser search", testBrowserSearch}, {"browser detail", testBrowserDetail}, {"browser nazotte", testBrowserNazotte},
		{"documents", testDocuments}, {"buys", testBuys}, {"posts", testPosts}, {"initialize", testInitialize},
	} {
		t.Run(c.name, c.run)
	}
}

// The objects of the API, with the field names of the rules.
type (
	apiChair struct {
		ID          int64  `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Thumbnail   string `json:"thumbnail"`
		Price       int64  `json:"price"`
		Height      int64  `json:"height"`
		Width       int64  `json:"width"`
		Depth       int64  `json:"depth"`
		Color       string `json:"color"`
		Features    string `json:"features"`
		Kind        string `json:"kind"`
	}
	apiEstate struct {
		ID          int64   `json:"id"`
		Thumbnail   string  `json:"thumbnail"`
		Name        string  `json:"name"`
		Description string  `json:"description"`
		Latitude    float64 `json:"latitude"`
		Longitude   float64 `json:"longitude"`
		Address     string  `json:"address"`
		Rent        int64   `json:"rent"`
		DoorHeight  int64   `json:"doorHeight"`
		DoorWidth   int64   `json:"doorWidth"`
		Features    string  `json:"features"`
	}
	// apiChairs is a list without a count, apiChairPage one with it.
	apiChairs struct {
		Chairs []apiChair `json:"chairs"`
	}
	apiChairPage struct {
		Count int `json:"count"`
		apiChairs
	}
	apiEstates struct {
		Estates []apiEstate `json:"estates"`
	}
	apiEstatePage struct {
		Count int `json:"count"`
		apiEstates
	}
)

func chairOf(c Chair) apiChair {
	return apiChair{c.ID, c.Name, c.Description, c.Thumbnail, c.Price, c.Height, c.Width, c.Depth, c.Color, c.Features, c.Kind}
}

func estateOf(e Estate) apiEstate {
	return apiEstate{e.ID, e.Thumbnail, e.Name, e.Description, e.Latitude, e.Longitude, e.Address, e.Rent, e.DoorHeight, e.DoorWidth, e.Features}
}

// testSchema checks that there is no index but the primary keys, and that all
// rows are there.
func testSchema(t *testing.T) {
	rows, err := site.DB.Query("SELECT table_name, index_name, column_name FROM information_schema.statistics WHERE table_schema = 'isuumo' ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var table, index, column string
		if err := rows.Scan(&table, &index, &column); err != nil {
			t.Fatal(err)
		}
		got = append(got, table+"."+index+"."+column)
	}
	if want := "chair.PRIMARY.id estate.PRIMARY.id"; rows.Err() != nil || strings.Join(got, " ") != want {
		t.Errorf("indexes %q (%v), want %q", got, rows.Err(), want)
	}
	for _, table := range []string{"chair", "estate"} {
		if n := count(t, "SELECT COUNT(*) FROM "+table); n != 29500 {
			t.Errorf("table %s has %d rows, want 29,500", table, n)
		}
	}
	var cache, charset string
	if err := site.DB.QueryRow("SELECT @@query_cache_type, @@character_set_database").Scan(&cache, &charset); err != nil || cache != "OFF" || charset != "utf8mb4" {
		t.Errorf("query cache %s, character set %s (%v), want OFF and utf8mb4", cache, charset, err)
	}
}

func count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	if err := site.DB.QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func testConditions(t *testing.T) {
	g := site.NewClient(t)
	var chair ChairConditions
	g.Get("/api/chair/search/condition").Decode(t, 200, &chair)
	wantJSON(t, chair, TheChairChoices())
	var estate EstateConditions
	g.Get("/api/estate/search/condition").Decode(t, 200, &estate)
	wantJSON(t, estate, TheEstateChoices())
}

func wantJSON(t *testing.T, got, want any) {
	t.Helper()
	a, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(want); err != nil || string(a) != string(b) {
		t.Errorf("got %.500s, want %.500s (%v)", a, b, err)
	}
}

func testDetails(t *testing.T) {
	g := site.NewClient(t)
	for _, i := range []int{0, 1, 99, 14000, 29499} {
		var chair apiChair
		g.Get(path("/api/chair/%d", i+1)).Decode(t, 200, &chair)
		if want := chairOf(site.data.Chairs[i]); chair != want {
			t.Errorf("chair %+v, want %+v", chair, want)
		}
		var estate apiEstate
		g.Get(path("/api/estate/%d", i+1)).Decode(t, 200, &estate)
		if want := estateOf(site.data.Estates[i]); estate != want {
			t.Errorf("estate %+v, want %+v", estate, want)
		}
	}
	for _, table := range []string{"chair", "estate"} {
		for _, id := range []string{"0", "-1", "29501", "999999"} {
			g.Get("/api/"+table+"/"+id).WantEmpty(t, 404)
		}
		for _, id := range []string{"x", "1.5", "1x", "%20"} {
			g.Get("/api/"+table+"/"+id).WantEmpty(t, 400)
		}
	}
}

// testInitialize undoes what the tests before it wrote, twice.
func testInitialize(t *testing.T) {
	g := site.NewClient(t)
	for range 2 {
		if _, err := site.DB.Exec("CREATE INDEX by_hand ON chair (price)"); err != nil {
			t.Fatal(err)
		}
		var res map[string]string
		g.Send(http.MethodPost, "/initialize").Decode(t, 200, &res)
		if len(res) != 1 || res["language"] != "go" {
			t.Errorf("initialize answers %v", res)
		}
		testSchema(t) // the database was dropped: the index is gone
		if n := count(t, "SELECT COUNT(*) FROM chair WHERE stock = 0"); n != 0 {
			t.Errorf("%d chairs are sold out after initialize", n)
		}
	}
	testDetails(t)
}
