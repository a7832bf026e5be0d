package webpush

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

func newKeys(t *testing.T) *Keys {
	t.Helper()
	made, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.Text()
	if err != nil {
		t.Fatal(err)
	}
	k, err := ReadKeys(text) // those that were kept are the same
	if err != nil || k.Public() != made.Public() {
		t.Fatalf("keys that were kept: %v", err)
	}
	return k
}

func header(t *testing.T, k *Keys, algorithm, audience string, expires time.Time) string {
	t.Helper()
	text, err := k.authorization(algorithm, audience, "mailto:a@example.com", expires)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSeal: a browser reads what was sent to it, at any length, and nothing longer is sent.
func TestSeal(t *testing.T) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth := make([]byte, 16)
	for _, n := range []int{0, 1, 1000, MaxText} {
		text := strings.Repeat("あ", n/3+1)[:n]
		message, err := Seal([]byte(text), key.PublicKey().Bytes(), auth)
		if err != nil || len(message) > MaxMessage {
			t.Fatalf("%d bytes: a message of %d, %v", n, len(message), err)
		}
		if got, err := Open(message, key, auth); err != nil || string(got) != text {
			t.Errorf("%d bytes: %d were read, %v", n, len(got), err)
		}
	}
	if _, err := Seal(make([]byte, MaxText+1), key.PublicKey().Bytes(), auth); err == nil {
		t.Error("a text that is too long was sent")
	}
	if _, err := Seal([]byte("x"), []byte("no point"), auth); err == nil {
		t.Error("a key that is no point was taken")
	}
}

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOpen reads the example of RFC 8291, section 5 and appendix A.
func TestOpen(t *testing.T) {
	key, err := ecdh.P256().NewPrivateKey(unbase64(t, "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		t.Fatal(err)
	}
	auth := unbase64(t, "BTBZMqHH6r4Tts7J_aSIgg")
	message := unbase64(t, "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	text, err := Open(message, key, auth)
	if err != nil || string(text) != "When I grow up, I want to be a watermelon" {
		t.Errorf("%q, %v", text, err)
	}
	for i := range message {
		spoilt := append([]byte(nil), message...)
		spoilt[i] ^= 1
		if text, err := Open(spoilt, key, auth); err == nil && !(i >= saltLength && i < saltLength+sizeLength) {
			t.Errorf("with byte %d changed: %q", i, text)
		}
	}
	for n := range message {
		if text, err := Open(message[:n], key, auth); err == nil {
			t.Errorf("the first %d bytes: %q", n, text)
		}
	}
}

// TestShortSecret: messages whose sender dropped the zeros at the begin of the secret are read.
func TestShortSecret(t *testing.T) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth, salt := make([]byte, 16), make([]byte, saltLength)
	for range 100_000 { // one secret of 256 begins with a zero
		sender, err := ecdh.P256().GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := sender.ECDH(own.PublicKey())
		if err != nil || secret[0] != 0 {
			continue
		}
		message, err := seal([]byte("text"), secret[1:], auth, salt, own.PublicKey().Bytes(), sender.PublicKey().Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if text, err := Open(message, own, auth); err != nil || string(text) != "text" {
			t.Errorf("%q, %v", text, err)
		}
		return
	}
	t.Fatal("no secret begins with a zero")
}

// TestCheck: which tokens are accepted.
func TestCheck(t *testing.T) {
	p, other := newKeys(t), newKeys(t)
	const origin = "http://127.0.0.1:11001"
	now := time.Now()
	soon := now.Add(time.Hour)
	right := header(t, p, "ES256", origin, soon)
	for name, c := range map[string]struct {
		header, key string
		why         string // "" for a right one
	}{
		"right":            {right, p.Public(), ""},
		"without the port": {header(t, p, "ES256", "http://127.0.0.1", soon), p.Public(), ""},
		"key with padding": {right, p.Public() + "=", ""},
		"none":             {"", p.Public(), "scheme"},
		"another scheme":   {"Bearer x", p.Public(), "scheme"},
		"another key":      {header(t, other, "ES256", origin, soon), p.Public(), "subscription's"},
		"foreign token":    {strings.Replace(header(t, other, "ES256", origin, soon), other.Public(), p.Public(), 1), p.Public(), "signature is wrong"},
		"another audience": {header(t, p, "ES256", "https://push.example.com", soon), p.Public(), "is for"},
		"expired":          {header(t, p, "ES256", origin, now.Add(-time.Minute)), p.Public(), "expires"},
		"too long":         {header(t, p, "ES256", origin, now.Add(48*time.Hour)), p.Public(), "expires"},
		"no signature":     {header(t, p, "none", origin, soon), p.Public(), "algorithm"},
		"two parts":        {"vapid t=a.b, k=" + p.Public(), p.Public(), "2 parts"},
		"a key of junk":    {"vapid t=a.b.c, k=AAAA", "AAAA", "the key"},
	} {
		err := Check(c.header, origin, c.key, now)
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}

func FuzzOpen(f *testing.F) {
	key, err := ecdh.P256().NewPrivateKey(unbase64(f, "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("DGv6ra1nlYgDCS1FRnbzlw"))
	f.Fuzz(func(t *testing.T, message []byte) {
		if text, err := Open(message, key, make([]byte, 16)); err == nil {
			t.Errorf("%x was decrypted: %q", message, text)
		}
	})
}

func FuzzCheck(f *testing.F) {
	f.Add("vapid t=eyJhbGciOiJFUzI1NiJ9.e30.AAAA, k=BA", "BA")
	f.Fuzz(func(t *testing.T, header, key string) {
		if Check(header, "http://h", key, time.Unix(0, 0)) == nil {
			t.Errorf("%q was accepted", header)
		}
	})
}
