package login

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// What authenticators expect (RFC 6238): SHA-1, steps of 30 s, six digits.
const (
	step   = 30 * time.Second
	digits = 1_000_000
	// drift is how many steps a clock may be off.
	drift = 1
)

var noPadding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewSecret is a secret for an authenticator, in base32.
func NewSecret() string {
	secret := make([]byte, 20)
	rand.Read(secret)
	return noPadding.EncodeToString(secret)
}

// code is the code of a step (RFC 4226, 5.3).
func code(secret []byte, at int64) string {
	mac := hmac.New(sha1.New, secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at)))
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[offset:])&0x7fffffff%digits)
}

// codeStep is the step of a code, later than the last one that was used: a code works once. It
// is 0 for a code that is wrong.
func codeStep(secret, given string, last int64, now time.Time) int64 {
	raw, err := noPadding.DecodeString(secret)
	if err != nil || len(raw) < 10 {
		return 0
	}
	current, found := now.Unix()/int64(step.Seconds()), int64(0)
	for at := current - drift; at <= current+drift; at++ {
		if subtle.ConstantTimeCompare([]byte(code(raw, at)), []byte(given)) == 1 && at > last {
			found = at
		}
	}
	return found
}

// A vault keeps secrets of authenticators in SQL under a key of the portal's folder.
type vault struct{ aead cipher.AEAD }

func newVault(secret []byte) (*vault, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "iikanji portal authenticators", 32)
	if err != nil {
		return nil, fmt.Errorf("making the key of authenticators: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &vault{aead}, err
}

// seal encrypts a secret of an account.
func (v *vault) seal(account, text string) string {
	nonce := make([]byte, v.aead.NonceSize())
	rand.Read(nonce)
	return base64.StdEncoding.EncodeToString(v.aead.Seal(nonce, nonce, []byte(text), []byte(account)))
}

// open is the secret of seal.
func (v *vault) open(account, sealed string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(raw) < v.aead.NonceSize() {
		return "", errors.New("an authenticator's secret is damaged")
	}
	text, err := v.aead.Open(nil, raw[:v.aead.NonceSize()], raw[v.aead.NonceSize():], []byte(account))
	if err != nil {
		return "", errors.New("an authenticator's secret is of another portal's key")
	}
	return string(text), nil
}
