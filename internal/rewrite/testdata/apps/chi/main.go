// Command board is a small message board: chi and database/sql. It has slow
// patterns and code that resembles them; comments "Fires" and "Lookalike" name them.
package main

import (
	"database/sql"
	"encoding/json"
	"html/template"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	_ "github.com/go-sql-driver/mysql"
)

type post struct {
	ID      int64     `json:"id"`
	UserID  int64     `json:"user_id"`
	Title   string    `json:"title"`
	Hidden  bool      `json:"hidden"`
	Created time.Time `json:"created"`
}

type board struct{ db *sql.DB }

// Fires: APP214
func main() {
	db, err := sql.Open("mysql", os.Getenv("DSN"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(8)
	b := &board{db}
	r := chi.NewRouter()
	r.Get("/posts", b.posts)
	r.Get("/visible", b.visible)
	r.Get("/counted", b.counted)
	r.Get("/first", b.first)
	r.Get("/other", b.other)
	r.Get("/count", b.count)
	r.Get("/bounds", b.bounds)
	r.Post("/posts", b.add)
	r.Get("/icon", b.icon)
	r.Get("/notice", b.notice)
	r.Get("/name/{name}", b.name)
	r.Get("/search", b.search)
	r.Get("/page", b.page)
	r.Get("/digest", b.digest)
	r.Get("/remote", b.remote)
	r.Get("/wait", b.wait)
	l, err := net.Listen("unix", os.Getenv("LISTEN"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(l, r))
}

func fail(w http.ResponseWriter, err error) {
	log.Print(err)
	w.WriteHeader(http.StatusInternalServerError)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

// posts answers the posts of one user.
//
// Fires: APP213
func (b *board) posts(w http.ResponseWriter, r *http.Request) {
	user, err := strconv.ParseInt(r.URL.Query().Get("user"), 10, 64)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	rows, err := b.db.Query("SELECT id, user_id, title, hidden, created FROM post ORDER BY id")
	if err != nil {
		fail(w, err)
		return
	}
	defer rows.Close()
	out := []post{}
	for rows.Next() {
		var p post
		if err := rows.Scan(&p.ID, &p.UserID, &p.Title, &p.Hidden, &p.Created); err != nil {
			fail(w, err)
			return
		}
		if p.UserID != user {
			continue
		}
		out = append(out, p)
	}
	if err := rows.Err(); err != nil {
		fail(w, err)
		return
	}
	answer(w, out)
}

// visible answers the titles that are not hidden, from the least id on.
//
// Fires: APP213
func (b *board) visible(w http.ResponseWriter, r *http.Request) {
	least, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil {
		least = 0
	}
	rows, err := b.db.Query("SELECT id, title, hidden FROM post WHERE user_id = 1 OR user_id = 2 ORDER BY id DESC")
	if err != nil {
		fail(w, err)
		return
	}
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var id int
		var title string
		var hidden bool
		if err := rows.Scan(&id, &title, &hidden); err != nil {
			fail(w, err)
			return
		}
		if !hidden && id >= least {
			out = append(out, title)
		}
	}
	answer(w, out)
}

// counted answers how many posts there are beside those of one user.
//
// Lookalike: APP213
func (b *board) counted(w http.ResponseWriter, r *http.Request) {
	user, _ := strconv.ParseInt(r.URL.Query().Get("user"), 10, 64)
	rows, err := b.db.Query("SELECT user_id, title FROM post ORDER BY id")
	if err != nil {
		fail(w, err)
		return
	}
	defer rows.Close()
	all, mine := 0, []string{}
	for rows.Next() {
		var owner int64
		var title string
		if err := rows.Scan(&owner, &title); err != nil {
			fail(w, err)
			return
		}
		all++
		if owner != user {
			continue
		}
		mine = append(mine, title)
	}
	answer(w, map[string]any{"all": all, "mine": mine})
}

// first answers the posts of a user among the first three.
//
// Lookalike: APP213
func (b *board) first(w http.ResponseWriter, r *http.Request) {
	user, _ := strconv.ParseInt(r.URL.Query().Get("user"), 10, 64)
	rows, err := b.db.Query("SELECT user_id, title FROM post ORDER BY id LIMIT 3")
	if err != nil {
		fail(w, err)
		return
	}
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var owner int64
		var title string
		if err := rows.Scan(&owner, &title); err != nil {
			fail(w, err)
			return
		}
		if owner == user {
			out = append(out, title)
		}
	}
	answer(w, out)
}

// other answers the titles that differ from one: "Hello" is another title than "hello".
//
// Lookalike: APP213
func (b *board) other(w http.ResponseWriter, r *http.Request) {
	title := r.URL.Query().Get("title")
	rows, err := b.db.Query("SELECT title FROM post ORDER BY id")
	if err != nil {
		fail(w, err)
		return
	}
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			fail(w, err)
			return
		}
		if t == title {
			continue
		}
		out = append(out, t)
	}
	answer(w, out)
}

// count answers the number of posts.
//
// Fires: APP210
func (b *board) count(w http.ResponseWriter, r *http.Request) {
	tx, err := b.db.Begin()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRow("SELECT COUNT(*) FROM post").Scan(&n); err != nil {
		fail(w, err)
		return
	}
	if err := tx.Commit(); err != nil {
		fail(w, err)
		return
	}
	answer(w, n)
}

// bounds answers two numbers, of one state where isolation is promised.
//
// Fires: APP210
func (b *board) bounds(w http.ResponseWriter, r *http.Request) {
	tx, err := b.db.Begin()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	var least, most int
	if err := tx.QueryRow("SELECT MIN(id) FROM post").Scan(&least); err != nil {
		fail(w, err)
		return
	}
	if err := tx.QueryRow("SELECT MAX(id) FROM post").Scan(&most); err != nil {
		fail(w, err)
		return
	}
	answer(w, []int{least, most})
}

// add stores a post, if the title is new.
//
// Fires: APP201
// Lookalike: APP210
func (b *board) add(w http.ResponseWriter, r *http.Request) {
	tx, err := b.db.Begin()
	if err != nil {
		fail(w, err)
		return
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRow("SELECT COUNT(*) FROM post WHERE title = ?", r.FormValue("title")).Scan(&n); err != nil {
		fail(w, err)
		return
	}
	if n > 0 {
		w.WriteHeader(http.StatusConflict)
		return
	}
	if _, err := tx.Exec("INSERT INTO post (user_id, title, hidden, created) VALUES (1, ?, FALSE, '2026-01-01')", r.FormValue("title")); err != nil {
		fail(w, err)
		return
	}
	if err := tx.Commit(); err != nil {
		fail(w, err)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// Fires: APP206
func (b *board) icon(w http.ResponseWriter, r *http.Request) {
	data, err := os.ReadFile("schema.sql")
	if err != nil {
		fail(w, err)
		return
	}
	w.Write(data)
}

// notice changes the bytes that it read.
//
// Lookalike: APP206
func (b *board) notice(w http.ResponseWriter, r *http.Request) {
	data, err := os.ReadFile("schema.sql")
	if err != nil {
		fail(w, err)
		return
	}
	data[0] = '#'
	w.Write(data)
}

// Fires: APP206
func (b *board) name(w http.ResponseWriter, r *http.Request) {
	pattern := regexp.MustCompile(`^[a-z]{2,8}$`)
	if !pattern.MatchString(chi.URLParam(r, "name")) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// search compiles what the user sent.
//
// Lookalike: APP206
func (b *board) search(w http.ResponseWriter, r *http.Request) {
	pattern := regexp.MustCompile(regexp.QuoteMeta(r.URL.Query().Get("q")))
	answer(w, pattern.FindString("a small board"))
}

// Fires: APP206
func (b *board) page(w http.ResponseWriter, r *http.Request) {
	t := template.Must(template.New("page").Parse("<h1>{{.}}</h1>\n"))
	if err := t.Execute(w, r.URL.Query().Get("title")); err != nil {
		log.Print(err)
	}
}

// quote quotes a text for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Fires: APP209
func (b *board) digest(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("/bin/bash", "-c", `printf "%s" `+quote(r.URL.Query().Get("text"))+` | openssl dgst -sha256 | sed 's/^.*= //'`).Output()
	if err != nil {
		fail(w, err)
		return
	}
	w.Write(out)
}

// Fires: APP212
func (b *board) remote(w http.ResponseWriter, r *http.Request) {
	res, err := http.Get("http://127.0.0.1:1/")
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	w.WriteHeader(res.StatusCode)
}

// Fires: APP214
func (b *board) wait(w http.ResponseWriter, r *http.Request) {
	time.Sleep(2 * time.Millisecond)
	n, _ := strconv.Atoi(r.URL.Query().Get("ms"))
	pause(min(n, 2))
	w.WriteHeader(http.StatusNoContent)
}

// pause sleeps for a computed time.
//
// Lookalike: APP214
func pause(ms int) {
	done := make(chan struct{}, 1)
	time.Sleep(time.Duration(ms) * time.Millisecond)
	done <- struct{}{}
	<-done
}
