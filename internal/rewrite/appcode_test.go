package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// storeSource is a package with the statements of an app.
const storeSource = `package store

import "database/sql"

type Room struct {
	ID    string ` + "`db:\"room_id\"`" + `
	Owner string
}

type Owner struct{ ID, Name string }

type Store struct{ DB *sql.DB }

func (s *Store) Rooms() ([]Room, error) {
	rows, err := s.DB.Query("SELECT room_id, owner FROM room")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var rooms []Room
	for rows.Next() {
		var r Room
		if err := rows.Scan(&r.ID, &r.Owner); err != nil {
			return nil, err
		}
		rooms = append(rooms, r)
	}
	return rooms, rows.Err()
}

func (s *Store) Owner(id string) (*Owner, error) {
	o := &Owner{}
	err := s.DB.QueryRow("SELECT id, name FROM owner WHERE id = ?", id).Scan(&o.ID, &o.Name)
	return o, err
}

func Count(db *sql.DB, room string) (n int) {
	db.QueryRow("SELECT COUNT(*) FROM message WHERE room = ?", room).Scan(&n)
	return n
}

func (r Room) Last(db *sql.DB) (text string) {
	db.QueryRow("SELECT body FROM message WHERE room = ? ORDER BY id DESC LIMIT 1", r.ID).Scan(&text)
	return text
}

func (s *Store) Add(room, text string) error {
	_, err := s.DB.Exec("INSERT INTO message (room, body) VALUES (?, ?)", room, text)
	return err
}
`

// serviceSource is a package between the store and the handlers.
const serviceSource = `package service

import "example.org/app/store"

type Rooms interface {
	Rooms() ([]store.Room, error)
	Owner(id string) (*store.Owner, error)
	Add(room, text string) error
}

type Service struct{ Rooms Rooms }

func (s *Service) NameOf(r *store.Room) string {
	o, err := s.Rooms.Owner(r.Owner)
	if err != nil {
		return ""
	}
	return o.Name
}

func (s *Service) List() ([]store.Room, error) { return s.Rooms.Rooms() }

func (s *Service) Tell(room store.Room) error { return s.Rooms.Add(room.ID, "hello") }
`

const (
	roomText  = "SELECT room_id, owner FROM room"
	ownerText = "SELECT id, name FROM owner WHERE id = ?"
	countText = "SELECT COUNT(*) FROM message WHERE room = ?"
	lastText  = "SELECT body FROM message WHERE room = ? ORDER BY id DESC LIMIT 1"
)

// TestAcrossPackages: a loop that sends a statement through functions of other packages is
// found at its line, and so is the statement whose rows it goes over.
func TestAcrossPackages(t *testing.T) {
	tier.Slow(t)
	type acrossCase struct {
		body string
		code string // of the place, "" for none
		loop string // parent > child (column), "" for none
	}
	cases := map[string]acrossCase{
		"a function": {`func list(s *store.Store) {
	rooms, _ := s.Rooms()
	for _, r := range rooms {
		store.Count(s.DB, r.ID) // here
	}
}`, "APP205", roomText + " > " + countText + " (room_id)"},
		"a method": {`func list(s *store.Store) {
	rooms, err := s.Rooms()
	if err != nil {
		return
	}
	for i := range rooms {
		s.Owner(rooms[i].Owner) // here
	}
}`, "APP205", roomText + " > " + ownerText + " (owner)"},
		"an interface": {`func list(rooms service.Rooms) {
	all, _ := rooms.Rooms()
	for _, r := range all {
		o, err := rooms.Owner(r.Owner) // here
		_, _ = o, err
	}
}`, "APP205", roomText + " > " + ownerText + " (owner)"},
		"two packages below": {`func list(s *service.Service) {
	rooms, _ := s.List()
	for i := 0; i < len(rooms); i++ {
		s.NameOf(&rooms[i]) // here
	}
}`, "APP205", roomText + " > " + ownerText + " (owner)"},
		"the receiver": {`func list(s *store.Store) {
	rooms, _ := s.Rooms()
	for _, room := range rooms {
		room.Last(s.DB) // here
	}
}`, "APP205", roomText + " > " + lastText + " (room_id)"},
		"a closure": {`func list(s *store.Store) {
	count := func(id string) int { return store.Count(s.DB, id) }
	rooms, _ := s.Rooms()
	for _, r := range rooms {
		count(r.ID) // here
	}
}`, "APP205", roomText + " > " + countText + " (room_id)"},
		"a function for each element": {`func each(rooms []store.Room, f func(store.Room) int) {}

func list(s *store.Store) {
	rooms, _ := s.Rooms()
	each(rooms, func(r store.Room) int {
		return store.Count(s.DB, r.ID) // here
	})
}`, "APP205", roomText + " > " + countText + " (room_id)"},
		"a parameter": {`func show(s *store.Store, rooms []store.Room) {
	for _, r := range rooms {
		id := r.ID
		store.Count(s.DB, id) // here
	}
}

func list(s *store.Store) {
	rooms, _ := s.Rooms()
	show(s, rooms)
}`, "APP205", roomText + " > " + countText + " (room_id)"},
		"a call in the header": {`func must(rooms []store.Room, err error) []store.Room { return rooms }

func list(s *store.Store) {
	for _, r := range must(s.Rooms()) {
		store.Count(s.DB, r.ID) // here
	}
}`, "APP205", roomText + " > " + countText + " (room_id)"},
		"an INSERT": {`func tell(s *service.Service, rooms []store.Room) {
	for _, r := range rooms {
		s.Tell(r) // here
	}
}`, "APP204", ""},
		"goroutines": {`func list(s *store.Store) {
	rooms, _ := s.Rooms()
	for _, r := range rooms {
		r := r
		go func() {
			store.Count(s.DB, r.ID) // here
		}()
	}
}`, "APP205", roomText + " > " + countText + " (room_id)"},
		"an element that is not used": {`func list(s *store.Store, id string) {
	rooms, _ := s.Rooms()
	for range rooms {
		store.Count(s.DB, id)
	}
}`, "", roomText + " > " + countText + " ()"},
		"tried again": {`func list(s *store.Store, id string) {
	for i := 0; i < 3; i++ {
		store.Count(s.DB, id)
	}
}`, "", ""},
		"a number that the statement has": {`func list(s *store.Store) {
	for i := 0; i < 3; i++ {
		store.Count(s.DB, string(rune(i))) // here
	}
}`, "APP205", ""},
		"work that comes": {`func list(s *store.Store, ids chan string) {
	for {
		id := <-ids
		store.Count(s.DB, id)
	}
}`, "", ""},
		"no loop": {`func list(s *store.Store, id string) { store.Count(s.DB, id) }`, "", ""},
	}
	apps := loadEach(t, cases, func(_ string, c acrossCase) map[string]string {
		source := "package main\n\nimport (\n"
		for _, name := range []string{"service", "store"} {
			if strings.Contains(c.body, name+".") {
				source += "\t\"example.org/app/" + name + "\"\n"
			}
		}
		return map[string]string{"main.go": source + ")\n\n" + c.body + "\n\nfunc main() {}\n", "store/store.go": storeSource, "service/service.go": serviceSource}
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			res, err := runOn(apps[name].dir, apps[name].pkgs, Facts{}, []*Lever{&rowByRowInsert, &nPlusOne})
			if err != nil || len(res.Problems) > 0 {
				t.Fatalf("%+v, %v", res.Problems, err)
			}
			acrossPlace(t, res, c.body, c.code)
			var loops []string
			for _, l := range res.Loops {
				if strings.HasPrefix(l.Place, "main.go:") {
					loops = append(loops, fmt.Sprintf("%s > %s (%s)", l.Parent, l.Child, l.Column))
				}
			}
			slices.Sort(loops)
			if got := strings.Join(loops, "; "); got != c.loop {
				t.Errorf("loops:\n got %s\nwant %s", got, c.loop)
			}
		})
	}
}

// acrossPlace compares the places of a case with its comment.
func acrossPlace(t *testing.T, res *Result, body, code string) {
	t.Helper()
	for _, h := range res.Hits {
		if !strings.HasSuffix(h.File, "main.go") {
			t.Errorf("a place in %s:%d: %+v", h.File, h.Line, h)
			continue
		}
		line := strings.Split(string(res.Files[h.File]), "\n")[h.Line-1]
		if !strings.HasSuffix(line, "// here") || h.Code != code {
			t.Errorf("%s at %q", h.Code, line)
		}
		if why := withoutReason(h); why != "" || len(h.Statements) != 1 {
			t.Errorf("%s: %+v, statements %q", why, h.Reason, h.Statements)
		}
		t.Logf("%d fixes, %+v", len(h.Variants), h.Reason)
	}
	if want := strings.Count(body, "// here"); len(res.Hits) != want || (code == "") != (want == 0) {
		t.Errorf("%d places, want %d: %+v", len(res.Hits), want, res.Hits)
	}
}
