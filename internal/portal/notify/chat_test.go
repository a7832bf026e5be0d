package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// TestChats: a webhook of Discord or Slack is known by its address, and gets what that service takes:
// texts format nothing, call nobody, and are not too long.
func TestChats(t *testing.T) {
	var mu sync.Mutex
	var bodies []map[string]any
	chat := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := map[string]any{"host": r.Host}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, body)
	}))
	t.Cleanup(chat.Close)
	h := newHall(t)
	// Both services are this server: what would go to the internet comes here.
	h.client = chat.Client()
	transport := h.client.Transport.(*http.Transport)
	transport.TLSClientConfig.ServerName = "example.com" // of its certificate
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, chat.Listener.Addr().String())
	}
	for address, channel := range map[string]string{"https://discord.com/api/webhooks/1/s3cr3t": "discord", "https://hooks.slack.com/services/T/B/s3cr3t": "slack"} {
		made, err := h.Subscribe(t.Context(), h.staff, api.NewSubscription{Channel: "webhook", Address: address})
		h.ok(err)
		if made.Channel != channel || made.Secret != "" {
			t.Errorf("%s is %+v", address, made)
		}
	}
	h.say(h.leader, api.Say{Kind: "question", Text: "@everyone <!channel> [free](https://evil.example) **bold** & " + strings.Repeat("*長", 900)})
	h.round()
	if len(bodies) != 2 || h.counts()["sent"] != 2 {
		t.Fatalf("%d messages, %v", len(bodies), h.counts())
	}
	for _, body := range bodies {
		text := fmt.Sprint(body["content"], body["text"])
		if !strings.Contains(text, "https://portal.example/staff/cup_final") || strings.Contains(text, "<!channel>") || strings.Contains(text, "s3cr3t") {
			t.Errorf("%s got %q", body["host"], text)
		}
		if body["host"] != "discord.com" {
			if !strings.Contains(text, "&lt;!channel&gt;") || body["mrkdwn"] != false {
				t.Errorf("Slack got %v", body)
			}
			continue
		}
		mentions, _ := body["allowed_mentions"].(map[string]any)
		parse, listed := mentions["parse"].([]any)
		if content := body["content"].(string); utf8.RuneCountInString(content) > longestChat || !listed || len(parse) > 0 || strings.Contains(content, "**bold**") || strings.Contains(content, "[free]") {
			t.Errorf("Discord got %v", body)
		}
	}
	list, err := h.Subscriptions(t.Context(), h.staff)
	if err != nil || len(list) != 2 || strings.Contains(fmt.Sprint(list), "s3cr3t") {
		t.Errorf("the page shows %+v, %v", list, err)
	}
}

// TestChatRefused: the address of a chat's webhook has the bounds of any webhook's.
func TestChatRefused(t *testing.T) {
	h := newHall(t)
	for _, address := range []string{"https://discord.com/api/webhooks/1/" + strings.Repeat("x", 700), "https://u:p@discord.com/api/webhooks/1/x"} {
		if _, err := h.Subscribe(t.Context(), h.staff, api.NewSubscription{Channel: "webhook", Address: address}); err == nil {
			t.Errorf("%.60s was taken", address)
		}
	}
}

// TestChatAddresses: what only looks like a chat is an ordinary webhook, with its checks.
func TestChatAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://discord.com/api/webhooks/1/x": "discord", "https://canary.discord.com/api/webhooks/1/x": "discord", "https://hooks.slack.com/services/T/B/x": "slack",
		"http://discord.com/api/webhooks/1/x": "", "https://discord.com.evil.example/api/webhooks/1/x": "", "https://evildiscord.com/api/webhooks/1/x": "", "https://discord.com/login": "",
		"https://discord.com:8443/api/webhooks/1/x": "", "https://slack.com/services/T": "", "": "", "https://example.com/discord.com/api/webhooks/": "",
	} {
		if got := chatOf(address); got != want {
			t.Errorf("%q is %q, want %q", address, got, want)
		}
	}
}
