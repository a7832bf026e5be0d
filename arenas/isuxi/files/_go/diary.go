package main

import (
	"database/sql"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"
)

const untitled = "無題の日記"

// An entry is one row of the table entries. The first line of its body is the title.
type entry struct {
	ID, UserID     int
	Private        bool
	Title, Content string
	CreatedAt      time.Time
}

// A comment is one row of the table comments.
type comment struct {
	ID, EntryID, UserID int
	Comment             string
	CreatedAt           time.Time
}

// A scanner is a row of an answer.
type scanner interface{ Scan(dest ...any) error }

func scanEntry(row scanner) entry {
	e, err := readEntry(row)
	checkErr(err)
	return e
}

func readEntry(row scanner) (entry, error) {
	var e entry
	var body string
	if err := row.Scan(&e.ID, &e.UserID, &e.Private, &body, &e.CreatedAt); err != nil {
		return e, err
	}
	parts := strings.SplitN(body, "\n", 2)
	e.Title, e.Content = parts[0], parts[1]
	return e, nil
}

func scanComment(row scanner) comment {
	var c comment
	checkErr(row.Scan(&c.ID, &c.EntryID, &c.UserID, &c.Comment, &c.CreatedAt))
	return c
}

func (a *app) entries(query string, args ...any) []entry {
	rows, err := a.db.Query(query, args...)
	checkErr(err)
	defer rows.Close()
	var entries []entry
	for rows.Next() {
		entries = append(entries, scanEntry(rows))
	}
	checkErr(rows.Err())
	return entries
}

func (a *app) comments(query string, args ...any) []comment {
	rows, err := a.db.Query(query, args...)
	checkErr(err)
	defer rows.Close()
	var comments []comment
	for rows.Next() {
		comments = append(comments, scanComment(rows))
	}
	checkErr(rows.Err())
	return comments
}

func (a *app) entryByID(id int) entry {
	e, err := readEntry(a.db.QueryRow("SELECT * FROM entries WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		checkErr(errContentNotFound)
	}
	checkErr(err)
	return e
}

func (a *app) numComments(entry int) int {
	var count int
	checkErr(a.db.QueryRow("SELECT COUNT(*) AS c FROM comments WHERE entry_id = ?", entry).Scan(&count))
	return count
}

// visibleEntry returns the entry of the request's path, if the current user may see it.
func (a *app) visibleEntry(r *http.Request) entry {
	id, err := strconv.Atoi(mux.Vars(r)["entry_id"])
	if err != nil {
		checkErr(errContentNotFound)
	}
	e := a.entryByID(id)
	if e.Private && !a.permitted(r, e.UserID) {
		checkErr(errPermissionDenied)
	}
	return e
}

// lines splits a text.
func lines(text string) []string { return strings.Split(text, "\n") }

// cut returns the first characters of a text.
func cut(text string, characters int) string {
	all := []rune(text)
	return string(all[:min(len(all), characters)])
}

// shorten returns the text of a comment as the top page shows it.
func shorten(text string) string {
	if len([]rune(text)) >= 30 {
		return cut(text, 27) + "..."
	}
	return text
}

// An entriesPage is the data of entries.html.
type entriesPage struct {
	Owner   *user
	Entries []entry
	Own     bool
}

func (a *app) listEntries(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	owner := a.userByAccount(mux.Vars(r)["account_name"])
	query := "SELECT * FROM entries WHERE user_id = ? AND private = 0 ORDER BY created_at DESC LIMIT 20"
	if a.permitted(r, owner.ID) {
		query = "SELECT * FROM entries WHERE user_id = ? ORDER BY created_at DESC LIMIT 20"
	}
	p := entriesPage{Owner: owner, Entries: a.entries(query, owner.ID), Own: owner.ID == a.currentUser(r).ID}
	a.markFootprint(r, owner.ID)
	a.render(w, http.StatusOK, "entries.html", p)
}

// An entryPage is the data of entry.html.
type entryPage struct {
	Owner    *user
	Entry    entry
	Comments []comment
}

func (a *app) getEntry(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	e := a.visibleEntry(r)
	p := entryPage{Owner: a.userByID(e.UserID), Entry: e}
	p.Comments = a.comments("SELECT * FROM comments WHERE entry_id = ?", e.ID)
	a.markFootprint(r, e.UserID)
	a.render(w, http.StatusOK, "entry.html", p)
}

func (a *app) postEntry(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	me := a.currentUser(r)
	title := r.FormValue("title")
	if title == "" {
		title = untitled
	}
	_, private := r.Form["private"]
	body := title + "\n" + r.FormValue("content")
	_, err := a.db.Exec("INSERT INTO entries (user_id, private, body) VALUES (?, ?, ?)", me.ID, private, body)
	checkErr(err)
	http.Redirect(w, r, "/diary/entries/"+me.AccountName, http.StatusSeeOther)
}

func (a *app) postComment(w http.ResponseWriter, r *http.Request) {
	if !a.authenticated(w, r) {
		return
	}
	e := a.visibleEntry(r)
	_, err := a.db.Exec("INSERT INTO comments (entry_id, user_id, comment) VALUES (?, ?, ?)",
		e.ID, a.currentUser(r).ID, r.FormValue("comment"))
	checkErr(err)
	http.Redirect(w, r, "/diary/entry/"+strconv.Itoa(e.ID), http.StatusSeeOther)
}
