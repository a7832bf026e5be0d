package isuports

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // registers the hash of RS512
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// sessionCookie holds the token of a session.
const sessionCookie = "isuports_session"

// tokenLife is longer than any run, so that an account needs one token only.
const tokenLife = time.Hour

// Roles in tokens.
const (
	roleAdmin     = "admin"
	roleOrganizer = "organizer"
	rolePlayer    = "player"
)

// adminTenant is the name of the admin's host and audience.
const adminTenant = "admin"

// readSigningKey reads the key that signs sessions from a file. With an empty path
// it returns the arena's own.
func readSigningKey(path string) (*rsa.PrivateKey, error) {
	if path == "" {
		return signingKey()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the signing key: %w", err)
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("reading the signing key %s: %w", path, err)
	}
	return key, nil
}

// Claims are the claims of a session token.
type claims map[string]any

// claimsOf returns the claims of an account of a tenant.
func claimsOf(role, subject, tenant string, now time.Time) claims {
	return claims{"iss": "isuports", "sub": subject, "aud": []string{tenant}, "role": role, "exp": now.Add(tokenLife).Unix()}
}

// with returns the claims with one of them replaced, or removed if value is nil.
func (c claims) with(name string, value any) claims {
	other := claims{}
	for k, v := range c {
		other[k] = v
	}
	if other[name] = value; value == nil {
		delete(other, name)
	}
	return other
}

// signed returns a token of the claims, signed with RS256 (RFC 7518, 3.3).
func (c claims) signed(key *rsa.PrivateKey) (string, error) {
	return c.signedWith(key, "RS256", crypto.SHA256)
}

func (c claims) signedWith(key *rsa.PrivateKey, algorithm string, hash crypto.Hash) (string, error) {
	text, err := c.text(algorithm)
	if err != nil {
		return "", err
	}
	h := hash.New()
	h.Write([]byte(text))
	sum, err := rsa.SignPKCS1v15(rand.Reader, key, hash, h.Sum(nil))
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sum), nil
}

// text returns the part of a token that is signed.
func (c claims) text(algorithm string) (string, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("writing claims: %w", err)
	}
	enc := base64.RawURLEncoding
	return enc.EncodeToString([]byte(`{"alg":"`+algorithm+`","typ":"JWT"}`)) + "." + enc.EncodeToString(body), nil
}

// A badToken is a session that must be refused.
type badToken struct {
	check string // name of the check
	token string // empty: the request has no cookie
}

// badTokens returns variants of a valid session that must be refused. strange is a
// key of another site.
func badTokens(key, strange *rsa.PrivateKey, good claims, now time.Time) ([]badToken, error) {
	var firstErr error
	keep := func(token string, err error) string {
		if err != nil && firstErr == nil {
			firstErr = err
		}
		return token
	}
	expired := good.with("exp", now.Add(-time.Hour).Unix())
	bad := []badToken{
		{check: "token-missing"},
		{"token-malformed", "isucon"},
		{"token-expired", keep(expired.signed(key))},
		{"token-key", keep(good.signed(strange))},
		{"token-algorithm", keep(good.signedWith(key, "RS512", crypto.SHA512))},
		{"token-algorithm", keep(good.hs256())},
		{"token-algorithm", keep(good.unsigned())},
		{"token-subject", keep(good.with("sub", "").signed(key))},
		{"token-role", keep(good.with("role", "emperor").signed(key))},
		{"token-role", keep(good.with("role", nil).signed(key))},
		{"token-audience", keep(good.with("aud", []string{}).signed(key))},
	}
	if aud, ok := good["aud"].([]string); ok {
		bad = append(bad, badToken{"token-audience", keep(good.with("aud", append([]string{"isucon"}, aud...)).signed(key))})
	}
	return bad, firstErr
}

// hs256 signs with HMAC and a public text instead of the key.
func (c claims) hs256() (string, error) {
	text, err := c.text("HS256")
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte("isuports"))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

// unsigned has no signature at all.
func (c claims) unsigned() (string, error) {
	text, err := c.text("none")
	return text + ".", err
}
