package facts

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// againBody is how much of a body is searched for the time after which its client asks again.
const againBody = 64 << 10

// againMember matches a member of a JSON object that tells the client when to ask again: its
// name, with or without a unit, and its number.
var againMember = regexp.MustCompile(`(?i)"(?:retry_?(?:after|in)|next_?poll(?:_?(?:after|in))?|(?:poll(?:ing)?|refresh)_?(?:after|in|interval|delay|every))(?:_?(ms|msec|millis|milliseconds|sec|seconds)|_(s))?"\s*:\s*"?(\d+(?:\.\d+)?)"?\s*[,}]`)

// againMeta matches the element of HTML that loads a page again.
var againMeta = regexp.MustCompile(`(?i)<meta\s[^>]*http-equiv\s*=\s*["']?refresh["']?[^>]*content\s*=\s*["']?\s*(\d+(?:\.\d+)?)`)

// plainSeconds is the largest number without a unit that is taken for seconds: larger ones are
// milliseconds, as nobody waits for minutes.
const plainSeconds = 60

// againAfter is the time after which a successful answer tells its client to ask again; 0 if
// it does not.
func againAfter(header http.Header, status int, body []byte) time.Duration {
	if status < 200 || status > 299 {
		return 0
	}
	for _, name := range []string{"Refresh", "Retry-After"} {
		text, _, _ := strings.Cut(header.Get(name), ";")
		if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && n > 0 {
			return timeOf(n, "s")
		}
	}
	body = body[:min(len(body), againBody)]
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		if m := againMember.FindSubmatch(body); m != nil {
			n, _ := strconv.ParseFloat(string(m[3]), 64)
			return timeOf(n, strings.ToLower(string(m[1])+string(m[2])))
		}
		return 0
	}
	if m := againMeta.FindSubmatch(body); m != nil {
		n, _ := strconv.ParseFloat(string(m[1]), 64)
		return timeOf(n, "s")
	}
	return 0
}

// timeOf is a number of seconds or milliseconds, by its unit or its size.
func timeOf(n float64, unit string) time.Duration {
	if n > 1e9 { // an absolute time, or nonsense
		return 0
	}
	if strings.HasPrefix(unit, "m") || unit == "" && n > plainSeconds {
		return time.Duration(n * float64(time.Millisecond))
	}
	return time.Duration(n * float64(time.Second))
}

// unpacked is the beginning of a body without its compression; nil for an encoding that is not
// known.
func unpacked(body []byte, encoding string) []byte {
	switch encoding {
	case "":
		return body
	case "gzip":
		if r, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			text, _ := io.ReadAll(io.LimitReader(r, againBody)) // as far as it can be read
			return text
		}
	}
	return nil
}
