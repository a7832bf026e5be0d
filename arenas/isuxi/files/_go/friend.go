package main

import (
	"net/http"
	"time"

	"github.com/gorilla/mux"
)

// isFriend says whether the current user is a friend of the user with the id.
func (a *app) isFriend(r *http.Request, another int) bool {
	me := a.currentUser(r).ID
	var count int
	checkErr(a.db.QueryRow("SELECT COUNT(1) AS cnt FROM relations "+
		"WHERE (one = ? AND another = ?) OR (one = ? AND another = ?)", me, another, another, me).Scan(&count))
	return count > 0
}

// permitted says whether the current user may see what only the friends of the user
// with the id may.
func (a *app) permitted(r *http.Request, another int) bool {
	return another == a.currentUser(r).ID || a.isFriend(r, another)
}

// friends returns the friends of a user, each with the time since when they are friends.
func (a *app) friends(id int) map[int]time.Time {
	rows, err := a.db.Query("SELECT * FROM relations WHERE one = ? OR another = ? ORDER BY created_at DESC", id, id)
	checkErr(err)
	defer rows.Close()
	friends := map[int]time.Time{}
	for rows.Next() {
		var relation, one, another int
		var created time.Time
		checkErr(rows.Scan(&relation, &one, &another, &created))
		friend := one
		if one == id {
			friend = another
		}
		if _, ok := friends[friend]; !ok {
			friends[friend] = created
		}
	}
	checkErr(rows.Err())
	return friends
}

// A friend is one line of the page of friends.
type friend struct {
	ID        int
	CreatedAt time.Time
}

// A friendsPage is the data of friends.html.
type friendsPage struct{ Friends []friend }

func (a *app) getFriends(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	var p friendsPage
	for id, created := range a.friends(a.currentUser(r).ID) {
		p.Friends = append(p.Friends, friend{id, created})
	}
	a.render(w, http.StatusOK, "friends.html", p)
}

// postFriend makes friends of the current user and another one. The answer is empty
// if they are friends already.
func (a *app) postFriend(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	me := a.currentUser(r)
	another := a.userByAccount(mux.Vars(r)["account_name"])
	if a.isFriend(r, another.ID) {
		return
	}
	_, err := a.db.Exec("INSERT INTO relations (one, another) VALUES (?, ?), (?, ?)", me.ID, another.ID, another.ID, me.ID)
	checkErr(err)
	http.Redirect(w, r, "/friends", http.StatusSeeOther)
}
