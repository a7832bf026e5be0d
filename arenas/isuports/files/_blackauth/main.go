// Command blackauth is the login service for people: it signs a session for every
// account that is asked for. The benchmarker does not use it, because it has the
// same key.
package main

import (
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	cookieName  = "isuports_session"
	adminName   = "admin"
	sessionLife = 24 * time.Hour
)

// A server signs sessions.
type server struct {
	key  *rsa.PrivateKey
	base string // end of the hosts, as in ".t.isucon.dev"
}

func main() {
	key, err := readKey(cmp.Or(os.Getenv("ISUCON_JWT_PRIVATE_KEY_FILE"), "rsa-private.pem"))
	if err != nil {
		log.Fatalf("blackauth: %v", err)
	}
	s := &server{key, cmp.Or(os.Getenv("ISUCON_BASE_HOSTNAME"), ".t.isucon.dev")}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /auth/login/player", func(w http.ResponseWriter, r *http.Request) {
		s.login(w, r, "player", r.PostFormValue("id"))
	})
	mux.HandleFunc("POST /auth/login/organizer", func(w http.ResponseWriter, r *http.Request) { s.login(w, r, "organizer", "organizer") })
	mux.HandleFunc("POST /auth/login/admin", func(w http.ResponseWriter, r *http.Request) { s.login(w, r, "admin", "admin") })
	mux.HandleFunc("POST /auth/logout", logout)
	address := net.JoinHostPort(os.Getenv("SERVER_APP_HOST"), cmp.Or(os.Getenv("SERVER_APP_PORT"), "3001"))
	log.Fatal((&http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}).ListenAndServe())
}

// readKey reads an RSA key in PEM (PKCS #8).
func readKey(path string) (*rsa.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("reading the key %s: no PEM block in it", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the key %s: %w", path, err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("reading the key %s: not an RSA key", path)
	}
	return private, nil
}

// login sets the session of an account of the tenant that the host names. Whether
// the account exists is found out by the app.
func (s *server) login(w http.ResponseWriter, r *http.Request, role, subject string) {
	tenant, err := s.tenant(r.Host)
	if err == nil && subject == "" {
		err = errors.New("id is missing")
	}
	if err == nil && (role == adminName) != (tenant == adminName) {
		err = fmt.Errorf("role %s cannot log in at %s", role, tenant)
	}
	if err != nil {
		answer(w, http.StatusBadRequest, err.Error())
		return
	}
	session, err := s.sign(map[string]any{"iss": "isuports", "sub": subject, "aud": []string{tenant}, "role": role,
		"exp": time.Now().Add(sessionLife).Unix()})
	if err != nil {
		log.Printf("signing a session: %v", err)
		answer(w, http.StatusInternalServerError, "")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: session, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: int(sessionLife / time.Second)})
	answer(w, http.StatusOK, "")
}

// tenant returns the name of the tenant that a host, with or without a port, belongs to.
func (s *server) tenant(host string) (string, error) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	tenant, ok := strings.CutSuffix(host, s.base)
	if !ok || tenant == "" {
		return "", fmt.Errorf("%q is not the host of a tenant", host)
	}
	return tenant, nil
}

// sign returns a JWT with the claims (RFC 7519), signed with RS256.
func (s *server) sign(claims map[string]any) (string, error) {
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + enc.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + enc.EncodeToString(sig), nil
}

// logout ends the session.
func logout(w http.ResponseWriter, _ *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Path: "/", HttpOnly: true, MaxAge: -1})
	answer(w, http.StatusOK, "")
}

// answer writes the status as JSON, with a message for a refusal.
func answer(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "private")
	w.WriteHeader(status)
	out := map[string]any{"status": status == http.StatusOK}
	if message != "" {
		out["message"] = message
	}
	_ = json.NewEncoder(w).Encode(out) // an error means that the client closed the connection
}
