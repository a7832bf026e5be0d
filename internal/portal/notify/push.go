package notify

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/load/webpush"
	"github.com/iikanji/iikanji/internal/portal/api"
)

// services are the push services of browsers: their hosts, and the ends of their hosts.
var services = []string{"fcm.googleapis.com", "updates.push.services.mozilla.com", ".push.services.mozilla.com", ".notify.windows.com", ".push.apple.com"}

// known reports whether a host is one of a push service.
func (s *Service) known(host string) bool {
	if slices.Contains(s.o.Services, host) {
		return true
	}
	return slices.ContainsFunc(services, func(name string) bool { return host == name || name[0] == '.' && strings.HasSuffix(host, name) })
}

// A browser is what a push subscription has beside its endpoint.
type browser struct {
	Point []byte `json:"p256dh"`
	Auth  []byte `json:"auth"`
}

// checkPush checks a browser's subscription and returns its kept form.
func (s *Service) checkPush(n api.NewSubscription) (string, error) {
	u, err := url.Parse(n.Address)
	if err != nil || len(n.Address) > 700 || u.User != nil || !s.known(u.Host) || u.Scheme != "https" && !slices.Contains(s.o.Services, u.Host) {
		return "", refused("push", "the endpoint is not of a known push service")
	}
	point, err := keyOf(n.Point)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(point)
	}
	auth, bad := keyOf(n.Auth)
	if err != nil || bad != nil || len(auth) != 16 {
		return "", refused("push", "the browser's keys are not valid")
	}
	body, err := json.Marshal(browser{point, auth})
	return string(body), err
}

// push sends a delivery to a browser. Its id is the tag: a repeated message replaces the first.
func (s *Service) push(ctx context.Context, d due) error {
	var b browser
	if err := json.Unmarshal([]byte(d.to.body), &b); err != nil || s.o.Keys == nil {
		return &deadError{why: "the subscription is damaged"}
	}
	d.notice.Text = cutTo(d.notice, webpush.MaxText)
	text, err := json.Marshal(d.notice)
	if err != nil {
		return fmt.Errorf("writing a notice: %w", err)
	}
	body, err := webpush.Seal(text, b.Point, b.Auth)
	if err != nil {
		return &deadError{why: err.Error()}
	}
	u, err := url.Parse(d.to.address)
	if err != nil {
		return &deadError{why: "the endpoint is damaged"}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.to.address, bytes.NewReader(body))
	if err != nil {
		return &deadError{why: "the endpoint is damaged"}
	}
	subject := s.o.Base
	if s.o.Mail != nil {
		subject = "mailto:" + s.o.Mail.From
	}
	header, err := s.o.Keys.Authorization(u.Scheme+"://"+u.Host, subject, time.Now().Add(12*time.Hour))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", header)
	r.Header.Set("Content-Encoding", "aes128gcm")
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("TTL", fmt.Sprint(int(giveUp.Seconds())))
	r.Header.Set("Urgency", "high")
	return answered(s.client.Do(r))
}

// cutTo shortens the text of a notice until its form fits into n bytes.
func cutTo(notice Notice, n int) string {
	text := []rune(notice.Text)
	for {
		notice.Text = string(text)
		if b, err := json.Marshal(notice); err != nil || len(b) <= n || len(text) == 0 {
			return notice.Text
		}
		text = append(text[:len(text)*3/4:len(text)*3/4], '…')
		if len(text) == 1 {
			text = nil
		}
	}
}
