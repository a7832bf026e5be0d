package main

import (
	"net/http"
	"time"
)

// A footprint says that one user looked at pages of another one on some day.
type footprint struct {
	UserID  int // whose pages
	OwnerID int // who looked at them
	Date    time.Time
	Updated time.Time // the latest visit of that day
}

// The queries of footprints: those of the top page and those of their own page.
const (
	topFootprints = "SELECT user_id, owner_id, DATE(created_at) AS date, MAX(created_at) AS updated FROM footprints " +
		"WHERE user_id = ? GROUP BY user_id, owner_id, DATE(created_at) ORDER BY updated DESC LIMIT 10"
	allFootprints = "SELECT user_id, owner_id, DATE(created_at) AS date, MAX(created_at) AS updated FROM footprints " +
		"WHERE user_id = ? GROUP BY user_id, owner_id, DATE(created_at) ORDER BY updated DESC LIMIT 50"
)

// markFootprint stores that the current user looked at a page of the user with the id.
func (a *app) markFootprint(r *http.Request, id int) {
	me := a.currentUser(r)
	if me.ID == id {
		return
	}
	_, err := a.db.Exec("INSERT INTO footprints (user_id, owner_id) VALUES (?, ?)", id, me.ID)
	checkErr(err)
}

// footprints lists the newest visits to the pages of a user, one for each visitor and day.
func (a *app) footprints(query string, id int) []footprint {
	rows, err := a.db.Query(query, id)
	checkErr(err)
	defer rows.Close()
	var footprints []footprint
	for rows.Next() {
		var f footprint
		checkErr(rows.Scan(&f.UserID, &f.OwnerID, &f.Date, &f.Updated))
		footprints = append(footprints, f)
	}
	checkErr(rows.Err())
	return footprints
}

// A footprintsPage is the data of footprints.html.
type footprintsPage struct{ Footprints []footprint }

func (a *app) getFootprints(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	a.render(w, http.StatusOK, "footprints.html", footprintsPage{a.footprints(allFootprints, a.currentUser(r).ID)})
}
