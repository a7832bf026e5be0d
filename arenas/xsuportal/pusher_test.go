package xsuportal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
)

// A pusher sends Web Push messages, as an app does.
type pusher struct {
	key    *ecdsa.PrivateKey
	public string
	spoil  func(r *http.Request, body []byte) []byte // may be nil

	mu   sync.Mutex
	wait sync.WaitGroup
	got  map[int]int // answers by status
}

type browserKeys struct{ endpoint, p256dh, auth string }

func newPusher() *pusher {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	return &pusher{key: key, public: base64.RawURLEncoding.EncodeToString(point), got: map[int]int{}}
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
	r.Header.Set("Authorization", p.authorization("ES256", r.URL.Scheme+"://"+r.URL.Host, time.Now().Add(time.Hour)))
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
func (p *pusher) authorization(algorithm, audience string, expires time.Time) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	token := part(fmt.Sprintf(`{"typ":"JWT","alg":%q}`, algorithm)) + "." +
		part(fmt.Sprintf(`{"aud":%q,"exp":%d,"sub":"mailto:a@example.com"}`, audience, expires.Unix()))
	sum := sha256.Sum256([]byte(token))
	r, s, err := ecdsa.Sign(rand.Reader, p.key, sum[:])
	if err != nil {
		panic(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + token + "." + base64.RawURLEncoding.EncodeToString(signature) + ", k=" + p.public
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
	reader, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return nil, err
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltLength)
	rand.Read(salt)
	secret, err := own.ECDH(reader)
	if err != nil {
		return nil, err
	}
	return seal(text, secret, auth, salt, point, own.PublicKey().Bytes())
}

// seal encrypts one record with a secret.
func seal(text, secret, auth, salt, reader, sender []byte) ([]byte, error) {
	ikm, err := hkdf.Key(sha256.New, secret, auth, "WebPush: info\x00"+string(reader)+string(sender), 32)
	if err != nil {
		return nil, err
	}
	cek, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(cek)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint32(bytes.Clone(salt), mostPushed)
	out = append(append(out, byte(len(sender))), sender...)
	return aead.Seal(out, nonce, append(bytes.Clone(text), 2, 0, 0), nil), nil
}
