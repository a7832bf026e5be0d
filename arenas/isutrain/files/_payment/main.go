// Command payment is the payment service of the contest: it changes a card into a
// token, takes money for a token, and gives it back. It keeps everything in memory.
// Contestants do not change it.
//
// Cancellations are slow on purpose: each takes a second, and all wait for each
// other. A bulk cancellation takes a second for all its payments together.
package main

import (
	"cmp"
	"encoding/json"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// The codes of gRPC that the answers to failures carry.
const (
	codeInvalidArgument = 3
	codeNotFound        = 5
)

type errorAnswer struct {
	Error   string `json:"error"`
	Message string `json:"message"`
	Code    int    `json:"code"`
	Details []any  `json:"details"`
}

func main() {
	address := net.JoinHostPort(os.Getenv("SERVER_APP_HOST"), cmp.Or(os.Getenv("SERVER_APP_PORT"), "5000"))
	handler := allowBrowsers(newServer().routes())
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func (s *server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /initialize", s.initialize)
	mux.HandleFunc("POST /card", s.registerCard)
	mux.HandleFunc("POST /payment", s.pay)
	mux.HandleFunc("POST /payment/_bulk", s.cancelMany)
	mux.HandleFunc("GET /payment/{id}", s.payment)
	mux.HandleFunc("DELETE /payment/{id}", s.cancel)
	mux.HandleFunc("GET /result", s.result)
	return mux
}

// allowBrowsers lets pages of every origin use the service (CORS).
func allowBrowsers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method == http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS")
			w.Header().Set("Access-Control-Allow-Headers", "Content-Type, Accept")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // an error means that the client closed the connection
}

func invalid(w http.ResponseWriter, message string) {
	answer(w, http.StatusBadRequest, errorAnswer{message, message, codeInvalidArgument, []any{}})
}

func notFound(w http.ResponseWriter, message string) {
	answer(w, http.StatusNotFound, errorAnswer{message, message, codeNotFound, []any{}})
}
