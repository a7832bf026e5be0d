package web

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// A language is one of the page's languages.
type language string

const (
	english  language = "en"
	japanese language = "ja"
)

// languages are all, the default first.
var languages = []language{english, japanese}

// A dictionary has the texts of a language by their keys.
type dictionary map[string]string

// readWords reads lines of the form key = "text".
func readWords(text []byte) (dictionary, error) {
	d := dictionary{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		said, err := strconv.Unquote(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || err != nil || key == "" || d[key] != "" {
			return nil, fmt.Errorf("line %d of the words is not key = \"text\", or has a key once more: %.60q", n, line)
		}
		d[key] = said
	}
	return d, lines.Err()
}

// languageCookie keeps the choice of a reader.
const languageCookie = "lang"

// languageOf is what a reader wants: the choice in the address, that of the cookie, or the
// first of the browser's languages that the pages have.
func languageOf(c *api.Call) language {
	known := func(text string) (language, bool) {
		for _, l := range languages {
			if text == string(l) {
				return l, true
			}
		}
		return english, false
	}
	if l, ok := known(c.R.URL.Query().Get(languageCookie)); ok {
		http.SetCookie(c.W, &http.Cookie{Name: languageCookie, Value: string(l), Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.R.TLS != nil})
		return l
	}
	if cookie, err := c.R.Cookie(languageCookie); err == nil {
		if l, ok := known(cookie.Value); ok {
			return l
		}
	}
	for part := range strings.SplitSeq(c.R.Header.Get("Accept-Language"), ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		tag, _, _ = strings.Cut(strings.ToLower(tag), "-")
		if l, ok := known(tag); ok {
			return l
		}
	}
	return english
}
