// Command app answers what its setup makes of it.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"

	_ "github.com/go-sql-driver/mysql"
)

func main() {
	dsn := fmt.Sprintf("%s:%s@tcp(%s)/%s?parseTime=true&loc=Asia%%2FTokyo",
		os.Getenv("DB_USER"), os.Getenv("DB_PASS"), os.Getenv("DB_ADDR"), os.Getenv("DB_NAME"))
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(7)

	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		said, err := setup(r.Context(), db)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, said)
	})
	panic(http.ListenAndServe(os.Getenv("APP_ADDR"), nil))
}

// setup says by which way and how the app talks to its database.
func setup(ctx context.Context, db *sql.DB) (string, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	var one, prepares int
	var host, name string
	row := conn.QueryRowContext(ctx, "SELECT ?, (SELECT HOST FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID())", 1)
	if err := row.Scan(&one, &host); err != nil {
		return "", err
	}
	if err := conn.QueryRowContext(ctx, "SHOW SESSION STATUS LIKE 'Com_stmt_prepare'").Scan(&name, &prepares); err != nil {
		return "", err
	}
	gogc := debug.SetGCPercent(100)
	debug.SetGCPercent(gogc)
	return fmt.Sprintf("prepares %v, socket %v, pool %d, gogc %d\n", prepares > 0, host == "localhost", db.Stats().MaxOpenConnections, gogc), nil
}
