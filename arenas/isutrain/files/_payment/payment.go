package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// cancelTime is how long a cancellation takes, of one payment or of many.
const cancelTime = time.Second

type paymentInformation struct {
	CardToken     string `json:"card_token"`
	ReservationID int    `json:"reservation_id"`
	Amount        int    `json:"amount"`
	IsCanceled    bool   `json:"is_canceled"`
}

type rawData struct {
	PaymentInformation paymentInformation `json:"payment_information"`
	CardInformation    cardInformation    `json:"card_information"`
}

// A server holds cards by their token and payments by their number.
type server struct {
	cancelling sync.Mutex // held for cancelTime by one cancellation after the other

	mu       sync.Mutex // guards what follows
	cards    map[string]cardInformation
	payments map[string]paymentInformation
	order    []string // numbers of payments, the oldest first
}

func newServer() *server {
	return &server{cards: map[string]cardInformation{}, payments: map[string]paymentInformation{}}
}

// newUUID returns a random UUID (version 4).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// initialize forgets everything.
func (s *server) initialize(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.cards)
	clear(s.payments)
	s.order = nil
	answer(w, http.StatusOK, map[string]any{"is_ok": true})
}

// pay takes money from a card.
func (s *server) pay(w http.ResponseWriter, r *http.Request) {
	var req struct {
		PaymentInformation paymentInformation `json:"payment_information"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		invalid(w, err.Error())
		return
	}
	info := req.PaymentInformation
	info.IsCanceled = false

	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.cards[info.CardToken]; !ok {
		notFound(w, "card token not found")
		return
	}
	id := newUUID()
	s.payments[id] = info
	s.order = append(s.order, id)
	answer(w, http.StatusOK, map[string]any{"payment_id": id, "is_ok": true})
}

// payment shows one payment.
func (s *server) payment(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, ok := s.payments[r.PathValue("id")]
	if !ok {
		notFound(w, "payment not found")
		return
	}
	answer(w, http.StatusOK, map[string]any{"payment_information": info, "is_ok": true})
}

// cancel gives the money of one payment back.
func (s *server) cancel(w http.ResponseWriter, r *http.Request) {
	if s.cancelAll(r.PathValue("id")) == 0 {
		notFound(w, "payment not found")
		return
	}
	answer(w, http.StatusOK, map[string]any{"is_ok": true})
}

// cancelMany gives the money of many payments back and leaves out unknown ones.
func (s *server) cancelMany(w http.ResponseWriter, r *http.Request) {
	var req struct {
		PaymentID []string `json:"payment_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		invalid(w, err.Error())
		return
	}
	answer(w, http.StatusOK, map[string]any{"deleted": s.cancelAll(req.PaymentID...)})
}

// cancelAll cancels payments, in one cancelTime, and returns how many of them are known.
func (s *server) cancelAll(ids ...string) int {
	s.cancelling.Lock()
	defer s.cancelling.Unlock()
	time.Sleep(cancelTime)

	s.mu.Lock()
	defer s.mu.Unlock()
	known := 0
	for _, id := range ids {
		if info, ok := s.payments[id]; ok {
			info.IsCanceled = true
			s.payments[id] = info
			known++
		}
	}
	return known
}

// result shows every payment, also the cancelled ones, with its card.
func (s *server) result(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw := []rawData{}
	for _, id := range s.order {
		info := s.payments[id]
		raw = append(raw, rawData{info, s.cards[info.CardToken]})
	}
	answer(w, http.StatusOK, map[string]any{"raw_data": raw, "is_ok": true})
}
