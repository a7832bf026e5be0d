package isuports

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// trainingKey is the arena's own RSA key, the private half of files/public.pem.
// The login service for people has it too. It is public on purpose: it signs only
// the sessions of local practice runs and protects no real account.
const trainingKey = "blackauth/rsa-private.pem"

// signingKey returns the key that signs sessions.
func signingKey() (*rsa.PrivateKey, error) {
	key, err := parseKey(webapp.MustRead(trainingKey))
	if err != nil {
		return nil, fmt.Errorf("reading the signing key: %w", err)
	}
	return key, nil
}

// parseKey reads an RSA key in PEM (PKCS #8).
func parseKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM block in it")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("not an RSA key")
	}
	return private, nil
}
