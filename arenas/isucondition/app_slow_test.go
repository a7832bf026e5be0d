package isucondition_test

import (
	"strings"
	"sync"
	"testing"

	. "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
)

// testSlow checks that the app is slow in the places that the rules describe,
// because competitors must be able to find them.
func testSlow(t *testing.T) {
	c := fresh(t)
	// prepares is n in the app whose driver prepares each statement with arguments.
	prepares := func(n int) int {
		if c.language == "go" {
			return n
		}
		return 0
	}
	g := signedIn(t, "isucon2")
	user := c.data.Users[1]
	uuid := user.ISUs[0].UUID
	idle := contest.WorkOf(t, func() {}) // reading the counters counts as work too
	const rows = 618
	for _, s := range []struct {
		name, path string
		want       apptest.Work
	}{
		// One query for the characters, one per character, one per ISU. Each query per ISU
		// is a full scan of the table of conditions.
		{"trend", "/api/trend", apptest.Work{Selects: 1 + Characters + 28, Prepares: prepares(Characters + 28), Scanned: 28 * rows}},
		{"list", "/api/isu", apptest.Work{Selects: 2 + 20, Prepares: prepares(2 + 20), Commits: 1, Scanned: 20 * rows}},
		{"history", "/api/condition/" + uuid + "?end_time=9999999999&condition_level=critical", apptest.Work{Selects: 3, Prepares: prepares(3), Scanned: rows}},
		{"graph", "/api/isu/" + uuid + "/graph?datetime=1", apptest.Work{Selects: 3, Prepares: prepares(3), Commits: 1, Scanned: rows}},
		{"detail", "/api/isu/" + uuid, apptest.Work{Selects: 2, Prepares: prepares(2)}},
		{"icon", "/api/isu/" + uuid + "/icon", apptest.Work{Selects: 2, Prepares: prepares(2)}},
		{"me", "/api/user/me", apptest.Work{Selects: 1, Prepares: prepares(1)}},
	} {
		t.Run(s.name, func(t *testing.T) {
			var got apptest.Work
			var scanned int
			// A connection that the app closes meanwhile is counted twice for a moment.
			for range 5 {
				got = contest.WorkOf(t, func() { g.Get(s.path).Want(t, 200, "") })
				scanned, got.Scanned = got.Scanned-idle.Scanned, s.want.Scanned
				if got == s.want && scanned >= s.want.Scanned {
					return
				}
			}
			t.Errorf("the database did %+v and read %d rows, want %+v", got, scanned, s.want)
		})
	}
	t.Run("reports", func(t *testing.T) {
		var batch []report
		for i := range int64(10) {
			batch = append(batch, report{false, "is_dirty=false,is_overweight=false,is_broken=false", "", T0.Unix() + i})
		}
		post := func() apptest.Work {
			return contest.WorkOf(t, func() {
				contest.NewClient(t).Send("POST", "/api/condition/"+uuid, apptest.WithJSON(batch)).WantEmpty(t, 202)
			})
		}
		got := post()
		for range 400 {
			if got != idle {
				break
			}
			got = post() // a dropped post causes no database work
		}
		if want := (apptest.Work{Selects: 1, Inserts: 10, Prepares: prepares(11), Commits: 1, Scanned: got.Scanned}); got != want {
			t.Errorf("the database did %+v, want %+v", got, want)
		}
	})
	t.Run("connections", func(t *testing.T) {
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() { g.Get("/api/trend") })
		}
		all.Wait()
		var name string
		var most int
		if err := c.DB.QueryRow("SHOW GLOBAL STATUS LIKE 'Max_used_connections'").Scan(&name, &most); err != nil {
			t.Fatal(err)
		}
		if most < 10 || most > 10+2 { // the test's own connection, and that of the program that loads the data
			t.Errorf("%d connections were in use at once, want the app's 10 and one or two", most)
		}
	})
	t.Run("icon is not cacheable", func(t *testing.T) {
		for name := range g.Get("/api/isu/" + uuid + "/icon").Header {
			if strings.Contains("Etag Last-Modified Cache-Control Expires Content-Encoding", name) {
				t.Errorf("the icon comes with %s", name)
			}
		}
	})
}
