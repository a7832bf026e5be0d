package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strconv"
)

// routes are the steps of the load: how often each is sent, and its path.
var routes = []struct {
	share int
	path  string
}{{4, "/item"}, {3, "/list"}, {2, "/order"}, {1, "/report"}, {3, "/"}}

// schema makes the tables of the app.
var schema = []string{
	"CREATE TABLE account (id INT PRIMARY KEY, token VARCHAR(32), KEY (token))",
	"CREATE TABLE item (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40), price INT, stock INT, seller INT)",
	"CREATE TABLE orders (id INT PRIMARY KEY AUTO_INCREMENT, account INT, item INT, KEY (item))",
	"CREATE TABLE setting (name VARCHAR(20) PRIMARY KEY, value INT)",
	"INSERT INTO account SELECT seq, MD5(seq) FROM seq_1_to_500",
	"INSERT INTO item SELECT seq, CONCAT('品物', seq), seq % 997, 1000000, seq % 500 + 1 FROM seq_1_to_5000",
	"INSERT INTO setting VALUES ('open', 1)",
}

// An app is a small web app. Each request has a number in the header X-Request, which
// is in a comment of each of its statements.
type app struct{ db *sql.DB }

// labelled is the length of a comment.
const labelled = len("/*00000*/")

// A caller sends the statements of one request.
type caller struct {
	ctx context.Context
	on  interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	}
	request int
}

func (c *caller) label(query string) string { return fmt.Sprintf("/*%05d*/ %s", c.request, query) }

func (c *caller) exec(query string) error {
	_, err := c.on.ExecContext(c.ctx, c.label(query))
	return err
}

// numbers reads the first column of all rows. The query is a format for numbers.
func (c *caller) numbers(query string, values ...any) (out []int, err error) {
	rows, err := c.on.QueryContext(c.ctx, c.label(fmt.Sprintf(query, values...)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.Header.Get("X-Request"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := &caller{r.Context(), a.db, number}
	switch r.URL.Path {
	case "/item":
		err = c.item(number)
	case "/list":
		err = c.list(number)
	case "/order":
		err = a.order(c, number)
	case "/report":
		_, err = c.numbers("SELECT SUM(i.price) FROM item i JOIN account a ON a.id = i.seller GROUP BY i.seller ORDER BY 1 DESC LIMIT 5")
	default:
		_, err = c.numbers("SELECT value FROM setting WHERE name = 'open'")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// account is read by most routes, as a session is.
func (c *caller) account(n int) error {
	_, err := c.numbers("SELECT id FROM account WHERE token = MD5(%d)", n%500+1)
	return err
}

func (c *caller) item(n int) error {
	if err := c.account(n); err != nil {
		return err
	}
	if _, err := c.numbers("SELECT price FROM item WHERE id = %d", n%5000+1); err != nil {
		return err
	}
	_, err := c.numbers("SELECT COUNT(*) FROM orders WHERE item = %d", n%5000+1)
	return err
}

// list reads the sellers one by one.
func (c *caller) list(n int) error {
	if err := c.account(n); err != nil {
		return err
	}
	sellers, err := c.numbers("SELECT seller FROM item WHERE id > %d ORDER BY id LIMIT 10", n%4900)
	for _, s := range sellers {
		if err == nil {
			_, err = c.numbers("SELECT id FROM account WHERE id = %d", s)
		}
	}
	return err
}

// order is a transaction.
func (a *app) order(c *caller, n int) error {
	if err := c.account(n); err != nil {
		return err
	}
	conn, err := a.db.Conn(c.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := &caller{c.ctx, conn, c.request}
	for _, q := range []string{"START TRANSACTION", fmt.Sprintf("SELECT stock FROM item WHERE id = %d FOR UPDATE", n%5000+1),
		fmt.Sprintf("UPDATE item SET stock = stock - 1 WHERE id = %d", n%5000+1), fmt.Sprintf("INSERT INTO orders (account, item) VALUES (%d, %d)", n%500+1, n%5000+1), "COMMIT"} {
		if err := in.exec(q); err != nil {
			return err
		}
	}
	return nil
}
