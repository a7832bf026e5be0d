package main

import (
	"encoding/json"
	"net/http"
)

type page struct {
	Limit int    `json:"limit"`
	Retry string `json:"retry_after"`
}

// Limits has other numbers.
func Limits(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(page{Limit: 30, Retry: "30"})
}

// Settings is no answer.
func Settings() map[string]int { return map[string]int{"retry_after_ms": 30} }
