// Command stall lists goods, and asks for the price of each of them.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"os"

	_ "github.com/go-sql-driver/mysql"
)

func main() {
	db, err := sql.Open("mysql", os.Getenv("SHOP_DSN"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxIdleConns(10)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /initialize", func(w http.ResponseWriter, r *http.Request) {
		if _, err := db.Exec("DELETE FROM price WHERE item > 4000"); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("GET /items/{kind}", func(w http.ResponseWriter, r *http.Request) {
		if err := items(db, w, r.PathValue("kind")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	log.Fatal(http.ListenAndServe(":8080", mux))
}

// items lists the goods of a kind.
func items(db *sql.DB, w http.ResponseWriter, kind string) error {
	rows, err := db.Query("SELECT id, title FROM item WHERE kind = ? ORDER BY id LIMIT 5", kind)
	if err != nil {
		return err
	}
	defer rows.Close()
	type item struct {
		id    int
		title string
	}
	var all []item
	for rows.Next() {
		var i item
		if err := rows.Scan(&i.id, &i.title); err != nil {
			return err
		}
		all = append(all, i)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, i := range all {
		cents := 0
		if err := db.QueryRow("SELECT cents FROM price WHERE item = ?", i.id).Scan(&cents); err != nil {
			return err
		}
		fmt.Fprintln(w, i.id, i.title, cents)
	}
	return nil
}
