// Command app is a small app of a contest: it has the host of its database in DB_HOST.
package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/go-sql-driver/mysql"
)

func getEnv(name, instead string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return instead
}

// tell sends lines to a cache and returns where it is, with the last of its answers.
func tell(addr string, lines ...string) string {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	last := ""
	for _, line := range lines {
		fmt.Fprintf(conn, "%s\r\n", line)
		if last, err = answers.ReadString('\n'); err != nil {
			return err.Error()
		}
	}
	return strings.TrimSpace(last) + " at " + addr
}

func main() {
	c := mysql.NewConfig()
	c.Net = "tcp"
	c.Addr = getEnv("DB_HOST", "127.0.0.1") + ":" + getEnv("DB_PORT", "3306")
	c.User = getEnv("DB_USER", "isu")
	c.Passwd = os.Getenv("DB_PASSWORD")
	c.DBName = getEnv("DB_NAME", "shop")
	db, err := sql.Open("mysql", c.FormatDSN())
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Ping(); err != nil { // as many apps do: it ends without its database
		log.Fatal(err)
	}
	http.HandleFunc("/initialize", func(w http.ResponseWriter, _ *http.Request) {
		for _, statement := range []string{"DELETE FROM item", "INSERT INTO item VALUES (1, 'one'), (2, 'two')"} {
			if _, err := db.Exec(statement); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
	})
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		var host string
		var n int
		if err := db.QueryRow("SELECT @@hostname, COUNT(*) FROM item").Scan(&host, &n); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "%d items from %s", n, host)
	})
	http.HandleFunc("/visit", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, tell(getEnv("REDIS_ADDR", "127.0.0.1:6379"), "INCR visits"))
	})
	http.HandleFunc("/kept", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, tell(net.JoinHostPort(getEnv("MEMCACHED_HOST", "127.0.0.1"), "11211"), "set kept 0 0 1\r\n1", "incr kept 1"))
	})
	http.HandleFunc("/who", func(w http.ResponseWriter, _ *http.Request) {
		name, err := os.Hostname()
		fmt.Fprint(w, name, err)
	})
	log.Fatal(http.ListenAndServe(getEnv("LISTEN", "127.0.0.1:8000"), nil))
}
