package main

import "net/http"

// topRows is the number of rows in each list of the top page. The list of the current
// user's entries is shorter.
const topRows = 10

// An indexPage is the data of index.html.
type indexPage struct {
	User              *user
	Profile           profile
	Entries           []entry
	CommentsForMe     []comment
	EntriesOfFriends  []entry
	CommentsOfFriends []comment
	Friends           int
	Footprints        []footprint
}

func (a *app) getIndex(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	me := a.currentUser(r)
	p := indexPage{User: me}
	p.Profile = a.profile(me.ID)
	p.Entries = a.entries("SELECT * FROM entries WHERE user_id = ? ORDER BY created_at LIMIT 5", me.ID)
	p.CommentsForMe = a.commentsFor(me.ID)
	p.EntriesOfFriends = a.entriesOfFriends(r)
	p.CommentsOfFriends = a.commentsOfFriends(r)
	p.Friends = len(a.friends(me.ID))
	p.Footprints = a.footprints(topFootprints, me.ID)
	a.render(w, http.StatusOK, "index.html", p)
}

// commentsFor lists the newest comments on the entries of a user.
func (a *app) commentsFor(id int) []comment {
	return a.comments("SELECT c.id AS id, c.entry_id AS entry_id, c.user_id AS user_id, c.comment AS comment, "+
		"c.created_at AS created_at FROM comments c JOIN entries e ON c.entry_id = e.id "+
		"WHERE e.user_id = ? ORDER BY c.created_at DESC LIMIT 10", id)
}

// entriesOfFriends lists the newest entries of the current user's friends, among the
// newest of all users.
func (a *app) entriesOfFriends(r *http.Request) []entry {
	rows, err := a.db.Query("SELECT * FROM entries ORDER BY created_at DESC LIMIT 1000")
	checkErr(err)
	defer rows.Close()
	var entries []entry
	for rows.Next() {
		e := scanEntry(rows)
		if !a.isFriend(r, e.UserID) {
			continue
		}
		entries = append(entries, e)
		if len(entries) >= topRows {
			break
		}
	}
	checkErr(rows.Err())
	return entries
}

// commentsOfFriends lists the newest comments by the current user's friends, among the
// newest of all users, without those on entries that the current user may not see.
func (a *app) commentsOfFriends(r *http.Request) []comment {
	rows, err := a.db.Query("SELECT * FROM comments ORDER BY created_at DESC LIMIT 1000")
	checkErr(err)
	defer rows.Close()
	var comments []comment
	for rows.Next() {
		c := scanComment(rows)
		if !a.isFriend(r, c.UserID) {
			continue
		}
		e := a.entryByID(c.EntryID)
		if e.Private && !a.permitted(r, e.UserID) {
			continue
		}
		comments = append(comments, c)
		if len(comments) >= topRows {
			break
		}
	}
	checkErr(rows.Err())
	return comments
}
