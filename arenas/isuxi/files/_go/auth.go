package main

import (
	"database/sql"
	"errors"
	"net/http"

	"github.com/gorilla/context"
	"github.com/gorilla/sessions"
)

const sessionName = "isuxi-session"

// A user is one row of the table users without its password.
type user struct {
	ID                           int
	AccountName, NickName, Email string
}

// A loginPage is the data of login.html.
type loginPage struct{ Message string }

// session returns the session of the request: a new one, if its cookie is missing,
// empty or not ours.
func (a *app) session(r *http.Request) *sessions.Session {
	session, _ := a.store.Get(r, sessionName)
	return session
}

// authenticate remembers the user with this address and password in the session.
func (a *app) authenticate(w http.ResponseWriter, r *http.Request, email, password string) {
	row := a.db.QueryRow("SELECT u.id, u.account_name, u.nick_name, u.email "+
		"FROM users u JOIN salts s ON u.id = s.user_id "+
		"WHERE u.email = ? AND u.passhash = SHA2(CONCAT(?, s.salt), 512)", email, password)
	var u user
	err := row.Scan(&u.ID, &u.AccountName, &u.NickName, &u.Email)
	if errors.Is(err, sql.ErrNoRows) {
		checkErr(errAuthentication)
	}
	checkErr(err)
	session := a.session(r)
	session.Values["user_id"] = u.ID
	checkErr(session.Save(r, w))
}

// currentUser returns the user of the session, or nil without one. The user is read
// once per request.
func (a *app) currentUser(r *http.Request) *user {
	if u, ok := context.GetOk(r, "user"); ok {
		return u.(*user)
	}
	id, ok := a.session(r).Values["user_id"].(int)
	if !ok {
		return nil
	}
	var u user
	err := a.db.QueryRow("SELECT id, account_name, nick_name, email FROM users WHERE id = ?", id).
		Scan(&u.ID, &u.AccountName, &u.NickName, &u.Email)
	if errors.Is(err, sql.ErrNoRows) {
		checkErr(errAuthentication)
	}
	checkErr(err)
	context.Set(r, "user", &u)
	return &u
}

// authenticated says whether the request has a user. It redirects the others to the
// login page.
func (a *app) authenticated(w http.ResponseWriter, r *http.Request) bool {
	if a.currentUser(r) == nil {
		http.Redirect(w, r, "/login", http.StatusFound)
		return false
	}
	return true
}

func (a *app) userByID(id int) *user {
	return a.findUser("SELECT * FROM users WHERE id = ?", id)
}

func (a *app) userByAccount(name string) *user {
	return a.findUser("SELECT * FROM users WHERE account_name = ?", name)
}

func (a *app) findUser(query string, key any) *user {
	var u user
	var passhash string
	err := a.db.QueryRow(query, key).Scan(&u.ID, &u.AccountName, &u.NickName, &u.Email, &passhash)
	if errors.Is(err, sql.ErrNoRows) {
		checkErr(errContentNotFound)
	}
	checkErr(err)
	return &u
}

func (a *app) getLogin(w http.ResponseWriter, r *http.Request) {
	a.render(w, http.StatusOK, "login.html", loginPage{"友だちと日記でつながりましょう。"})
}

func (a *app) postLogin(w http.ResponseWriter, r *http.Request) {
	a.authenticate(w, r, r.FormValue("email"), r.FormValue("password"))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (a *app) getLogout(w http.ResponseWriter, r *http.Request) {
	session := a.session(r)
	delete(session.Values, "user_id")
	session.Options = &sessions.Options{Path: "/", MaxAge: -1}
	checkErr(session.Save(r, w))
	http.Redirect(w, r, "/login", http.StatusFound)
}
