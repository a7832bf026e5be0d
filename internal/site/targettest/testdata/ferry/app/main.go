// Command ferry is the ferry company's app: its counter (serve), and a job that
// removes bookings without seats (tidy).
package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

func main() {
	db, err := sql.Open("mysql", os.Getenv("FERRY_DSN"))
	if err != nil {
		log.Fatal(err)
	}
	if len(os.Args) > 1 && os.Args[1] == "tidy" {
		tidy(db)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /initialize", func(w http.ResponseWriter, r *http.Request) {
		if _, err := db.Exec("DELETE FROM booking WHERE id > 20000"); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("GET /harbour/{name}", func(w http.ResponseWriter, r *http.Request) {
		if err := harbour(db, w, r.PathValue("name")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	log.Fatal(http.ListenAndServe(os.Getenv("FERRY_LISTEN"), mux))
}

// harbour lists the next crossings of a harbour with their bookings.
func harbour(db *sql.DB, w http.ResponseWriter, name string) error {
	rows, err := db.Query("SELECT id, ship, departs FROM crossing WHERE harbour = ? ORDER BY departs LIMIT 3", name)
	if err != nil {
		return err
	}
	defer rows.Close()
	type crossing struct {
		id      int
		ship    string
		departs time.Time
	}
	var all []crossing
	for rows.Next() {
		var c crossing
		if err := rows.Scan(&c.id, &c.ship, &c.departs); err != nil {
			return err
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, c := range all {
		seats := 0
		if err := db.QueryRow("SELECT COALESCE(SUM(seats), 0) FROM booking WHERE crossing_id = ?", c.id).Scan(&seats); err != nil {
			return err
		}
		fmt.Fprintln(w, c.id, c.ship, c.departs.Format(time.RFC3339), seats)
	}
	return nil
}

func tidy(db *sql.DB) {
	for {
		if _, err := db.Exec("DELETE FROM booking WHERE seats = 0"); err != nil {
			log.Print(err)
		}
		time.Sleep(time.Second)
	}
}
