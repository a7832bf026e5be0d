package xsuportal

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/webpush"
)

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
		{"another's token", text, header("Authorization", newPusher().authorization(push.url, time.Now().Add(time.Hour))), 403, "push-vapid"},
		{"no TTL", text, header("TTL", ""), 400, "push-ttl"},
		{"not encrypted", text, header("Content-Encoding", "identity"), 400, "push-encryption"},
		{"spoilt", text, func(_ *http.Request, body []byte) []byte { body[len(body)-1] ^= 1; return body }, 400, "push-encryption"},
		{"too long", text, func(_ *http.Request, body []byte) []byte { return append(body, make([]byte, webpush.MaxMessage)...) }, 413, "push-size"},
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
