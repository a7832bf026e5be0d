package xsuportal

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/internal/load/webpush"
)

// A pusher sends Web Push messages, as an app does.
type pusher struct {
	keys   *webpush.Keys
	public string
	spoil  func(r *http.Request, body []byte) []byte // may be nil

	mu   sync.Mutex
	wait sync.WaitGroup
	got  map[int]int // answers by status
}

type browserKeys struct{ endpoint, p256dh, auth string }

func newPusher() *pusher {
	keys, err := webpush.NewKeys()
	if err != nil {
		panic(err)
	}
	return &pusher{keys: keys, public: keys.Public(), got: map[int]int{}}
}

// send sends a notification to browsers, later.
func (p *pusher) send(to []browserKeys, n *resources.Notification) {
	b, _ := proto.Marshal(n)
	text := []byte(base64.StdEncoding.EncodeToString(b))
	for _, k := range to {
		p.wait.Go(func() {
			if status, err := p.post(k, text); err == nil {
				p.mu.Lock()
				p.got[status]++
				p.mu.Unlock()
			}
		})
	}
}

// post sends one message.
func (p *pusher) post(to browserKeys, text []byte) (status int, err error) {
	body, err := to.encrypt(text)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequest(http.MethodPost, to.endpoint, nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", p.authorization(r.URL.Scheme+"://"+r.URL.Host, time.Now().Add(time.Hour)))
	r.Header.Set("Content-Encoding", "aes128gcm")
	r.Header.Set("TTL", "60")
	if p.spoil != nil {
		body = p.spoil(r, body)
	}
	r.Body, r.ContentLength = readCloser{bytes.NewReader(body)}, int64(len(body))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return res.StatusCode, nil
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// authorization makes the header of RFC 8292.
func (p *pusher) authorization(audience string, expires time.Time) string {
	header, err := p.keys.Authorization(audience, "mailto:a@example.com", expires)
	if err != nil {
		panic(err)
	}
	return header
}

// encrypt makes a message of RFC 8291 for a browser.
func (k browserKeys) encrypt(text []byte) ([]byte, error) {
	point, err := base64.RawURLEncoding.DecodeString(k.p256dh)
	if err != nil {
		return nil, err
	}
	auth, err := base64.RawURLEncoding.DecodeString(k.auth)
	if err != nil {
		return nil, err
	}
	return webpush.Seal(text, point, auth)
}
