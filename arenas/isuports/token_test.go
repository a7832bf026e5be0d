package isuports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// TestTokens checks good and bad sessions with another implementation of the
// standard.
func TestTokens(t *testing.T) {
	key, err := readSigningKey("")
	if err != nil {
		t.Fatal(err)
	}
	strange, err := strangeKey()
	if err != nil {
		t.Fatal(err)
	}
	valid := func(token string) bool {
		got := jwt.MapClaims{}
		_, err := jwt.ParseWithClaims(token, got, func(*jwt.Token) (any, error) { return &key.PublicKey, nil },
			jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer("isuports"), jwt.WithExpirationRequired())
		aud, _ := got.GetAudience()
		return err == nil && got["sub"] == "1f" && got["role"] == rolePlayer && len(aud) == 1 && aud[0] == "isucon"
	}
	now := time.Now()
	good := claimsOf(rolePlayer, "1f", "isucon", now)
	token, err := good.signed(key)
	if err != nil || !valid(token) {
		t.Errorf("the token of a player is not valid: %v", err)
	}
	bad, err := badTokens(key, strange, good, now)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, b := range bad {
		if valid(b.token) || seen[b.token] {
			t.Errorf("%s: the token is valid, or there twice", b.check)
		}
		seen[b.token] = true
	}
}

func TestReadSigningKey(t *testing.T) {
	dir, own := t.TempDir(), webapp.MustRead(trainingKey)
	path := filepath.Join(dir, "key.pem")
	if _, err := readSigningKey(path); err == nil || !strings.Contains(err.Error(), "key.pem") {
		t.Errorf("a missing key: %v", err)
	}
	for _, text := range [][]byte{nil, []byte("no PEM"), own[:200]} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSigningKey(path); err == nil {
			t.Errorf("a broken key of %d bytes was read", len(text))
		}
	}
	if err := os.WriteFile(path, own, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSigningKey(path); err != nil {
		t.Error(err)
	}
}
