package isucondition

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// trainingKey is the arena's own ES256 key, the private half of
// files/ec256-public.pem. It is public on purpose: it signs only the logins of
// local practice runs and protects no real account.
//
//go:embed keys/ec256-private.pem
var trainingKey []byte

// SigningKey reads from a file the private key (PEM, PKCS #8 or SEC 1) that signs
// login tokens. With an empty path it returns the arena's own key.
func SigningKey(path string) (*ecdsa.PrivateKey, error) {
	if path == "" {
		return parseKey(trainingKey)
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

func parseKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM block in it")
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok || ec.Params().BitSize != 256 {
		return nil, errors.New("not an elliptic-curve key on P-256")
	}
	return ec, nil
}

// SignToken returns a JWT with the claims, signed with ES256 (RFC 7518, 3.4).
func SignToken(key *ecdsa.PrivateKey, claims map[string]any) (string, error) {
	body, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("writing the claims: %w", err)
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + enc.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", fmt.Errorf("signing the token: %w", err)
	}
	var sig [64]byte
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	return text + "." + enc.EncodeToString(sig[:]), nil
}
