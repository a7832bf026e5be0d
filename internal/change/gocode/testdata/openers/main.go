// Program openers opens one database in every form that apps have. For each form it reads a
// number three times, changes it, and reads it again; it prints what it has read, and how
// many queries have reached the server.
package main

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"sort"

	_ "github.com/go-sql-driver/mysql"
)

// A pool reads and writes the number by the means of its library.
type pool struct {
	read  func() (int, error)
	write func() error
}

const (
	readText  = "SELECT n FROM member WHERE id = ?"
	writeText = "UPDATE member SET n = n + 1 WHERE id = ?"
)

// forms are the ways to open a pool.
var forms = map[string]func(dsn string) (*pool, error){}

func main() {
	dsn := os.Getenv("DSN")
	status, err := sql.Open("mysql", dsn)
	if err != nil {
		panic(err)
	}
	pools := map[string]*pool{}
	var names []string
	for name, open := range forms {
		p, err := open(dsn)
		if err != nil {
			panic(name + ": " + err.Error())
		}
		pools[name] = p
		names = append(names, name)
	}
	sort.Strings(names)
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		if _, err := status.Exec("UPDATE member SET n = 0 WHERE id = ?", 7); err != nil {
			panic(err)
		}
		for _, name := range names {
			answer(c, status, name, pools[name])
		}
		c.Close()
	}
}

// answer prints a line about one form.
func answer(w io.Writer, status *sql.DB, name string, p *pool) {
	before := selects(status)
	fmt.Fprintf(w, "%s:", name)
	for i := 0; i < 4; i++ {
		if i == 3 {
			if err := p.write(); err != nil {
				fmt.Fprintln(w, "write:", err)
				return
			}
		}
		n, err := p.read()
		if err != nil {
			fmt.Fprintln(w, "read:", err)
			return
		}
		fmt.Fprint(w, " ", n)
	}
	fmt.Fprintf(w, " after %d queries\n", selects(status)-before)
	if _, err := status.Exec("UPDATE member SET n = 0 WHERE id = ?", 7); err != nil {
		fmt.Fprintln(w, err)
	}
}

// selects is how many queries have reached the server.
func selects(db *sql.DB) int {
	var name string
	n := 0
	if err := db.QueryRow("SHOW GLOBAL STATUS LIKE 'Com_select'").Scan(&name, &n); err != nil {
		return -1
	}
	return n
}
