// Command tickets is a small web application that is limited by row locks: a sale of
// tickets in which every order locks one of two popular shows. Package worse tries a
// larger connection pool on it. It is simple on purpose: an order locks its shows in
// the order in which the customer named them, and computes the price while it holds
// the locks.
//
//	POST /initialize              restores the initial state
//	GET  /shows                   the remaining tickets of each show
//	POST /orders?show=1&show=7    buys a ticket of each; its answer has their numbers
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
)

// The initial state: the number of shows, and the tickets and price levels of each.
const (
	shows  = 20
	stock  = 1_000_000
	levels = 200
)

// retries of an order that lost a deadlock.
const retries = 200

type server struct{ db *sql.DB }

func main() {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = os.Getenv("DB_USER"), os.Getenv("DB_PASSWORD"), "tcp", "127.0.0.1:"+os.Getenv("DB_PORT"), os.Getenv("DB_NAME")
	c.InterpolateParams = true
	db, err := sql.Open("mysql", c.FormatDSN())
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(10)
	db.SetMaxIdleConns(10)
	s := &server{db}
	http.HandleFunc("POST /initialize", s.initialize)
	http.HandleFunc("GET /shows", s.shows)
	http.HandleFunc("POST /orders", s.order)
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func (s *server) initialize(w http.ResponseWriter, r *http.Request) {
	for _, statement := range []string{
		"CREATE OR REPLACE TABLE shows (id INT PRIMARY KEY, remaining INT NOT NULL)",
		"CREATE OR REPLACE TABLE prices (show_id INT NOT NULL, level INT NOT NULL, price INT NOT NULL, PRIMARY KEY (show_id, level))",
		"CREATE OR REPLACE TABLE tickets (id BIGINT AUTO_INCREMENT PRIMARY KEY, show_id INT NOT NULL, price INT NOT NULL, sold_at DATETIME(6) NOT NULL)",
		fmt.Sprintf("INSERT INTO shows SELECT seq, %d FROM seq_1_to_%d", stock, shows),
		fmt.Sprintf("INSERT INTO prices SELECT s.seq, l.seq, 1000 + 10 * l.seq FROM seq_1_to_%d s JOIN seq_1_to_%d l", shows, levels),
	} {
		if _, err := s.db.ExecContext(r.Context(), statement); err != nil {
			fail(w, err)
			return
		}
	}
	answer(w, map[string]int{"shows": shows, "stock": stock})
}

type show struct {
	ID        int `json:"id"`
	Remaining int `json:"remaining"`
}

func (s *server) shows(w http.ResponseWriter, r *http.Request) {
	rows, err := s.db.QueryContext(r.Context(), "SELECT id, remaining FROM shows ORDER BY id")
	if err != nil {
		fail(w, err)
		return
	}
	defer rows.Close()
	var all []show
	for rows.Next() {
		var one show
		if err := rows.Scan(&one.ID, &one.Remaining); err != nil {
			fail(w, err)
			return
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		fail(w, err)
		return
	}
	answer(w, all)
}

// order sells a ticket of each named show. After a deadlock, the transaction that
// was rolled back begins again.
func (s *server) order(w http.ResponseWriter, r *http.Request) {
	var wanted []int
	for _, text := range r.URL.Query()["show"] {
		id, err := strconv.Atoi(text)
		if err != nil || id < 1 || id > shows {
			http.Error(w, "no such show", http.StatusBadRequest)
			return
		}
		wanted = append(wanted, id)
	}
	if len(wanted) == 0 {
		http.Error(w, "no show is named", http.StatusBadRequest)
		return
	}
	for range retries {
		tickets, err := s.sell(r.Context(), wanted)
		if deadlock(err) {
			continue
		}
		if err != nil {
			fail(w, err)
			return
		}
		answer(w, map[string][]int64{"tickets": tickets})
		return
	}
	http.Error(w, "too busy", http.StatusServiceUnavailable)
}

// sell is one transaction. The row of a show stays locked from its SELECT to
// the end of it.
func (s *server) sell(ctx context.Context, wanted []int) (tickets []int64, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // has no effect after a commit
	for _, id := range wanted {
		var remaining, price int
		if err := tx.QueryRowContext(ctx, "SELECT remaining FROM shows WHERE id = ? FOR UPDATE", id).Scan(&remaining); err != nil {
			return nil, err
		}
		if remaining == 0 {
			return nil, errors.New("sold out")
		}
		if err := tx.QueryRowContext(ctx, "SELECT ROUND(AVG(price)) FROM prices WHERE show_id = ? AND price >= ?", id, 1000+remaining%100).Scan(&price); err != nil {
			return nil, err
		}
		result, err := tx.ExecContext(ctx, "INSERT INTO tickets (show_id, price, sold_at) VALUES (?, ?, ?)", id, price, time.Now().UTC())
		if err != nil {
			return nil, err
		}
		ticket, err := result.LastInsertId()
		if err != nil {
			return nil, err
		}
		tickets = append(tickets, ticket)
		if _, err := tx.ExecContext(ctx, "UPDATE shows SET remaining = remaining - 1 WHERE id = ?", id); err != nil {
			return nil, err
		}
	}
	return tickets, tx.Commit()
}

// deadlock reports whether the server rolled this transaction back.
func deadlock(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == 1213 // ER_LOCK_DEADLOCK
}

func fail(w http.ResponseWriter, err error) {
	fmt.Fprintln(os.Stderr, err)
	http.Error(w, "internal error", http.StatusInternalServerError)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
