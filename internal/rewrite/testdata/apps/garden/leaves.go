package main

import (
	"context"
	"log"
	"net/http"
	"strconv"

	"github.com/jmoiron/sqlx"
)

// Handlers that read all rows of a table and keep some of the first ones.

type Leaf struct {
	ID   int64 `db:"id"`
	Tone int   `db:"tone"`
}

const perPage = 5

func least(r *http.Request) int64 {
	n, _ := strconv.ParseInt(r.FormValue("least"), 10, 64)
	return n
}

// kept leaves rows out in its loop.
//
// Fires: APP202 APP213
func (h shelf) kept(w http.ResponseWriter, r *http.Request) {
	from := least(r)
	leaves := []Leaf{}
	err := h.db.SelectContext(r.Context(), &leaves, "SELECT * FROM leaves ORDER BY id DESC")
	if err != nil {
		fail(w, err)
		return
	}
	out := []Leaf{}
	for _, l := range leaves {
		if l.Tone < int(from) {
			continue
		}
		out = append(out, l)
		if len(out) >= perPage {
			break
		}
	}
	answer(w, out)
}

// numbered has the index, an argument, and a query in its loop.
//
// Fires: APP202 APP205
func (h shelf) numbered(w http.ResponseWriter, r *http.Request) {
	from := least(r)
	var leaves []*Leaf
	if err := h.db.Select(&leaves, "SELECT * FROM leaves WHERE id > ? ORDER BY id", from%7); err != nil {
		log.Print(err)
		fail(w, err)
		return
	}
	out := map[int]int64{}
	ids := []int64{}
	for i, l := range leaves {
		n, err := h.tonesOf(r.Context(), l.Tone)
		if err != nil {
			fail(w, err)
			return
		}
		if n > 0 && l.ID > from {
			out[i] = l.ID
			ids = append(ids, l.ID)
		} else {
			continue
		}
		if len(ids) == perPage {
			break
		}
	}
	answer(w, out)
}

func (h shelf) tonesOf(ctx context.Context, tone int) (n int, err error) {
	err = h.db.GetContext(ctx, &n, "SELECT COUNT(*) FROM leaves WHERE tone = ?", tone)
	return n, err
}

// warm keeps leaves for each call.
func warm(leaves []Leaf, from int64) []Leaf {
	var out []Leaf
	for _, l := range leaves {
		if l.ID <= from {
			continue
		}
		out = append(out, l)
		if len(out) >= perPage {
			break
		}
	}
	return out
}

// warmer also reads for each leaf.
//
// Fires: APP205
func (h shelf) warmer(ctx context.Context, leaves []Leaf, from int64, loud bool) ([]string, error) {
	out := make([]string, 0)
	for _, l := range leaves {
		var n int
		if err := h.db.GetContext(ctx, &n, "SELECT COUNT(*) FROM leaves WHERE tone = ?", l.Tone); err != nil {
			return nil, err
		}
		if l.ID > from {
			out = append(out, strconv.Itoa(n))
		}
		if len(out) == perPage {
			break
		}
	}
	return out, nil
}

// given gives its rows to a function without an error.
//
// Fires: APP202
func (h shelf) given(w http.ResponseWriter, r *http.Request) {
	leaves := []Leaf{}
	if err := h.db.Select(&leaves, "SELECT id, tone FROM leaves ORDER BY id"); err != nil {
		fail(w, err)
		return
	}
	out := warm(leaves, least(r))
	answer(w, out)
}

var asked int

// next is another value each time.
func next(n int64) int64 {
	asked++
	return n
}

// warmest gives its rows to a method with an error, and asks for an argument once.
//
// Fires: APP202
func (h shelf) warmest(w http.ResponseWriter, r *http.Request) {
	var leaves []Leaf
	err := h.db.SelectContext(r.Context(), &leaves, "SELECT * FROM leaves WHERE tone >= ? ORDER BY tone, id", 0)
	if err != nil {
		fail(w, err)
		return
	}
	before := asked
	out, err := h.warmer(r.Context(), leaves, next(least(r)), r.FormValue("loud") != "")
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, []interface{}{out, asked - before, len(leaves) > 0})
}

// all shows how many there are besides what it keeps.
//
// Lookalike: APP202
func (h shelf) all(w http.ResponseWriter, r *http.Request) {
	var leaves []Leaf
	if err := sqlx.Select(h.db, &leaves, "SELECT * FROM leaves ORDER BY id"); err != nil {
		fail(w, err)
		return
	}
	answer(w, []interface{}{len(leaves), warm(leaves, least(r))})
}

// marked writes for each row.
//
// Lookalike: APP202
func (h shelf) marked(w http.ResponseWriter, r *http.Request) {
	var leaves []Leaf
	if err := h.db.Select(&leaves, "SELECT * FROM leaves ORDER BY id"); err != nil {
		fail(w, err)
		return
	}
	out := []int64{}
	for _, l := range leaves {
		if l.ID <= least(r) {
			continue
		}
		if _, err := h.db.Exec("UPDATE leaves SET tone = tone WHERE id = ?", l.ID); err != nil {
			fail(w, err)
			return
		}
		out = append(out, l.ID)
		if len(out) >= perPage {
			break
		}
	}
	answer(w, out)
}
