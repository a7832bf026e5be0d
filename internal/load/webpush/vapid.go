package webpush

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
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

// An AuthError is a header that a push service refuses, with the status of its answer.
type AuthError struct {
	Status int
	Why    string
}

func (e *AuthError) Error() string { return "Authorization: " + e.Why }

// Check checks the header Authorization of a message (RFC 8292): a token of the key that the
// subscription was made with, for this push service, which has not expired. An error is an
// *AuthError.
func Check(header, origin, key string, now time.Time) error {
	refuse := func(status int, format string, args ...any) error {
		return &AuthError{status, fmt.Sprintf(format, args...)}
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

// Keys are those of a sender.
type Keys struct {
	private *ecdsa.PrivateKey
	public  string
}

// NewKeys makes keys.
func NewKeys() (*Keys, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making keys: %w", err)
	}
	return keysOf(private)
}

func keysOf(private *ecdsa.PrivateKey) (*Keys, error) {
	point, err := private.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("writing a public key: %w", err)
	}
	return &Keys{private, base64.RawURLEncoding.EncodeToString(point)}, nil
}

// Public is the key that browsers subscribe with, in base64.
func (k *Keys) Public() string { return k.public }

// Text is the form in which keys are kept: it is a secret.
func (k *Keys) Text() (string, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return "", fmt.Errorf("writing keys: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(der), nil
}

// ReadKeys reads the form of Text.
func ReadKeys(text string) (*Keys, error) {
	der, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, fmt.Errorf("reading keys: not of the curve P-256")
	}
	return keysOf(private)
}

// Authorization is the header of a message to a push service: audience is its origin, subject
// an address of the sender as in mailto:staff@example.com.
func (k *Keys) Authorization(audience, subject string, expires time.Time) (string, error) {
	return k.authorization("ES256", audience, subject, expires)
}

func (k *Keys) authorization(algorithm, audience, subject string, expires time.Time) (string, error) {
	var parts []string
	for _, v := range []any{map[string]string{"typ": "JWT", "alg": algorithm}, map[string]any{"aud": audience, "exp": expires.Unix(), "sub": subject}} {
		text, err := json.Marshal(v)
		if err != nil {
			return "", fmt.Errorf("writing a token: %w", err)
		}
		parts = append(parts, base64.RawURLEncoding.EncodeToString(text))
	}
	token := strings.Join(parts, ".")
	sum := sha256.Sum256([]byte(token))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + token + "." + base64.RawURLEncoding.EncodeToString(signature) + ", k=" + k.public, nil
}
