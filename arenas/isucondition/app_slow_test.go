package isucondition_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	. "github.com/iikanji/iikanji/arenas/isucondition"
)

// work is the work of the database.
type work struct {
	selects, inserts, prepares, commits, scanned int
}

// workOf counts the database's work during do. No other client uses the database.
func workOf(t *testing.T, do func()) work {
	t.Helper()
	read := func() (n map[string]int) {
		n = map[string]int{}
		rows, err := contest.db.Query("SHOW GLOBAL STATUS")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name, value string
			var k int
			if err := rows.Scan(&name, &value); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscan(value, &k); err == nil {
				n[name] = k
			}
		}
		return n
	}
	before := read()
	do()
	after := read()
	grown := func(names ...string) (n int) {
		for _, name := range names {
			n += after[name] - before[name]
		}
		return n
	}
	return work{
		selects: grown("Com_select"), inserts: grown("Com_insert"), prepares: grown("Com_stmt_prepare"),
		commits: grown("Com_commit"), scanned: grown("Handler_read_rnd_next", "Handler_read_next"),
	}
}

// testSlow checks that the app is slow in the places that the rules describe,
// because competitors must be able to find them.
func testSlow(t *testing.T) {
	c := fresh(t)
	g := signedIn(t, "isucon2")
	user := c.data.Users[1]
	uuid := user.ISUs[0].UUID
	idle := workOf(t, func() {}) // reading the counters counts as work too
	const rows = 618
	for _, s := range []struct {
		name, path string
		want       work
	}{
		// One query for the characters, one per character, one per ISU. Each query per ISU
		// is a full scan of the table of conditions.
		{"trend", "/api/trend", work{selects: 1 + Characters + 28, prepares: Characters + 28, scanned: 28 * rows}},
		{"list", "/api/isu", work{selects: 2 + 20, prepares: 2 + 20, commits: 1, scanned: 20 * rows}},
		{"history", "/api/condition/" + uuid + "?end_time=9999999999&condition_level=critical", work{selects: 3, prepares: 3, scanned: rows}},
		{"graph", "/api/isu/" + uuid + "/graph?datetime=1", work{selects: 3, prepares: 3, commits: 1, scanned: rows}},
		{"detail", "/api/isu/" + uuid, work{selects: 2, prepares: 2}},
		{"icon", "/api/isu/" + uuid + "/icon", work{selects: 2, prepares: 2}},
		{"me", "/api/user/me", work{selects: 1, prepares: 1}},
	} {
		t.Run(s.name, func(t *testing.T) {
			var got work
			var scanned int
			// A connection that the app closes meanwhile is counted twice for a moment.
			for range 5 {
				got = workOf(t, func() { g.get(s.path).want(t, 200, "") })
				scanned, got.scanned = got.scanned-idle.scanned, s.want.scanned
				if got == s.want && scanned >= s.want.scanned {
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
		post := func() work {
			return workOf(t, func() { newGuest(t).send("POST", "/api/condition/"+uuid, withJSON(batch)).wantEmpty(t, 202) })
		}
		got := post()
		for range 400 {
			if got != idle {
				break
			}
			got = post() // a dropped post causes no database work
		}
		if want := (work{selects: 1, inserts: 10, prepares: 11, commits: 1, scanned: got.scanned}); got != want {
			t.Errorf("the database did %+v, want %+v", got, want)
		}
	})
	t.Run("connections", func(t *testing.T) {
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() { g.get("/api/trend") })
		}
		all.Wait()
		var name string
		var most int
		if err := c.db.QueryRow("SHOW GLOBAL STATUS LIKE 'Max_used_connections'").Scan(&name, &most); err != nil {
			t.Fatal(err)
		}
		if most < 10 || most > 10+2 { // the test's own connection, and that of the program that loads the data
			t.Errorf("%d connections were in use at once, want the app's 10 and one or two", most)
		}
	})
	t.Run("icon is not cacheable", func(t *testing.T) {
		for name := range g.get("/api/isu/" + uuid + "/icon").header {
			if strings.Contains("Etag Last-Modified Cache-Control Expires Content-Encoding", name) {
				t.Errorf("the icon comes with %s", name)
			}
		}
	})
}
