package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/iikanji/iikanji/internal/show/plain"
)

// longestChat is the longest message of Discord, in characters; Slack takes more.
const longestChat = 2000

// chatOf is the channel of a webhook of a chat service, by its address; "" for another webhook.
func chatOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Port() != "" {
		return ""
	}
	switch host := strings.ToLower(u.Hostname()); {
	case (host == "discord.com" || host == "discordapp.com" || strings.HasSuffix(host, ".discord.com")) && strings.HasPrefix(u.Path, "/api/webhooks/"):
		return channelDiscord
	case (host == "hooks.slack.com" || host == "hooks.slack-gov.com") && strings.HasPrefix(u.Path, "/services/"):
		return channelSlack
	}
	return ""
}

// chat sends a delivery to a chat. Chats have no id for repeats: after a crash between the send and
// its note a message may be there twice.
func (s *Service) chat(ctx context.Context, d due) error {
	body, err := json.Marshal(chatBody(d.to.channel, d.notice))
	if err != nil {
		return fmt.Errorf("writing a notice: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.to.address, bytes.NewReader(body))
	if err != nil {
		return &deadError{why: "the address is damaged"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "iikanji-portal")
	return answered(s.client.Do(r))
}

// chatBody is a notice as a chat takes it. Its text is that of teams and benchmarkers: it formats
// nothing and calls nobody.
func chatBody(channel string, n Notice) map[string]any {
	text := n.Title
	if n.Text != "" {
		text += "\n" + n.Text
	}
	if channel == channelSlack {
		text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
		return map[string]any{"text": text + "\n" + n.URL, "mrkdwn": false, "unfurl_links": false, "unfurl_media": false}
	}
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\*_~`|>#[]()<@-", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return map[string]any{"content": plain.Cut(b.String(), longestChat-len(n.URL)-1) + "\n" + n.URL, "allowed_mentions": map[string]any{"parse": []string{}}, "flags": 1 << 2} // no previews of links
}
