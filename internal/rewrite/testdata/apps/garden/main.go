// Command garden is a small site in the style of net/http at Go 1.13: a pool in a receiver,
// text keys, errors that are answered before the return. It has slow patterns and code
// that resembles them; comments "Fires" and "Lookalike" name them.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

type Keeper struct {
	ID    string         `db:"id"`
	Name  string         `db:"name"`
	Phone sql.NullString `db:"phone"`
}

type Bed struct {
	ID       int64  `db:"id"`
	Title    string `db:"title"`
	KeeperID string `db:"keeper_id"`
	Shade    string `db:"shade"`
}

type Plant struct {
	ID       string         `db:"id"`
	BedID    int64          `db:"bed_id"`
	Name     string         `db:"name"`
	ParentID sql.NullString `db:"parent_id"`
}

type Note struct {
	ID      int64     `db:"id"`
	PlantID string    `db:"plant_id"`
	Text    string    `db:"text"`
	At      time.Time `db:"at"`
}

type site struct{ db *sqlx.DB }

type shelf struct {
	site
	plain *sql.DB
}

var errGone = errors.New("gone")

func main() {
	db, err := sqlx.Open("mysql", os.Getenv("DSN"))
	if err != nil {
		log.Fatal(err)
	}
	walls = db
	s := &site{db}
	h := shelf{site{db}, db.DB}
	for path, f := range map[string]http.HandlerFunc{
		"/keepers": s.keepers, "/latest": s.latest, "/counts": s.counts, "/notes": s.notes, "/newest": s.newest, "/phones": h.phones,
		"/titles": h.titles, "/else": s.elses, "/counted": s.counted, "/named": s.named, "/plain": h.plainNames, "/direct": s.direct,
		"/pair": s.pair, "/value": s.value, "/reading": s.reading, "/parents": s.parents, "/writes": s.writes, "/shades": s.shades, "/two": s.two,
		"/computed": s.computed, "/guarded": s.guarded, "/visit": s.visit, "/visits": s.visits,
		"/tallies": h.tallies, "/lasts": h.lasts, "/firsts": h.firsts, "/asked": h.asked, "/shared": h.shared, "/seeds": h.seeds,
		"/sown": h.sown, "/refused": h.refused, "/renewed": h.renewed,
		"/kept": h.kept, "/numbered": h.numbered, "/given": h.given, "/warmest": h.warmest, "/all": h.all, "/marked": h.marked, "/views": views,
		"/wall": wall, "/texts": s.texts, "/lists": s.lists, "/turns": s.turns, "/renames": s.renames, "/longer": s.longer, "/inside": s.inside,
		"/pairs": s.pairs, "/pairhelp": s.pairHelp, "/fares": s.fares, "/arriving": s.arriving, "/values": h.arrivingValues, "/ways": s.ways, "/ranked": s.ranked,
		"/ids": h.ids, "/asone": s.asOne, "/chains": s.chains, "/across": s.across, "/acrosstwice": s.acrossTwice,
		"/grid": h.grid, "/months": h.months, "/windows": h.windows, "/weigh": h.weigh, "/replant": h.replant, "/settle": h.settle,
		"/locked": h.locked, "/sharedplots": h.sharedPlots, "/either": h.either, "/picture": picture,
		"/listed": h.listed, "/listing": h.listing, "/handed": h.handed,
	} {
		http.HandleFunc(path, f)
	}
	l, err := net.Listen("unix", os.Getenv("LISTEN"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(l, nil))
}

func fail(w http.ResponseWriter, err error) {
	log.Print(err)
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

func answer(w http.ResponseWriter, v interface{}) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

func (s *site) plants(r *http.Request) (plants []Plant, err error) {
	err = s.db.SelectContext(r.Context(), &plants, "SELECT * FROM plants WHERE name >= ? ORDER BY id", r.FormValue("from"))
	return plants, err
}

func (s *site) beds(r *http.Request) (beds []Bed, err error) {
	err = s.db.SelectContext(r.Context(), &beds, "SELECT * FROM beds WHERE title >= ? ORDER BY id", r.FormValue("from"))
	return beds, err
}

// keeper reads into a pointer, and has an error of its own.
func (s *site) keeper(ctx context.Context, id string) (*Keeper, error) {
	k := &Keeper{}
	err := s.db.GetContext(ctx, k, "SELECT * FROM keepers WHERE id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errGone
	} else if err != nil {
		return nil, err
	}
	return k, nil
}

// keepers answers on an error, and then returns.
//
// Fires: APP205
func (s *site) keepers(w http.ResponseWriter, r *http.Request) {
	beds, err := s.beds(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []*Keeper{}
	for _, b := range beds {
		k, err := s.keeper(r.Context(), b.KeeperID)
		if err == errGone {
			continue
		}
		if err != nil {
			log.Printf("bed %d: %v", b.ID, err)
			fail(w, err)
			return
		}
		out = append(out, k)
	}
	answer(w, out)
}

// lastNote is the newest row of a text key, or nil.
func (s *site) lastNote(ctx context.Context, plant string) (*Note, error) {
	n := new(Note)
	if err := s.db.GetContext(ctx, n, "SELECT * FROM notes WHERE plant_id = ? ORDER BY at DESC, id DESC LIMIT 1", plant); err != nil {
		if err == sql.ErrNoRows {
			return nil, nil
		}
		return nil, err
	}
	return n, nil
}

// latest uses the error of the function.
//
// Fires: APP205
func (s *site) latest(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := map[string]*Note{}
	for i := range plants {
		var n *Note
		n, err = s.lastNote(r.Context(), plants[i].ID)
		if err != nil {
			fail(w, err)
			return
		}
		out[plants[i].ID] = n
	}
	answer(w, out)
}

func (s *site) noteCount(plant string) (n int, err error) {
	err = s.db.Get(&n, "SELECT COUNT(*) FROM notes WHERE plant_id = ?", plant)
	return
}

// counts stops early.
//
// Fires: APP205
func (s *site) counts(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	total := 0
	for _, p := range plants {
		n, err := s.noteCount(p.ID)
		if err != nil {
			fail(w, err)
			return
		}
		if total += n; total > 3 {
			break
		}
	}
	answer(w, total)
}

func (s *site) notesOf(ctx context.Context, plant string) ([]Note, error) {
	notes := []Note{}
	err := s.db.SelectContext(ctx, &notes, "SELECT * FROM notes WHERE plant_id = ? ORDER BY at, id DESC", plant)
	return notes, err
}

// notes reads several rows of a text key.
//
// Fires: APP205
func (s *site) notes(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := map[string][]Note{}
	for _, p := range plants {
		if out[p.ID], err = s.notesOf(r.Context(), p.ID); err != nil {
			fail(w, err)
			return
		}
	}
	answer(w, out)
}

func newestNotes(ctx context.Context, db sqlx.QueryerContext, plant string, n int) (notes []Note, err error) {
	err = sqlx.SelectContext(ctx, db, &notes, "SELECT id, plant_id, text, at FROM notes WHERE plant_id = ? AND id > 0 ORDER BY id DESC LIMIT ?", plant, n)
	return notes, err
}

// newest reads some rows of a text key by a function.
//
// Fires: APP205
func (s *site) newest(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	const n = 2
	var out []Note
	for i := 0; i < len(plants); i++ {
		notes, err := newestNotes(r.Context(), s.db, plants[i].ID, n)
		if err != nil {
			fail(w, err)
			return
		}
		out = append(out, notes...)
	}
	answer(w, out)
}

// phone scans two values, one of which may be NULL.
func (h shelf) phone(ctx context.Context, keeper string) (string, bool) {
	var name string
	var phone sql.NullString
	if err := h.plain.QueryRowContext(ctx, "SELECT name, phone FROM keepers WHERE id = ?", keeper).Scan(&name, &phone); err != nil {
		return "", false
	}
	return name + ":" + phone.String, phone.Valid
}

// phones has a receiver that is a value.
//
// Fires: APP205
func (h shelf) phones(w http.ResponseWriter, r *http.Request) {
	beds, err := h.beds(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for _, b := range beds {
		if p, ok := h.phone(r.Context(), b.KeeperID); ok {
			out = append(out, p)
		} else {
			out = append(out, "none "+p)
		}
	}
	answer(w, out)
}

func (h *shelf) title(id int64) (title string, err error) {
	err = h.site.db.QueryRow("SELECT title FROM beds WHERE id = ?", id).Scan(&title)
	if err == sql.ErrNoRows {
		return "-", nil
	}
	return title, err
}

// titles has an integer key and one value; the pool is in an embedded struct.
//
// Fires: APP205
func (h shelf) titles(w http.ResponseWriter, r *http.Request) {
	plants, err := h.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	titles := make([]string, 0, len(plants))
	for _, p := range plants {
		t, err := h.title(p.BedID)
		if err != nil {
			fail(w, err)
			return
		}
		titles = append(titles, t)
	}
	answer(w, titles)
}

// elses appends in an else, two helpers in one loop.
//
// Fires: APP205
func (s *site) elses(w http.ResponseWriter, r *http.Request) {
	beds, err := s.beds(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for _, b := range beds {
		if b.Shade == "dark" {
			continue
		} else {
			k, err := s.keeper(r.Context(), b.KeeperID)
			if err == errGone {
				out = append(out, b.Title)
			} else if err != nil {
				fail(w, err)
				return
			} else {
				out = append(out, b.Title+k.Name)
			}
		}
	}
	answer(w, out)
}

// counted goes on after an error.
//
// Fires: APP205
func (s *site) counted(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := map[string]int{}
	for i := len(plants) - 1; i >= 0; i-- {
		n, err := s.noteCount(plants[i].ID)
		if err != nil {
			log.Print(err)
			continue
		}
		out[plants[i].Name] += n
	}
	answer(w, out)
}

// find has a named result that is the destination, and changes the row.
func find(db *sqlx.DB, id string) (k Keeper, err error) {
	if err = db.Get(&k, "SELECT id, name FROM keepers WHERE id = ?", id); err != nil {
		return Keeper{Name: "nobody"}, nil
	}
	k.Name += "!"
	return k, nil
}

// named calls a function twice in a round.
//
// Fires: APP205
func (s *site) named(w http.ResponseWriter, r *http.Request) {
	beds, err := s.beds(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := ""
	for n, b := range beds {
		k, err := find(s.db, b.KeeperID)
		if err != nil {
			fail(w, err)
			return
		}
		l, err := find(s.db, beds[len(beds)-1-n].KeeperID)
		if err != nil {
			fail(w, err)
			return
		}
		out += k.Name + l.Name
	}
	answer(w, out)
}

func plainName(db *sql.DB, id string) (string, error) {
	var name string
	row := db.QueryRow("SELECT name FROM plants WHERE id = ?", id)
	err := row.Scan(&name)
	return name, err
}

// plainNames scans later: the row is in a variable.
//
// Lookalike: APP205
func (h shelf) plainNames(w http.ResponseWriter, r *http.Request) {
	plants, err := h.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := ""
	for _, p := range plants {
		name, err := plainName(h.plain, p.ID)
		if err != nil {
			fail(w, err)
			return
		}
		out += name
	}
	answer(w, out)
}

// direct sends the statement itself.
//
// Fires: APP205
func (s *site) direct(w http.ResponseWriter, r *http.Request) {
	beds, err := s.beds(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := ""
	for _, b := range beds {
		var k Keeper
		if err := s.db.Get(&k, "SELECT * FROM keepers WHERE id = ?", b.KeeperID); err == sql.ErrNoRows {
			continue
		} else if err != nil {
			fail(w, err)
			return
		}
		out += k.Name
	}
	answer(w, out)
}

// pair has a pointer as its destination, and an integer key.
//
// Fires: APP205
func (s *site) pair(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for _, p := range plants {
		b := &Bed{}
		err := s.db.GetContext(r.Context(), b, "SELECT * FROM beds WHERE id = ?", p.BedID)
		if err != nil && err != sql.ErrNoRows {
			fail(w, err)
			return
		}
		out = append(out, b.Title)
	}
	answer(w, out)
}

// value reads with new.
//
// Fires: APP205
func (s *site) value(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for _, p := range plants {
		n := new(Note)
		if err = s.db.Get(n, "SELECT * FROM notes WHERE plant_id = ? ORDER BY at DESC, id LIMIT 1", p.ID); err == nil {
			out = append(out, n.Text)
		}
	}
	answer(w, out)
}

// reading uses the pointer after an error.
//
// Fires: APP205
func (s *site) reading(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []string{}
	for _, p := range plants {
		b := &Bed{}
		if err = s.db.Get(b, "SELECT * FROM beds WHERE id = ?", p.BedID); err != nil {
			b.Title = "?"
		}
		out = append(out, b.Title)
	}
	answer(w, out)
}

// parents has a key that only some rows have.
//
// Fires: APP205
func (s *site) parents(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := map[string]int{}
	for _, p := range plants {
		if !p.ParentID.Valid {
			continue
		}
		n, err := s.noteCount(p.ParentID.String)
		if err != nil {
			fail(w, err)
			return
		}
		out[p.Name] = n
	}
	answer(w, out)
}

// writes changes what the next round reads.
//
// Lookalike: APP205
func (s *site) writes(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	out := []int{}
	for _, p := range plants {
		n, err := s.noteCount(p.ID)
		if err != nil {
			fail(w, err)
			return
		}
		out = append(out, n)
		if _, err := s.db.Exec("DELETE FROM notes WHERE plant_id > ? AND text = 'never'", p.ID); err != nil {
			fail(w, err)
			return
		}
	}
	answer(w, out)
}

func (s *site) bedsOf(keeper string) (beds []Bed, err error) {
	err = s.db.Select(&beds, "SELECT * FROM beds WHERE keeper_id = ? ORDER BY shade, id", keeper)
	return beds, err
}

// shades orders by an ENUM, which a UNION would order as texts.
//
// Lookalike: APP205
func (s *site) shades(w http.ResponseWriter, r *http.Request) {
	out := []Bed{}
	for _, k := range []string{"01A", "01B"} {
		beds, err := s.bedsOf(k)
		if err != nil {
			fail(w, err)
			return
		}
		out = append(out, beds...)
	}
	answer(w, out)
}

func (s *site) both(plant string) (n int, err error) {
	if err = s.db.Get(&n, "SELECT COUNT(*) FROM notes WHERE plant_id = ?", plant); err != nil {
		return 0, err
	}
	m := 0
	err = s.db.Get(&m, "SELECT COUNT(*) FROM plants WHERE parent_id = ?", plant)
	return n + m, err
}

// two calls a function with two statements.
//
// Fires: APP205
func (s *site) two(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	n := 0
	for _, p := range plants {
		m, err := s.both(p.ID)
		if err != nil {
			fail(w, err)
			return
		}
		n += m
	}
	answer(w, n)
}

// computed makes the key in the round.
//
// Lookalike: APP205
func (s *site) computed(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	n, last := 0, ""
	for _, p := range plants {
		m, err := s.noteCount(last)
		if err != nil {
			fail(w, err)
			return
		}
		n, last = n+m, p.ID
		k, err := s.noteCount(last)
		if err != nil {
			fail(w, err)
			return
		}
		n += k
	}
	answer(w, n)
}

// guarded has a key behind a pointer that may be nil.
//
// Lookalike: APP205
func (s *site) guarded(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	n := 0
	for _, p := range []*Plant{nil, &plants[0]} {
		if p != nil {
			m, err := s.noteCount(p.ID)
			if err != nil {
				fail(w, err)
				return
			}
			n += m
		}
	}
	answer(w, n)
}

// visit stores a row per plant.
//
// Fires: APP204
func (s *site) visit(w http.ResponseWriter, r *http.Request) {
	plants, err := s.plants(r)
	if err != nil {
		fail(w, err)
		return
	}
	tx, err := s.db.Begin()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	for i, p := range plants {
		if _, err := tx.Exec("INSERT INTO visits (plant_id, n) VALUES (?, ?)", p.ID, i); err != nil {
			fail(w, err)
			return
		}
	}
	if err := tx.Commit(); err != nil {
		fail(w, err)
		return
	}
	answer(w, len(plants))
}

// visits are what visit stored.
func (s *site) visits(w http.ResponseWriter, r *http.Request) {
	var out []struct {
		PlantID string `db:"plant_id"`
		N       int    `db:"n"`
	}
	if err := s.db.Select(&out, "SELECT plant_id, n FROM visits ORDER BY plant_id, n"); err != nil {
		fail(w, err)
		return
	}
	answer(w, out)
}
