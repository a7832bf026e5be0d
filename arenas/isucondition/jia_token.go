package isucondition

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// tokenLife is the validity period of a login token.
const tokenLife = 30 * time.Second

// claimsOf returns the claims of a login. The token is issued one second in the
// past, to tolerate clock differences.
func claimsOf(user any, now time.Time) map[string]any {
	issued := now.Add(-time.Second)
	return map[string]any{"jia_user_id": user, "iat": issued.Unix(), "exp": issued.Add(tokenLife).Unix()}
}

// loginToken returns a signed login token of a user.
func loginToken(key *ecdsa.PrivateKey, user string, now time.Time) (string, error) {
	return SignToken(key, claimsOf(user, now))
}

// A badToken is a login that must be refused.
type badToken struct {
	check string // name of the check
	token string
	named bool // false: the request has no token
	text  string
	code  int
}

// badTokens returns the eight kinds of logins that must be refused.
func badTokens(key *ecdsa.PrivateKey, user string, now time.Time) ([]badToken, error) {
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	var firstErr error
	sign := func(key *ecdsa.PrivateKey, claims map[string]any) string {
		token, err := SignToken(key, claims)
		if err != nil && firstErr == nil {
			firstErr = err
		}
		return token
	}
	unnamed := claimsOf(user, now)
	delete(unnamed, "jia_user_id")
	good := sign(key, claimsOf(user, now))
	bad := []badToken{
		{check: "auth-hs256", token: hs256(claimsOf(user, now)), named: true},
		{check: "auth-expired", token: sign(key, claimsOf(user, now.Add(-time.Hour))), named: true},
		{check: "auth-missing"},
		{check: "auth-key", token: sign(stranger, claimsOf(user, now)), named: true},
		{check: "auth-no-jwt", token: "isucon", named: true},
		{check: "auth-tampered", token: tampered(good, claimsOf(user+"x", now)), named: true},
		{check: "auth-no-claim", token: sign(key, unnamed), named: true, code: 400, text: textBadClaims},
		{check: "auth-bad-claim", token: sign(key, claimsOf(1, now)), named: true, code: 400, text: textBadClaims},
	}
	for i := range bad {
		if bad[i].code == 0 {
			bad[i].code, bad[i].text = 403, textForbidden
		}
	}
	return bad, firstErr
}

// hs256 signs claims with HMAC and a password instead of the key.
func hs256(claims map[string]any) string {
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + claimsText(claims)
	mac := hmac.New(sha256.New, []byte("isucon"))
	mac.Write([]byte(text))
	return text + "." + enc.EncodeToString(mac.Sum(nil))
}

// tampered replaces the claims of a signed token.
func tampered(token string, claims map[string]any) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return token
	}
	return parts[0] + "." + claimsText(claims) + "." + parts[2]
}

func claimsText(claims map[string]any) string {
	text, err := json.Marshal(claims)
	if err != nil {
		panic("BUG: claims that are not JSON: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(text)
}
