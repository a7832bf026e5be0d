package isuumo_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	. "github.com/iikanji/iikanji/arenas/isuumo"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
)

func path(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// sorted returns copies of the rows that fit, in an order with the id as the last
// key.
func sorted[T any](rows []T, fits func(T) bool, order func(a, b T) int) []T {
	var out []T
	for _, row := range rows {
		if fits(row) {
			out = append(out, row)
		}
	}
	slices.SortStableFunc(out, order) // rows come in the order of their ids
	return out
}

func morePopularChair(a, b Chair) int   { return cmp.Compare(b.Popularity, a.Popularity) }
func morePopularEstate(a, b Estate) int { return cmp.Compare(b.Popularity, a.Popularity) }

// pageOf cuts a page.
func pageOf[T any](rows []T, page, perPage int) []T {
	from := min(page*perPage, len(rows))
	return rows[from:min(from+perPage, len(rows))]
}

func converted[A, B any](rows []A, convert func(A) B) []B {
	out := make([]B, 0, len(rows))
	for _, row := range rows {
		out = append(out, convert(row))
	}
	return out
}

func wantRows[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d rows %.300s, want %d rows %.300s", what, len(got), fmt.Sprint(got), len(want), fmt.Sprint(want))
	}
}

func hasAll(features string, wanted ...string) bool {
	for _, w := range wanted {
		if !strings.Contains(features, w) {
			return false
		}
	}
	return true
}

func testChairSearch(t *testing.T) {
	g := site.NewClient(t)
	choices := TheChairChoices()
	kind, color := choices.Kind.List[2], choices.Color.List[7]
	within, long := "高さ調節", "肘掛けの高さ調節"
	if !hasAll(long, within) || !slices.Contains(choices.Feature.List, within) || !slices.Contains(choices.Feature.List, long) {
		t.Fatal("no label is part of another")
	}
	for _, s := range []struct {
		name, query   string
		page, perPage int
		fits          func(c Chair) bool
	}{
		{"price", "priceRangeId=0", 0, 25, func(c Chair) bool { return c.Price < 3000 }},
		{"middle of the prices", "priceRangeId=2", 3, 10, func(c Chair) bool { return c.Price >= 6000 && c.Price < 9000 }},
		{"sizes", "heightRangeId=3&widthRangeId=1&depthRangeId=0", 0, 25, func(c Chair) bool {
			return c.Height >= 150 && c.Width >= 80 && c.Width < 110 && c.Depth < 80
		}},
		{"kind and color", "kind=" + url.QueryEscape(kind) + "&color=" + url.QueryEscape(color), 1, 49, func(c Chair) bool { return c.Kind == kind && c.Color == color }},
		{"label within another", "features=" + url.QueryEscape(within), 0, 40, func(c Chair) bool { return hasAll(c.Features, within) }},
		{"two features", "features=" + url.QueryEscape("回転,座椅子"), 0, 20, func(c Chair) bool { return hasAll(c.Features, "回転", "座椅子") }},
		{"beyond the last page", "priceRangeId=5", 999, 25, func(c Chair) bool { return c.Price >= 15000 }},
		{"nothing", "features=" + url.QueryEscape("存在しない"), 0, 25, func(Chair) bool { return false }},
		{"empty values are absent", "priceRangeId=1&color=&features=&kind=", 0, 5, func(c Chair) bool { return c.Price >= 3000 && c.Price < 6000 }},
	} {
		var got apiChairPage
		g.Get(path("/api/chair/search?%s&page=%d&perPage=%d", s.query, s.page, s.perPage)).Decode(t, 200, &got)
		want := sorted(site.data.Chairs, s.fits, morePopularChair)
		if got.Count != len(want) || got.Chairs == nil {
			t.Errorf("%s: count %d with list %t, want %d", s.name, got.Count, got.Chairs != nil, len(want))
		}
		wantRows(t, s.name, got.Chairs, converted(pageOf(want, s.page, s.perPage), chairOf))
	}
}

func testEstateSearch(t *testing.T) {
	g := site.NewClient(t)
	for _, s := range []struct {
		name, query   string
		page, perPage int
		fits          func(e Estate) bool
	}{
		{"rent", "rentRangeId=0", 0, 25, func(e Estate) bool { return e.Rent < 50000 }},
		{"doors", "doorHeightRangeId=1&doorWidthRangeId=3&rentRangeId=2", 2, 20, func(e Estate) bool {
			return e.DoorHeight >= 80 && e.DoorHeight < 110 && e.DoorWidth >= 150 && e.Rent >= 100000 && e.Rent < 150000
		}},
		{"label within another", "features=" + url.QueryEscape("駐車場"), 0, 30, func(e Estate) bool { return hasAll(e.Features, "駐車場") }},
		{"nothing", "features=" + url.QueryEscape("存在しない"), 0, 25, func(Estate) bool { return false }},
	} {
		var got apiEstatePage
		g.Get(path("/api/estate/search?%s&page=%d&perPage=%d", s.query, s.page, s.perPage)).Decode(t, 200, &got)
		want := sorted(site.data.Estates, s.fits, morePopularEstate)
		if got.Count != len(want) || got.Estates == nil {
			t.Errorf("%s: count %d with list %t, want %d", s.name, got.Count, got.Estates != nil, len(want))
		}
		wantRows(t, s.name, got.Estates, converted(pageOf(want, s.page, s.perPage), estateOf))
	}
}

func testSearchRefusals(t *testing.T) {
	g := site.NewClient(t)
	for _, query := range []string{
		"chair/search?page=0&perPage=25", // no condition
		"chair/search", "estate/search", "estate/search?page=0&perPage=25&color=x",
		"chair/search?priceRangeId=6&page=0&perPage=25", "chair/search?heightRangeId=-1&page=0&perPage=25",
		"chair/search?widthRangeId=x&page=0&perPage=25", "chair/search?depthRangeId=4&page=0&perPage=25",
		"chair/search?priceRangeId=0&perPage=25", "chair/search?priceRangeId=0&page=0", "chair/search?priceRangeId=0&page=x&perPage=25",
		"chair/search?priceRangeId=0&page=0&perPage=1.5",
		"estate/search?rentRangeId=4&page=0&perPage=25", "estate/search?doorHeightRangeId=9&page=0&perPage=25",
		"estate/search?doorWidthRangeId=&rentRangeId=y&page=0&perPage=25", "estate/search?rentRangeId=0&page=&perPage=25",
		"estate/search?rentRangeId=0&page=0&perPage=",
	} {
		g.Get("/api/"+query).WantEmpty(t, 400)
	}
}

func testLowPriced(t *testing.T) {
	g := site.NewClient(t)
	var chairs apiChairs
	g.Get("/api/chair/low_priced").Decode(t, 200, &chairs)
	cheap := sorted(site.data.Chairs, func(Chair) bool { return true }, func(a, b Chair) int { return cmp.Compare(a.Price, b.Price) })
	wantRows(t, "cheapest chairs", chairs.Chairs, converted(cheap[:20], chairOf))
	var estates apiEstates
	g.Get("/api/estate/low_priced").Decode(t, 200, &estates)
	low := sorted(site.data.Estates, func(Estate) bool { return true }, func(a, b Estate) int { return cmp.Compare(a.Rent, b.Rent) })
	wantRows(t, "cheapest estates", estates.Estates, converted(low[:20], estateOf))
}

func testRecommended(t *testing.T) {
	g := site.NewClient(t)
	for _, c := range site.data.Chairs[:12] {
		sides := []int64{c.Height, c.Width, c.Depth}
		slices.Sort(sides)
		fits := func(e Estate) bool {
			return min(e.DoorHeight, e.DoorWidth) >= sides[0] && max(e.DoorHeight, e.DoorWidth) >= sides[1]
		}
		var got apiEstates
		g.Get(path("/api/recommended_estate/%d", c.ID)).Decode(t, 200, &got)
		wantRows(t, path("for chair %d", c.ID), got.Estates, converted(pageOf(sorted(site.data.Estates, fits, morePopularEstate), 0, 20), estateOf))
	}
	g.Get("/api/recommended_estate/0").WantEmpty(t, 400)
	g.Get("/api/recommended_estate/x").WantEmpty(t, 400)
}

type point struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// polygon is the body of a search by closed polygon.
func polygon(corners ...point) apptest.Edit {
	return apptest.WithJSON(map[string][]point{"coordinates": append(corners, corners[0])})
}

func testNazotte(t *testing.T) {
	g := site.NewClient(t)
	// The triangle is half of a box with a few hundred estates.
	a, b, c := point{35.6, 139.2}, point{35.6, 139.8}, point{35.9, 139.2}
	inside := func(e Estate) bool {
		return e.Latitude > 35.6 && e.Longitude > 139.2 && (e.Latitude-35.6)/.3+(e.Longitude-139.2)/.6 < 1
	}
	all := sorted(site.data.Estates, inside, morePopularEstate)
	var got apiEstatePage
	g.Send(http.MethodPost, "/api/estate/nazotte", polygon(a, b, c)).Decode(t, 200, &got)
	if len(all) < 100 || got.Count != 50 {
		t.Errorf("count %d of %d estates inside, want 50 of over 100", got.Count, len(all))
	}
	wantRows(t, "triangle", got.Estates, converted(pageOf(all, 0, 50), estateOf))

	g.Send(http.MethodPost, "/api/estate/nazotte", polygon(point{0, 0}, point{0, 1}, point{1, 0})).Decode(t, 200, &got)
	if got.Count != 0 || got.Estates == nil || len(got.Estates) != 0 {
		t.Errorf("in the sea: %+v", got)
	}
	for _, body := range []string{"", "{", `{}`, `{"coordinates":[]}`, `{"coordinates":{}}`, `[]`, `{"coordinates":[{"latitude":"x"}]}`} {
		g.Send(http.MethodPost, "/api/estate/nazotte", apptest.WithBody("application/json", body)).WantEmpty(t, 400)
	}
}
