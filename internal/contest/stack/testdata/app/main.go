// Command app is the smallest app that a stack can bring up: it reads from
// the database over TCP, and fails on request in several ways.
package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	_ "github.com/go-sql-driver/mysql"
)

const greeting = "hello"

func main() {
	if text := os.Getenv("APP_PANIC"); text != "" {
		fmt.Println("the app begins")
		panic(text)
	}
	if os.Getenv("APP_STUBBORN") != "" {
		signal.Ignore(syscall.SIGTERM)
	}
	db, err := sql.Open("mysql", os.Getenv("APP_DSN"))
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM thing").Scan(&n); err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		fmt.Fprintf(w, "%s %d", greeting, n)
	})
	http.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) {
		b, _ := os.ReadFile("/proc/self/status")
		w.Write(b)
	})
	http.HandleFunc("/env", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Join(os.Environ(), "\n"))
	})
	http.HandleFunc("/write", func(w http.ResponseWriter, r *http.Request) {
		if err := os.WriteFile("../written.txt", []byte("by the app"), 0o644); err != nil {
			http.Error(w, err.Error(), 500)
		}
	})
	http.HandleFunc("/daemon", func(w http.ResponseWriter, r *http.Request) {
		cmd := exec.Command("sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		fmt.Fprint(w, cmd.Process.Pid)
	})
	http.HandleFunc("/exit", func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("exiting on request")
		os.Exit(3)
	})
	if err := http.ListenAndServe(os.Getenv("APP_ADDR"), nil); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
