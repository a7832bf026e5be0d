package xsuportal

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// longestToken is how far in the future a token may expire (RFC 8292, 2).
const longestToken = 24 * time.Hour

// checkVAPID checks the header Authorization of a message (RFC 8292): a token of the key that
// the subscription was made with, for this push service, which has not expired.
func checkVAPID(header, origin, key string, now time.Time) error {
	refuse := func(status int, format string, args ...any) error {
		return &pushError{status, "push-vapid", "Authorization: " + fmt.Sprintf(format, args...)}
	}
	rest, ok := strings.CutPrefix(header, "vapid ")
	if !ok {
		return refuse(http.StatusUnauthorized, "%.40q is not of the scheme vapid", header)
	}
	var token, by string
	for part := range strings.SplitSeq(rest, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			token = value
		case "k":
			by = value
		}
	}
	if strings.TrimRight(by, "=") != strings.TrimRight(key, "=") {
		return refuse(http.StatusForbidden, "the key %.100q is not the subscription's", by)
	}
	point, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(by, "="))
	if err != nil {
		return refuse(http.StatusForbidden, "the key is not base64: %v", err)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return refuse(http.StatusForbidden, "the key: %v", err)
	}
	claims, err := verifyToken(token, public)
	if err != nil {
		return refuse(http.StatusForbidden, "the token: %v", err)
	}
	if !sameOrigin(claims.Audience, origin) {
		return refuse(http.StatusForbidden, "the token is for %.100q, want %s", claims.Audience, origin)
	}
	if expires := time.Unix(claims.Expires, 0); !expires.After(now) || expires.After(now.Add(longestToken+time.Minute)) {
		return refuse(http.StatusForbidden, "the token expires at %v", expires.UTC())
	}
	return nil
}

// sameOrigin compares origins; the port may be left out.
func sameOrigin(got, origin string) bool {
	if got == origin {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && got == u.Scheme+"://"+u.Hostname()
}

// claims are those of a token.
type claims struct {
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
}

// verifyToken checks the signature of a token (RFC 7515, ES256), and reads it.
func verifyToken(token string, key *ecdsa.PublicKey) (c claims, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, fmt.Errorf("%d parts, want 3", len(parts))
	}
	var head struct {
		Algorithm string `json:"alg"`
	}
	for i, to := range []any{&head, &c} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return c, fmt.Errorf("part %d: %w", i+1, err)
		}
		if err := json.Unmarshal(text, to); err != nil {
			return c, fmt.Errorf("part %d: %w", i+1, err)
		}
	}
	if head.Algorithm != "ES256" {
		return c, fmt.Errorf("the algorithm %.20q, want ES256", head.Algorithm)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return c, fmt.Errorf("a signature of %d bytes, want 64 (%v)", len(signature), err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(key, sum[:], r, s) {
		return c, fmt.Errorf("the signature is wrong")
	}
	return c, nil
}
