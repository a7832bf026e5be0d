package main

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// The rules of the contest fix how passwords are stored.
const (
	saltLength     = 1024
	hashIterations = 100
	hashLength     = 256
)

// User is a row of users.
type User struct {
	ID             int64  `db:"id"`
	Email          string `db:"email"`
	Salt           []byte `db:"salt"`
	HashedPassword []byte `db:"super_secure_password"`
}

type credentials struct {
	Email    string `json:"email"`
	Password string `json:"password"`
}

type authResponse struct {
	Email string `json:"email"`
}

func hashPassword(password string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, password, salt, hashIterations, hashLength)
}

// getUser returns the user of the session, or the status and message of a refusal.
func getUser(r *http.Request) (user User, status int, message string) {
	session, _ := store.Get(r, sessionName) // a cookie of an earlier process counts as none
	id, ok := session.Values["user_id"].(int64)
	if !ok {
		return user, http.StatusUnauthorized, "no session"
	}
	err := dbx.Get(&user, "SELECT * FROM users WHERE id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		return user, http.StatusUnauthorized, "user not found"
	}
	if err != nil {
		return user, http.StatusInternalServerError, fmt.Sprintf("reading the user: %v", err)
	}
	return user, http.StatusOK, ""
}

// setUser stores the user's id in the session's cookie.
func setUser(w http.ResponseWriter, r *http.Request, id int64) error {
	session, _ := store.Get(r, sessionName) // a cookie of an earlier process is replaced
	session.Values["user_id"] = id
	return session.Save(r, w)
}

func getAuthHandler(w http.ResponseWriter, r *http.Request) {
	user, status, message := getUser(r)
	if status != http.StatusOK {
		errorResponse(w, status, message)
		return
	}
	respond(w, http.StatusOK, authResponse{user.Email})
}

func signUpHandler(w http.ResponseWriter, r *http.Request) {
	var req credentials
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		serverError(w, "reading the request", err)
		return
	}
	salt := make([]byte, saltLength)
	rand.Read(salt)
	hash, err := hashPassword(req.Password, salt)
	if err != nil {
		serverError(w, "hashing the password", err)
		return
	}
	_, err = dbx.Exec("INSERT INTO users (email, salt, super_secure_password) VALUES (?, ?, ?)", req.Email, salt, hash)
	if err != nil {
		errorResponse(w, http.StatusBadRequest, "user registration failed")
		return
	}
	successMessage(w, "registration complete")
}

func loginHandler(w http.ResponseWriter, r *http.Request) {
	var req credentials
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		serverError(w, "reading the request", err)
		return
	}
	var user User
	err := dbx.Get(&user, "SELECT * FROM users WHERE email = ?", req.Email)
	if errors.Is(err, sql.ErrNoRows) {
		errorResponse(w, http.StatusForbidden, "authentication failed")
		return
	}
	if err != nil {
		serverError(w, "reading the user", err)
		return
	}
	hash, err := hashPassword(req.Password, user.Salt)
	if err != nil {
		serverError(w, "hashing the password", err)
		return
	}
	if !bytes.Equal(hash, user.HashedPassword) {
		errorResponse(w, http.StatusForbidden, "authentication failed")
		return
	}
	if err := setUser(w, r, user.ID); err != nil {
		serverError(w, "saving the session", err)
		return
	}
	successMessage(w, "authenticated")
}

// logoutHandler sets the user of the session to 0, an id that no user has.
func logoutHandler(w http.ResponseWriter, r *http.Request) {
	if err := setUser(w, r, 0); err != nil {
		serverError(w, "saving the session", err)
		return
	}
	successMessage(w, "logged out")
}
