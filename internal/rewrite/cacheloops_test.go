package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestConstantStatements: texts that no known call sends are planned for, too.
func TestConstantStatements(t *testing.T) {
	tier.Slow(t)
	const source = `package main

import "database/sql"

type orm struct{}

func (orm) Raw(text string, args ...any) orm { return orm{} }

const columns = "id, name"

var texts = map[string]string{"remove": "DELETE FROM room WHERE id = ?", "title": "Select a room", "": "UPDATE"}

func pool() (*sql.DB, error) { return sql.Open("mysql", "%v:%v@tcp(%v:%v)/%v") }

func find(o orm, id int) { o.Raw("SELECT "+columns+" FROM room WHERE id = ?", id) }

func main() {}
`
	app := loadCases(t, map[string]map[string]string{"a": {"main.go": source}}, nil)["a"]
	got, err := app.cache()
	if err != nil {
		t.Fatal(err)
	}
	listed, err := Statements(t.Context(), app.dir, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"DELETE FROM room WHERE id = ?", "SELECT id, name FROM room WHERE id = ?"}
	for _, list := range [][]Statement{got.Statements, listed.Statements} {
		var texts []string
		for _, s := range list {
			texts = append(texts, s.Text)
		}
		slices.Sort(texts)
		if !slices.Equal(texts, want) {
			t.Errorf("%q, want %q", texts, want)
		}
	}
}

// TestLoops: loops over the rows of one statement that send another one, with the column
// that has the key where the source shows it.
func TestLoops(t *testing.T) {
	tier.Slow(t)
	const head = `package main

import "database/sql"

type room struct {
	ID    string ` + "`db:\"room_id\"`" + `
	Owner int64
}

type handle interface {
	Select(dest any, query string, args ...any) error
	Get(dest any, query string, args ...any) error
}

func main() {}

`
	cases := map[string]struct{ body, want string }{
		"rows": {`func list(db *sql.DB) {
	rows, _ := db.Query("SELECT id FROM room")
	for rows.Next() {
		var id, n int
		rows.Scan(&id)
		db.QueryRow("SELECT COUNT(*) FROM message WHERE room = ?", id).Scan(&n)
	}
}`, "SELECT id FROM room > SELECT COUNT(*) FROM message WHERE room = ? ()"},
		"helper": {`func owner(db *sql.DB, id int) *sql.Row { return db.QueryRow("SELECT name FROM owner WHERE id = ?", id) }

func list(db *sql.DB) {
	rows, _ := db.Query("SELECT id FROM room")
	for rows.Next() {
		var id int
		rows.Scan(&id)
		owner(db, id)
	}
}`, "SELECT id FROM room > SELECT name FROM owner WHERE id = ? ()"},
		"slices": {`func list(db handle) {
	var rooms []room
	db.Select(&rooms, "SELECT * FROM room")
	for _, r := range rooms {
		var n int
		db.Get(&n, "SELECT COUNT(*) FROM message WHERE room = ?", r.ID)
	}
}`, "SELECT * FROM room > SELECT COUNT(*) FROM message WHERE room = ? (room_id)"},
		"helper of a field by index": {`func count(db handle, r *room) (n int) {
	db.Get(&n, "SELECT COUNT(*) FROM message WHERE room = ?", r.ID)
	return n
}

func list(db handle) {
	rooms := []room{}
	if err := db.Select(&rooms, "SELECT * FROM room"); err != nil {
		return
	}
	for i := range rooms {
		count(db, &rooms[i])
	}
}`, "SELECT * FROM room > SELECT COUNT(*) FROM message WHERE room = ? (room_id)"},
		"no loop": {`func list(db handle) {
	var rooms []room
	db.Select(&rooms, "SELECT * FROM room")
	db.Get(nil, "SELECT name FROM owner WHERE id = ?", rooms[0].Owner)
}`, ""},
		"another loop": {`func list(db handle, ids []int) {
	var rooms []room
	db.Select(&rooms, "SELECT * FROM room")
	for _, id := range ids {
		db.Get(nil, "SELECT name FROM owner WHERE id = ?", id)
	}
}`, ""},
		"a write": {`func list(db *sql.DB) {
	rows, _ := db.Query("SELECT id FROM room")
	for rows.Next() {
		db.Exec("DELETE FROM message WHERE room = ?", 1)
	}
}`, ""},
	}
	sources := map[string]map[string]string{}
	for name, c := range cases {
		sources[name] = map[string]string{"main.go": head + c.body + "\n"}
		if !strings.Contains(c.body, "sql.DB") {
			sources[name]["main.go"] = strings.Replace(head, "import \"database/sql\"\n\n", "", 1) + c.body + "\n"
		}
	}
	for name, app := range loadCases(t, sources, nil) {
		got, err := app.cache()
		if err != nil || len(got.Blockers) > 0 {
			t.Errorf("%s: %q, %v", name, got.Blockers, err)
			continue
		}
		var all []string
		for _, l := range got.Loops {
			if !strings.HasPrefix(l.Place, "main.go:") {
				t.Errorf("%s: %+v", name, l)
			}
			all = append(all, fmt.Sprintf("%s > %s (%s)", l.Parent, l.Child, l.Column))
		}
		slices.Sort(all)
		if got := strings.Join(all, "; "); got != cases[name].want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, cases[name].want)
		}
	}
}
