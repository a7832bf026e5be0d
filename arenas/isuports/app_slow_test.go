package isuports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A statement is a line of the SQLite trace.
type statement struct {
	Time      string   `json:"time"`
	Text      string   `json:"statement"`
	Args      []any    `json:"args"`
	QueryTime *float64 `json:"query_time"`
	Affected  int64    `json:"affected_rows"`
	Rows      int64    `json:"rows"`
	DB        string   `json:"db"`
}

// traced returns what SQLite executed during do.
func traced(t *testing.T, do func()) []statement {
	t.Helper()
	file := site.Stack.Places().Service("tenants").Log("slow")
	trace, err := os.Open(file)
	if err == nil {
		defer trace.Close()
		_, err = trace.Seek(0, io.SeekEnd)
	}
	if err != nil {
		t.Fatal(err)
	}
	do()
	added, err := io.ReadAll(trace)
	if err != nil {
		t.Fatal(err)
	}
	var list []statement
	for line := range bytes.Lines(added) {
		var s statement
		if err := json.Unmarshal(line, &s); err != nil || s.QueryTime == nil || s.Time == "" {
			t.Fatalf("the trace has %s (%v)", line, err)
		}
		list = append(list, s)
	}
	return list
}

// counts returns the numbers of statements by their first words, as "INSERT player".
func counts(list []statement) map[string]int {
	n := map[string]int{}
	for _, s := range list {
		words := strings.Fields(s.Text)
		for i, w := range words {
			if w == "FROM" || w == "INTO" || w == "UPDATE" {
				n[words[0]+" "+words[i+1]]++
				break
			}
		}
	}
	return n
}

// status returns a counter of MariaDB.
func status(t *testing.T, name string) (n int) {
	t.Helper()
	var shown string
	if err := site.DB.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&shown, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// testSlow checks that the app is slow in the places that the rules describe,
// because competitors must be able to find them.
func testSlow(t *testing.T) {
	name, p := newTenant(t, 10)
	id := newCompetition(t, name, "x")
	o, reader := organizer(t, name), as(t, name, "player", p[0])
	var rows []any
	for i, player := range p {
		rows = append(rows, player, i)
	}
	for _, c := range []struct {
		what string
		do   func()
		want map[string]int
		ids  int // rows of the generator that are written
	}{
		{"upload", func() { uploaded(t, name, id, csvOf(rows...)) },
			map[string]int{"SELECT competition": 1, "SELECT player": 10, "DELETE player_score": 1, "INSERT player_score": 10}, 10},
		{"ranking", func() { ranksOf(t, name, p[0], id, "?rank_after=9") },
			map[string]int{"SELECT competition": 1, "SELECT player": 1 + 10, "SELECT player_score": 1}, 0},
		{"player", func() { reader.get("/api/player/player/"+p[1]).want(t, http.StatusOK) },
			map[string]int{"SELECT player": 2, "SELECT competition": 2, "SELECT player_score": 1}, 0},
		{"players", func() {
			o.post("/api/organizer/players/add", "display_name[]", "a", "display_name[]", "b").want(t, http.StatusOK)
		}, map[string]int{"INSERT player": 2, "SELECT player": 2}, 2},
		{"billing", func() { o.get("/api/organizer/billing").want(t, http.StatusOK) },
			map[string]int{"SELECT competition": 2, "SELECT player_score": 1}, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			ids := status(t, "Com_replace")
			got := counts(traced(t, c.do))
			if fmt.Sprint(got) != fmt.Sprint(c.want) || status(t, "Com_replace")-ids != c.ids {
				t.Errorf("SQLite executed %v and %d ids were made, want %v and %d", got, status(t, "Com_replace")-ids, c.want, c.ids)
			}
		})
	}
	t.Run("trace", func(t *testing.T) {
		list := traced(t, func() { ranksOf(t, name, p[0], id, "") })
		file := fmt.Sprintf("%d.db", number(t, "SELECT id FROM tenant WHERE name = ?", name))
		for _, s := range list {
			if filepath.Base(s.DB) != file || len(s.Args) == 0 || s.Rows == 0 {
				t.Errorf("the trace has %+v", s)
			}
		}
		if len(list) == 0 || len(traced(t, func() {})) != 0 {
			t.Error("the trace is empty, or has statements of no request")
		}
	})
	t.Run("visits", func(t *testing.T) {
		inserts := status(t, "Com_insert")
		ranksOf(t, name, p[0], id, "")
		ranksOf(t, name, p[0], id, "")
		if n := status(t, "Com_insert") - inserts; n != 2 {
			t.Errorf("two readings store %d visits, want 2", n)
		}
	})
}

// testLeak checks that /api/me leaves a file open.
func testLeak(t *testing.T) {
	name, p := newTenant(t, 1)
	reader := as(t, name, "player", p[0])
	open := func() int { // files of tenants: connections come and go by themselves
		n := 0
		for _, pid := range site.Stack.Groups()["app"] {
			links, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "fd", "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, link := range links {
				if to, err := os.Readlink(link); err == nil && strings.HasSuffix(to, ".db") {
					n++
				}
			}
		}
		return n
	}
	before := open()
	for range 20 {
		reader.get("/api/me").want(t, http.StatusOK)
	}
	if after := open(); after < before+20 {
		t.Errorf("the app had %d open files of tenants, and %d after 20 requests", before, after)
	}
}
