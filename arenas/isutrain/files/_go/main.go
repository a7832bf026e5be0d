// Command isutrain is the web application of the contest: it sells the seats of a
// bullet-train line of 82 stations. Everything is answered from the database, in
// the simplest way.
//
//  1. main.go: environment, routes, answers, initialize, settings, stations.
//  2. auth.go: accounts and sessions.
//  3. station.go, fare.go, seat.go: stations, prices and free seats.
//  4. search.go, seatmap.go: what a visitor sees.
//  5. reserve.go, vague.go: reservations.
//  6. payment.go: payment and cancellation. reservation.go: a user's reservations.
package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"
	_ "time/tzdata" // for machines without time zone files

	"github.com/go-sql-driver/mysql"
	"github.com/gorilla/sessions"
	"github.com/jmoiron/sqlx"
	goji "goji.io/v3"
	"goji.io/v3/pat"
)

const (
	sessionName = "session_isutrain"
	// availableDays is how many days from 2020-01-01 on can be booked, 10 to 366.
	// The contest's load grows with it.
	availableDays = 10
	dateFormat    = "2006/01/02"
)

var (
	dbx   *sqlx.DB
	store = newStore()
	tokyo *time.Location
)

type initializeResponse struct {
	AvailableDays int    `json:"available_days"`
	Language      string `json:"language"`
}

type settingsResponse struct {
	PaymentAPI string `json:"payment_api"`
}

type messageResponse struct {
	IsError bool   `json:"is_error"`
	Message string `json:"message"`
}

func main() {
	var err error
	tokyo, err = time.LoadLocation("Asia/Tokyo")
	if err != nil {
		log.Fatalf("reading the time zone: %v", err)
	}
	dbx, err = connectDB()
	if err != nil {
		log.Fatalf("connecting to the database: %v", err)
	}
	defer dbx.Close()

	mux := goji.NewMux()
	routes(mux)
	address := net.JoinHostPort(os.Getenv("SERVER_APP_HOST"), getEnv("SERVER_APP_PORT", "8000"))
	fmt.Println("listening on", address)
	log.Fatal(http.ListenAndServe(address, mux))
}

func getEnv(key, defaultValue string) string {
	return cmp.Or(os.Getenv(key), defaultValue)
}

// newStore signs sessions with a key of this process: a restart ends them all.
func newStore() *sessions.CookieStore {
	store := sessions.NewCookieStore([]byte(rand.Text()))
	store.Options = &sessions.Options{Path: "/", MaxAge: 30 * 24 * 60 * 60}
	return store
}

func connectDB() (*sqlx.DB, error) {
	c := mysql.NewConfig()
	c.Net = "tcp"
	c.Addr = net.JoinHostPort(getEnv("MYSQL_HOSTNAME", "127.0.0.1"), getEnv("MYSQL_PORT", "3306"))
	c.User = getEnv("MYSQL_USER", "isutrain")
	c.Passwd = getEnv("MYSQL_PASSWORD", "isutrain")
	c.DBName = getEnv("MYSQL_DATABASE", "isutrain")
	c.ParseTime = true
	c.Loc = tokyo
	return sqlx.Open("mysql", c.FormatDSN())
}

func routes(mux *goji.Mux) {
	mux.HandleFunc(pat.Post("/initialize"), initializeHandler)
	mux.HandleFunc(pat.Get("/api/settings"), settingsHandler)

	mux.HandleFunc(pat.Get("/api/stations"), getStationsHandler)
	mux.HandleFunc(pat.Get("/api/train/search"), trainSearchHandler)
	mux.HandleFunc(pat.Get("/api/train/seats"), trainSeatsHandler)
	mux.HandleFunc(pat.Post("/api/train/reserve"), trainReservationHandler)
	mux.HandleFunc(pat.Post("/api/train/reservation/commit"), reservationPaymentHandler)

	mux.HandleFunc(pat.Get("/api/auth"), getAuthHandler)
	mux.HandleFunc(pat.Post("/api/auth/signup"), signUpHandler)
	mux.HandleFunc(pat.Post("/api/auth/login"), loginHandler)
	mux.HandleFunc(pat.Post("/api/auth/logout"), logoutHandler)
	mux.HandleFunc(pat.Get("/api/user/reservations"), userReservationsHandler)
	mux.HandleFunc(pat.Get("/api/user/reservations/:item_id"), userReservationHandler)
	mux.HandleFunc(pat.Post("/api/user/reservations/:item_id/cancel"), userReservationCancelHandler)
}

// respond writes a value as JSON with a status.
func respond(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		log.Printf("writing an answer: %v", err)
	}
}

func errorResponse(w http.ResponseWriter, status int, message string) {
	log.Printf("answering %d: %s", status, message)
	respond(w, status, messageResponse{IsError: true, Message: message})
}

// serverError answers 500 and leaves the reason in the log too.
func serverError(w http.ResponseWriter, doing string, err error) {
	errorResponse(w, http.StatusInternalServerError, fmt.Sprintf("%s: %v", doing, err))
}

func successMessage(w http.ResponseWriter, message string) {
	respond(w, http.StatusOK, messageResponse{Message: message})
}

// initializeHandler removes what users have left. The trains and their timetable
// are loaded once, before the app starts.
func initializeHandler(w http.ResponseWriter, r *http.Request) {
	for _, table := range []string{"seat_reservations", "reservations", "users"} {
		if _, err := dbx.Exec(fmt.Sprintf("TRUNCATE %s", table)); err != nil {
			serverError(w, "emptying "+table, err)
			return
		}
	}
	respond(w, http.StatusOK, initializeResponse{AvailableDays: availableDays, Language: "go"})
}

func settingsHandler(w http.ResponseWriter, r *http.Request) {
	respond(w, http.StatusOK, settingsResponse{PaymentAPI: paymentAPI()})
}

func getStationsHandler(w http.ResponseWriter, r *http.Request) {
	stations := []Station{}
	if err := dbx.Select(&stations, "SELECT * FROM station_master ORDER BY id"); err != nil {
		serverError(w, "reading the stations", err)
		return
	}
	respond(w, http.StatusOK, stations)
}
