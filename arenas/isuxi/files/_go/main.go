// Command isuxi is the web application of the contest: a small social network with
// diaries, comments, friends and footprints (who looked at my pages). Every page is
// computed anew from the database, also who is a friend of whom. It runs in its own
// directory and finds templates/ and ../static from there.
//
//  1. main.go: environment, routes, errors, templates, initialize.
//  2. auth.go: login, sessions, the current user.
//  3. friend.go: who is a friend, what friends may see, the list of friends.
//  4. index.go: the top page.
//  5. profile.go, diary.go, footprint.go: the other pages.
package main

import (
	"bytes"
	"database/sql"
	"errors"
	"html/template"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
	_ "time/tzdata" // for machines without time zone files

	"github.com/go-sql-driver/mysql"
	"github.com/gorilla/context"
	"github.com/gorilla/mux"
	"github.com/gorilla/sessions"
)

const staticFolder = "../static"

var (
	errAuthentication   = errors.New("authentication error")
	errPermissionDenied = errors.New("permission denied")
	errContentNotFound  = errors.New("content not found")
)

// app is the state that the handlers share.
type app struct {
	db    *sql.DB
	store *sessions.CookieStore
}

func main() {
	db, err := connectDB()
	if err != nil {
		log.Fatalf("connecting to the database: %v", err)
	}
	defer db.Close()
	store := sessions.NewCookieStore([]byte(env("ISUCON5_SESSION_SECRET", "isuxi")))
	store.Options = &sessions.Options{Path: "/", MaxAge: 30 * 24 * 60 * 60}
	a := &app{db: db, store: store}
	log.Fatal(http.ListenAndServe(net.JoinHostPort(env("APP_HOST", "127.0.0.1"), env("APP_PORT", "8080")), a.routes()))
}

func env(key, otherwise string) string {
	if value := os.Getenv(key); value != "" {
		return value
	}
	return otherwise
}

func connectDB() (*sql.DB, error) {
	c := mysql.NewConfig()
	c.Net = "tcp"
	c.Addr = net.JoinHostPort(env("ISUCON5_DB_HOST", "localhost"), env("ISUCON5_DB_PORT", "3306"))
	c.DBName = env("ISUCON5_DB_NAME", "isucon5q")
	c.User = env("ISUCON5_DB_USER", "root")
	c.Passwd = os.Getenv("ISUCON5_DB_PASSWORD")
	c.ParseTime = true
	c.Loc = time.Local
	return sql.Open("mysql", c.FormatDSN())
}

func (a *app) routes() http.Handler {
	r := mux.NewRouter()

	r.HandleFunc("/login", a.handler(a.getLogin)).Methods(http.MethodGet)
	r.HandleFunc("/login", a.handler(a.postLogin)).Methods(http.MethodPost)
	r.HandleFunc("/logout", a.handler(a.getLogout)).Methods(http.MethodGet)

	r.HandleFunc("/profile/{account_name}", a.handler(a.getProfile)).Methods(http.MethodGet)
	r.HandleFunc("/profile/{account_name}", a.handler(a.postProfile)).Methods(http.MethodPost)

	r.HandleFunc("/diary/entries/{account_name}", a.handler(a.listEntries)).Methods(http.MethodGet)
	r.HandleFunc("/diary/entry", a.handler(a.postEntry)).Methods(http.MethodPost)
	r.HandleFunc("/diary/entry/{entry_id}", a.handler(a.getEntry)).Methods(http.MethodGet)
	r.HandleFunc("/diary/comment/{entry_id}", a.handler(a.postComment)).Methods(http.MethodPost)

	r.HandleFunc("/footprints", a.handler(a.getFootprints)).Methods(http.MethodGet)
	r.HandleFunc("/friends", a.handler(a.getFriends)).Methods(http.MethodGet)
	r.HandleFunc("/friends/{account_name}", a.handler(a.postFriend)).Methods(http.MethodPost)

	r.HandleFunc("/initialize", a.handler(a.getInitialize)).Methods(http.MethodGet)
	r.HandleFunc("/", a.handler(a.getIndex)).Methods(http.MethodGet)
	r.PathPrefix("/").Handler(http.FileServer(http.Dir(staticFolder))).Methods(http.MethodGet)
	return r
}

// checkErr ends the handler with the error.
func checkErr(err error) {
	if err != nil {
		panic(err)
	}
}

// handler answers a request with the page of the error that ended fn, if one did.
func (a *app) handler(fn http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer context.Clear(r)
		defer func() {
			if cause := recover(); cause != nil {
				a.fail(w, r, cause)
			}
		}()
		fn(w, r)
	}
}

func (a *app) fail(w http.ResponseWriter, r *http.Request, cause any) {
	err, _ := cause.(error)
	switch {
	case errors.Is(err, errAuthentication):
		session := a.session(r)
		delete(session.Values, "user_id")
		if err := session.Save(r, w); err != nil {
			log.Printf("saving the session: %v", err)
		}
		a.render(w, http.StatusUnauthorized, "login.html", loginPage{"ログインに失敗しました。メールアドレスとパスワードを確かめてください。"})
	case errors.Is(err, errPermissionDenied):
		a.render(w, http.StatusForbidden, "error.html", errorPage{"見られないページ", "このページを見られるのは、本人とその友だちだけです。"})
	case errors.Is(err, errContentNotFound):
		a.render(w, http.StatusNotFound, "error.html", errorPage{"見つからないページ", "お探しのページはありません。"})
	default:
		log.Printf("%s %s: %v", r.Method, r.URL.Path, cause)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// An errorPage is the data of error.html.
type errorPage struct{ Title, Message string }

// render sends the page that the template makes of the data. Templates look up users,
// entries and numbers of comments themselves.
func (a *app) render(w http.ResponseWriter, status int, name string, data any) {
	t := template.New(name).Funcs(template.FuncMap{
		"getUser":     a.userByID,
		"getEntry":    a.entryByID,
		"numComments": a.numComments,
		"lines":       lines,
		"cut":         cut,
		"shorten":     shorten,
		"date":        func(t time.Time) string { return t.Format(time.DateOnly) },
		"datetime":    func(t time.Time) string { return t.Format(time.DateTime) },
	})
	t, err := t.ParseFiles(filepath.Join("templates", name), filepath.Join("templates", "header.html"))
	checkErr(err)
	var page bytes.Buffer
	checkErr(t.Execute(&page, data))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := page.WriteTo(w); err != nil {
		log.Printf("sending %s: %v", name, err)
	}
}

// getInitialize removes the rows that were added since the initial data, as the rows
// of the initial data have the ids up to these numbers. Users and profiles stay.
func (a *app) getInitialize(w http.ResponseWriter, r *http.Request) {
	for _, statement := range []string{
		"DELETE FROM relations WHERE id > 500000",
		"DELETE FROM footprints WHERE id > 500000",
		"DELETE FROM entries WHERE id > 500000",
		"DELETE FROM comments WHERE id > 1500000",
	} {
		_, err := a.db.Exec(statement)
		checkErr(err)
	}
}
