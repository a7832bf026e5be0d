package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"time"
)

var (
	cardNumber = regexp.MustCompile(`^[0-9]{8}$`)
	cardCVV    = regexp.MustCompile(`^[0-9]{3}$`)
	cardExpiry = regexp.MustCompile(`^[0-9]{2}/[0-9]{2}$`)
)

type cardInformation struct {
	CardNumber string `json:"card_number"`
	CVV        string `json:"cvv"`
	ExpiryDate string `json:"expiry_date"` // MM/YY
}

// mistake says what is wrong with a card at a time, or nothing.
func (c cardInformation) mistake(now time.Time) string {
	if !cardNumber.MatchString(c.CardNumber) {
		return "invalid card number"
	}
	if !cardCVV.MatchString(c.CVV) {
		return "invalid cvv"
	}
	month, err := time.Parse("01/06", c.ExpiryDate)
	if err != nil || !cardExpiry.MatchString(c.ExpiryDate) {
		return "invalid expiry date"
	}
	if !now.Before(month.AddDate(0, 1, 0)) {
		return "the card has expired"
	}
	return ""
}

// registerCard changes a card into a token.
func (s *server) registerCard(w http.ResponseWriter, r *http.Request) {
	var req struct {
		CardInformation cardInformation `json:"card_information"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		invalid(w, err.Error())
		return
	}
	if mistake := req.CardInformation.mistake(time.Now()); mistake != "" {
		invalid(w, mistake)
		return
	}
	token := newUUID()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cards[token] = req.CardInformation
	answer(w, http.StatusOK, map[string]any{"card_token": token, "is_ok": true})
}
