package notice

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/show/redact"
)

// A Notice is what is told.
type Notice struct {
	Kind  string // run, score, deploy, turn, test …
	Site  string
	Title string   // one line
	Lines []string // further lines
	At    time.Time
}

// MaxText is the longest text of a notice, in units of UTF-16, by which Discord counts.
const MaxText = 1900

// Text is the whole notice, without secrets and mentions.
func (n *Notice) Text() string {
	all := []string{line(fmt.Sprintf("%s: %s", n.Site, n.Title))}
	for _, l := range n.Lines {
		if l = line(l); l != "" {
			all = append(all, l)
		}
	}
	return cut(strings.Join(all, "\n"), MaxText)
}

// maxLine is the longest line, in characters.
const maxLine = 400

// line makes a text one printable line without secrets and mentions.
func line(text string) string {
	return unmention(plain.Cut(plain.Line(redact.Text(strings.TrimSpace(strings.ToValidUTF8(text, "?")))), maxLine))
}

// breaker is between a sign and a name, so that they mention nobody.
const breaker = "\u200b"

// unmention breaks what a chat takes for a mention: @everyone, <@id>, <!channel>, <#id>.
func unmention(text string) string {
	return strings.NewReplacer("@", "@"+breaker, "<!", "<"+breaker+"!", "<#", "<"+breaker+"#").Replace(text)
}

// cut shortens a text to n units of UTF-16.
func cut(text string, n int) string {
	units := 0
	for i, r := range text {
		w := utf16.RuneLen(r)
		if units+w > n-1 && len(utf16.Encode([]rune(text[i:]))) > n-units {
			return text[:i] + "…"
		}
		units += w
	}
	return text
}

// A form is how a receiver wants a notice.
type form string

const (
	discord form = "discord"
	slack   form = "slack"
	general form = "json"
)

// formOf tells the form by the address.
func formOf(u *url.URL) form {
	host := strings.ToLower(u.Hostname())
	of := func(name string) bool { return host == name || strings.HasSuffix(host, "."+name) }
	switch {
	case of("discord.com"), of("discordapp.com"), strings.HasPrefix(u.Path, "/api/webhooks/"):
		return discord
	case of("slack.com"), strings.HasPrefix(u.Path, "/services/"):
		return slack
	}
	return general
}

// body is the notice in a form.
func (n *Notice) body(f form) ([]byte, error) {
	text := n.Text()
	var doc any
	switch f {
	case discord:
		doc = map[string]any{"content": text, "allowed_mentions": map[string]any{"parse": []string{}}}
	case slack:
		doc = map[string]any{"text": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text), "link_names": false,
			"unfurl_links": false, "unfurl_media": false}
	default:
		lines := []string{}
		for _, l := range n.Lines {
			lines = append(lines, line(l))
		}
		doc = map[string]any{"version": 1, "kind": n.Kind, "site": line(n.Site), "title": line(n.Title), "lines": lines, "text": text, "at": n.At.UTC()}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encoding a notice: %w", err)
	}
	return b, nil
}
