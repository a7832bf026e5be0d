package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"goji.io/v3/pat"
)

// ReservationPaymentRequest pays a reservation with the token of a card.
type ReservationPaymentRequest struct {
	CardToken     string `json:"card_token"`
	ReservationID int    `json:"reservation_id"`
}

// ReservationPaymentResponse confirms a payment.
type ReservationPaymentResponse struct {
	IsOk bool `json:"is_ok"`
}

// PaymentInformation is the body of a request to the payment service.
type PaymentInformation struct {
	CardToken     string `json:"card_token"`
	ReservationID int    `json:"reservation_id"`
	Amount        int    `json:"amount"`
}

type paymentRequest struct {
	PaymentInformation PaymentInformation `json:"payment_information"`
}

type paymentResponse struct {
	PaymentID string `json:"payment_id"`
	IsOk      bool   `json:"is_ok"`
}

func paymentAPI() string {
	return getEnv("PAYMENT_API", "http://127.0.0.1:5000")
}

// pay asks the payment service for money and returns the number of the payment.
func pay(info PaymentInformation) (string, error) {
	body, err := json.Marshal(paymentRequest{info})
	if err != nil {
		return "", err
	}
	resp, err := http.Post(paymentAPI()+"/payment", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the payment service answered %s", resp.Status)
	}
	var payment paymentResponse
	if err := json.NewDecoder(resp.Body).Decode(&payment); err != nil {
		return "", fmt.Errorf("reading the answer of the payment service: %w", err)
	}
	if !payment.IsOk {
		return "", errors.New("the payment service refused")
	}
	return payment.PaymentID, nil
}

// cancelPayment gives the money of a payment back.
func cancelPayment(paymentID string) error {
	req, err := http.NewRequest(http.MethodDelete, paymentAPI()+"/payment/"+paymentID, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the payment service answered %s", resp.Status)
	}
	return nil
}

// reservationPaymentHandler pays a reservation.
func reservationPaymentHandler(w http.ResponseWriter, r *http.Request) {
	var req ReservationPaymentRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		serverError(w, "reading the request", err)
		return
	}
	tx, err := dbx.Beginx()
	if err != nil {
		serverError(w, "beginning a transaction", err)
		return
	}
	defer tx.Rollback() // does nothing after the commit

	var reservation Reservation
	err = tx.Get(&reservation, "SELECT * FROM reservations WHERE reservation_id = ?", req.ReservationID)
	if errors.Is(err, sql.ErrNoRows) {
		errorResponse(w, http.StatusNotFound, "there is no such reservation")
		return
	}
	if err != nil {
		serverError(w, "reading the reservation", err)
		return
	}
	user, status, message := getUser(r)
	if status != http.StatusOK {
		errorResponse(w, status, message)
		return
	}
	if reservation.UserID != user.ID {
		errorResponse(w, http.StatusForbidden, "the reservation is another user's")
		return
	}
	if reservation.Status == statusDone {
		errorResponse(w, http.StatusForbidden, "the reservation is paid already")
		return
	}

	paymentID, err := pay(PaymentInformation{req.CardToken, reservation.ReservationID, reservation.Amount})
	if err != nil {
		serverError(w, "paying", err)
		return
	}
	fmt.Println("paid", req, paymentID)
	_, err = tx.Exec("UPDATE reservations SET status = ?, payment_id = ? WHERE reservation_id = ?",
		statusDone, paymentID, req.ReservationID)
	if err != nil {
		serverError(w, "storing the payment", err)
		return
	}
	if err := tx.Commit(); err != nil {
		serverError(w, "committing the payment", err)
		return
	}
	respond(w, http.StatusOK, ReservationPaymentResponse{IsOk: true})
}

// userReservationCancelHandler removes a reservation and gives its money back.
func userReservationCancelHandler(w http.ResponseWriter, r *http.Request) {
	user, status, message := getUser(r)
	if status != http.StatusOK {
		errorResponse(w, status, message)
		return
	}
	id, err := strconv.ParseInt(pat.Param(r, "item_id"), 10, 64)
	if err != nil || id <= 0 {
		errorResponse(w, http.StatusBadRequest, "incorrect number of a reservation")
		return
	}
	tx, err := dbx.Beginx()
	if err != nil {
		serverError(w, "beginning a transaction", err)
		return
	}
	defer tx.Rollback() // does nothing after the commit

	var reservation Reservation
	err = tx.Get(&reservation, "SELECT * FROM reservations WHERE reservation_id = ? AND user_id = ?", id, user.ID)
	if errors.Is(err, sql.ErrNoRows) {
		errorResponse(w, http.StatusBadRequest, "there is no such reservation")
		return
	}
	if err != nil {
		serverError(w, "reading the reservation", err)
		return
	}
	fmt.Println("cancelling", reservation)
	switch reservation.Status {
	case statusRejected:
		serverError(w, "cancelling", errors.New("the payment was rejected"))
		return
	case statusDone:
		if err := cancelPayment(reservation.PaymentID); err != nil {
			serverError(w, "cancelling the payment", err)
			return
		}
	}
	if _, err := tx.Exec("DELETE FROM reservations WHERE reservation_id = ? AND user_id = ?", id, user.ID); err != nil {
		serverError(w, "removing the reservation", err)
		return
	}
	if _, err := tx.Exec("DELETE FROM seat_reservations WHERE reservation_id = ?", id); err != nil {
		serverError(w, "removing the seats", err)
		return
	}
	if err := tx.Commit(); err != nil {
		serverError(w, "committing the cancellation", err)
		return
	}
	successMessage(w, "cancel complete")
}
