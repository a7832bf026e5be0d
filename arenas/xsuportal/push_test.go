package xsuportal

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"
)

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDecrypt reads the example of RFC 8291, section 5 and appendix A.
func TestDecrypt(t *testing.T) {
	key, err := ecdh.P256().NewPrivateKey(unbase64(t, "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		t.Fatal(err)
	}
	auth := unbase64(t, "BTBZMqHH6r4Tts7J_aSIgg")
	message := unbase64(t, "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	text, err := decrypt(message, key, auth)
	if err != nil || string(text) != "When I grow up, I want to be a watermelon" {
		t.Errorf("%q, %v", text, err)
	}
	for i := range message {
		spoilt := append([]byte(nil), message...)
		spoilt[i] ^= 1
		if text, err := decrypt(spoilt, key, auth); err == nil && !(i >= saltLength && i < saltLength+sizeLength) {
			t.Errorf("with byte %d changed: %q", i, text)
		}
	}
	for n := range message {
		if text, err := decrypt(message[:n], key, auth); err == nil {
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
		if text, err := decrypt(message, own, auth); err != nil || string(text) != "text" {
			t.Errorf("%q, %v", text, err)
		}
		return
	}
	t.Fatal("no secret begins with a zero")
}

// TestVAPID: which tokens are accepted.
func TestVAPID(t *testing.T) {
	p, other := newPusher(), newPusher()
	const origin = "http://127.0.0.1:11001"
	now := time.Now()
	soon := now.Add(time.Hour)
	right := p.authorization("ES256", origin, soon)
	for name, c := range map[string]struct {
		header, key string
		why         string // "" for a right one
	}{
		"right":            {right, p.public, ""},
		"without the port": {p.authorization("ES256", "http://127.0.0.1", soon), p.public, ""},
		"key with padding": {right, p.public + "=", ""},
		"none":             {"", p.public, "scheme"},
		"another scheme":   {"Bearer x", p.public, "scheme"},
		"another key":      {other.authorization("ES256", origin, soon), p.public, "subscription's"},
		"foreign token":    {strings.Replace(other.authorization("ES256", origin, soon), other.public, p.public, 1), p.public, "signature is wrong"},
		"another audience": {p.authorization("ES256", "https://push.example.com", soon), p.public, "is for"},
		"expired":          {p.authorization("ES256", origin, now.Add(-time.Minute)), p.public, "expires"},
		"too long":         {p.authorization("ES256", origin, now.Add(48*time.Hour)), p.public, "expires"},
		"no signature":     {p.authorization("none", origin, soon), p.public, "algorithm"},
		"two parts":        {"vapid t=a.b, k=" + p.public, p.public, "2 parts"},
		"a key of junk":    {"vapid t=a.b.c, k=AAAA", "AAAA", "the key"},
	} {
		err := checkVAPID(c.header, origin, c.key, now)
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}

// TestPushService: what the push service answers, and which mistakes it reports.
func TestPushService(t *testing.T) {
	ct, s := quietContest(t)
	push, err := newPushService(ct, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer push.close()
	p := newPusher()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m := ct.newTeam(1).leader()
	m.agent = &agent{ct: ct}
	sub := &subscription{member: m, key: private, auth: make([]byte, 16), vapid: p.public, ctx: t.Context()}
	to := browserKeys{push.add(sub), base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes()), base64.RawURLEncoding.EncodeToString(sub.auth)}
	text := []byte("CAoSAhAB") // a notification with number 10 and a time
	header := func(name, value string) func(r *http.Request, body []byte) []byte {
		return func(r *http.Request, body []byte) []byte {
			r.Header.Set(name, value)
			return body
		}
	}
	for _, c := range []struct {
		name   string
		text   []byte
		spoil  func(r *http.Request, body []byte) []byte
		status int
		check  string
	}{
		{"right", text, nil, 201, ""},
		{"no authorization", text, header("Authorization", ""), 401, "push-vapid"},
		{"another's token", text, header("Authorization", newPusher().authorization("ES256", push.url, time.Now().Add(time.Hour))), 403, "push-vapid"},
		{"no TTL", text, header("TTL", ""), 400, "push-ttl"},
		{"not encrypted", text, header("Content-Encoding", "identity"), 400, "push-encryption"},
		{"spoilt", text, func(_ *http.Request, body []byte) []byte { body[len(body)-1] ^= 1; return body }, 400, "push-encryption"},
		{"too long", text, func(_ *http.Request, body []byte) []byte { return append(body, make([]byte, mostPushed)...) }, 413, "push-size"},
		{"no base64", []byte("!"), nil, 400, "push-message"},
		{"no number", []byte("EgIQAQ=="), nil, 400, "push-message"},
	} {
		p.spoil = c.spoil
		s.faults = nil
		status, err := p.post(to, c.text)
		if err != nil || status != c.status || strings.Join(s.faults, " ") != c.check {
			t.Errorf("%s: %d, %q, %v; want %d, %q", c.name, status, s.faults, err, c.status, c.check)
		}
	}
	p.spoil, s.faults = nil, nil
	if n := <-m.inbox; n.GetId() != 10 {
		t.Errorf("the member got %v", n)
	}
	push.forget()
	if status, err := p.post(to, text); status != 404 || s.faults != nil {
		t.Errorf("an expired subscription: %d, %q, %v", status, s.faults, err)
	}
	to.endpoint = push.url + pushPath + "nobody"
	if status, err := p.post(to, text); status != 404 || strings.Join(s.faults, " ") != "push-subscription" {
		t.Errorf("an unknown subscription: %d, %q, %v", status, s.faults, err)
	}
}

func FuzzDecrypt(f *testing.F) {
	key, err := ecdh.P256().NewPrivateKey(unbase64(f, "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("DGv6ra1nlYgDCS1FRnbzlw"))
	f.Fuzz(func(t *testing.T, message []byte) {
		if text, err := decrypt(message, key, make([]byte, 16)); err == nil {
			t.Errorf("%x was decrypted: %q", message, text)
		}
	})
}

func FuzzVAPID(f *testing.F) {
	f.Add("vapid t=eyJhbGciOiJFUzI1NiJ9.e30.AAAA, k=BA", "BA")
	f.Fuzz(func(t *testing.T, header, key string) {
		if checkVAPID(header, "http://h", key, time.Unix(0, 0)) == nil {
			t.Errorf("%q was accepted", header)
		}
	})
}
