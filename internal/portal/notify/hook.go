package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
)

// checkHook checks the address of a webhook. What a name resolves to is checked when it is
// called.
func (s *Service) checkHook(address string) error {
	u, err := url.Parse(address)
	if err != nil || len(address) > 700 || u.Host == "" || u.User != nil || u.Fragment != "" {
		return refused("webhook", "want an address such as https://example.com/hook")
	}
	ip, bad := netip.ParseAddr(u.Hostname())
	if s.o.Hooks && bad == nil && ip.IsLoopback() {
		return nil
	}
	if u.Scheme != "https" || bad == nil && !public(ip) {
		return refused("webhook", "want https at a public address")
	}
	return nil
}

// Signature is that of a webhook's body (HMAC-SHA-256) at a time in seconds: receivers refuse
// old ones.
func Signature(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// hook calls a webhook.
func (s *Service) hook(ctx context.Context, d due) error {
	body, err := json.Marshal(d.notice)
	if err != nil {
		return fmt.Errorf("writing a notice: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.to.address, bytes.NewReader(body))
	if err != nil {
		return &deadError{why: "the address is damaged"}
	}
	now := strconv.FormatInt(s.o.Core.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "iikanji-portal")
	r.Header.Set("Iikanji-Delivery", d.message)
	r.Header.Set("Iikanji-Timestamp", now)
	r.Header.Set("Iikanji-Signature", Signature(s.hookSecret(d.address), now, body))
	return answered(s.client.Do(r))
}
