package isuumo_test

import (
	"net/http"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
)

// testSlow checks that the app is slow in the places that the rules describe,
// because competitors must be able to find them.
func testSlow(t *testing.T) {
	const rows = 29500
	g := site.NewClient(t)
	idle := site.WorkOf(t, func() {}) // reading the counters counts as work too
	box := []point{{35.60, 139.30}, {35.64, 139.30}, {35.64, 139.34}, {35.60, 139.34}}
	inBox := count(t, "SELECT COUNT(*) FROM estate WHERE latitude BETWEEN 35.60 AND 35.64 AND longitude BETWEEN 139.30 AND 139.34")
	if inBox < 3 {
		t.Fatalf("%d estates in the box, want a few", inBox)
	}
	for _, s := range []struct {
		name string
		do   func()
		want apptest.Work // Scanned at least
	}{
		{"chair search", func() { g.Get("/api/chair/search?priceRangeId=0&page=0&perPage=25").Want(t, 200, "") },
			apptest.Work{Selects: 2, Prepares: 2, Scanned: 2 * rows}},
		{"estate search", func() { g.Get("/api/estate/search?rentRangeId=0&page=0&perPage=25").Want(t, 200, "") },
			apptest.Work{Selects: 2, Prepares: 2, Scanned: 2 * rows}},
		{"cheapest chairs", func() { g.Get("/api/chair/low_priced").Want(t, 200, "") }, apptest.Work{Selects: 1, Prepares: 1, Scanned: rows}},
		{"cheapest estates", func() { g.Get("/api/estate/low_priced").Want(t, 200, "") }, apptest.Work{Selects: 1, Prepares: 1, Scanned: rows}},
		{"recommendation", func() { g.Get("/api/recommended_estate/1").Want(t, 200, "") }, apptest.Work{Selects: 2, Prepares: 2, Scanned: rows}},
		{"polygon", func() { g.Send(http.MethodPost, "/api/estate/nazotte", polygon(box...)).Want(t, 200, "") },
			apptest.Work{Selects: 1 + inBox, Prepares: 1 + inBox, Scanned: rows}},
		{"detail", func() { g.Get("/api/chair/1").Want(t, 200, "") }, apptest.Work{Selects: 1, Prepares: 1}},
	} {
		t.Run(s.name, func(t *testing.T) {
			var got apptest.Work
			var scanned int
			// A connection that the app closes meanwhile is counted twice for a moment.
			for range 5 {
				got = site.WorkOf(t, s.do)
				scanned, got.Scanned = got.Scanned-idle.Scanned, s.want.Scanned
				if got == s.want && scanned >= s.want.Scanned {
					return
				}
			}
			t.Errorf("the database did %+v and read %d rows, want %+v", got, scanned, s.want)
		})
	}
}
