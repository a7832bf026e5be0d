package xsuportal

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/internal/load/webpush"
)

// A pushService is the push service of the members' browsers (RFC 8030): the target posts
// encrypted messages to it. It speaks plain HTTP, where a real one speaks HTTPS.
type pushService struct {
	ct     *contest
	server *http.Server
	url    string

	mu      sync.Mutex // guards what follows
	members map[string]*subscription
	expired map[string]bool
	number  int
}

// A subscription is that of one browser.
type subscription struct {
	member *member
	key    *ecdh.PrivateKey
	auth   []byte
	vapid  string // the target's public key, as its session answer had it
	ctx    context.Context
}

// newPushService starts a push service at an address.
func newPushService(ct *contest, address string) (*pushService, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("starting the push service: %w", err)
	}
	p := &pushService{ct: ct, url: "http://" + l.Addr().String(), members: map[string]*subscription{}, expired: map[string]bool{}}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: requestTimeout}
	go p.server.Serve(l) // ends with close
	return p, nil
}

func (p *pushService) close() { p.server.Close() }

// forget expires all subscriptions, as those of the checks before the load.
func (p *pushService) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.members {
		p.expired[id] = true
	}
	clear(p.members)
}

// subscribe makes a subscription of a member's browser and gives it to the target.
func (ct *contest) subscribe(ctx context.Context, m *member, key string) error {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	s := &subscription{member: m, key: private, auth: make([]byte, 16), vapid: key, ctx: ctx}
	rand.Read(s.auth)
	endpoint := ct.push.add(s)
	return m.agent.call(ctx, stepSubscribe, http.MethodPost, "/api/contestant/push_subscriptions", &contestant.SubscribeNotificationRequest{
		Endpoint: endpoint,
		P256Dh:   base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes()),
		Auth:     base64.RawURLEncoding.EncodeToString(s.auth),
	}, new(contestant.SubscribeNotificationResponse))
}

// add stores a subscription and returns its endpoint.
func (p *pushService) add(s *subscription) (endpoint string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number++
	id := fmt.Sprintf("%d-%s", p.number, rand.Text())
	p.members[id] = s
	return p.url + pushPath + id
}

const pushPath = "/push/"

// A pushError is an answer of the push service that reports a mistake of the target.
type pushError struct {
	status int
	check  string
	why    string
}

func (e *pushError) Error() string { return e.why }

// ServeHTTP takes one message.
func (p *pushService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := strings.CutPrefix(r.URL.Path, pushPath)
	if !ok || r.Method != http.MethodPost {
		http.Error(w, "not a push endpoint", http.StatusNotFound)
		return
	}
	p.mu.Lock()
	s, expired := p.members[id], p.expired[id]
	p.mu.Unlock()
	if expired {
		http.Error(w, "the subscription has expired", http.StatusNotFound)
		return
	}
	err := p.take(r, s)
	var bad *pushError
	if errors.As(err, &bad) {
		p.ct.s.Report(wrong(-1, bad.check, "%s", bad.why))
		http.Error(w, bad.why, bad.status)
		return
	}
	if err != nil { // the target went away
		return
	}
	w.Header().Set("Location", p.url+"/message/"+id)
	w.WriteHeader(http.StatusCreated)
}

// take checks one message and gives it to its member.
func (p *pushService) take(r *http.Request, s *subscription) error {
	if s == nil {
		return &pushError{http.StatusNotFound, "push-subscription", "a message for an unknown subscription"}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, webpush.MaxMessage+1))
	if err != nil {
		return err
	}
	if err := webpush.Check(r.Header.Get("Authorization"), p.url, s.vapid, time.Now()); err != nil {
		refused := &pushError{http.StatusForbidden, "push-vapid", err.Error()}
		if auth := (*webpush.AuthError)(nil); errors.As(err, &auth) {
			refused.status = auth.Status
		}
		return refused
	}
	if ttl, err := strconv.Atoi(r.Header.Get("TTL")); err != nil || ttl < 0 {
		return &pushError{http.StatusBadRequest, "push-ttl", fmt.Sprintf("TTL: %.40q", r.Header.Get("TTL"))}
	}
	if got := r.Header.Get("Content-Encoding"); got != "aes128gcm" {
		return &pushError{http.StatusBadRequest, "push-encryption", fmt.Sprintf("Content-Encoding: %.40q, want aes128gcm", got)}
	}
	if len(body) > webpush.MaxMessage {
		return &pushError{http.StatusRequestEntityTooLarge, "push-size", fmt.Sprintf("a message of more than %d bytes", webpush.MaxMessage)}
	}
	text, err := webpush.Open(body, s.key, s.auth)
	if err != nil {
		return &pushError{http.StatusBadRequest, "push-encryption", "decrypting a message: " + err.Error()}
	}
	n, err := readPushed(text)
	if err != nil {
		return &pushError{http.StatusBadRequest, "push-message", err.Error()}
	}
	p.ct.locked(func() { p.ct.pushed++ })
	s.member.receive(s.ctx, n)
	return nil
}

// readPushed reads the text of a message: a notification as protobuf in base64.
func readPushed(text []byte) (*resources.Notification, error) {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return nil, fmt.Errorf("a message that is not base64: %w", err)
	}
	n := new(resources.Notification)
	if err := proto.Unmarshal(b, n); err != nil {
		return nil, fmt.Errorf("a message that is no notification: %w", err)
	}
	if n.GetId() <= 0 || n.GetCreatedAt() == nil {
		return nil, fmt.Errorf("a notification without its number or time: %v", n)
	}
	return n, nil
}
