package observe

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	cookiesTail  = 256 << 10 // bytes at the end of an access log in which cookies are searched
	mostCookies  = 8
	cookiesField = "\tcookie:"
)

// escaped is a byte that nginx escapes in a log.
var escaped = regexp.MustCompile(`\\x[0-9A-Fa-f]{2}`)

// cookiesIn are different Cookie headers in the timed access log of an observation, the
// newest first. Other access logs have none.
func cookiesIn(log []byte) []string {
	var out []string
	rows := strings.Split(string(log), "\n")
	for _, line := range slices.Backward(rows) {
		_, field, ok := strings.Cut(line, cookiesField)
		value, _, _ := strings.Cut(field, "\t")
		if !ok || value == "" || value == "-" {
			continue
		}
		value = escaped.ReplaceAllStringFunc(value, func(s string) string {
			n, _ := strconv.ParseUint(s[2:], 16, 8) // two digits, by the expression
			return string([]byte{byte(n)})
		})
		if strings.ContainsAny(value, "\r\n\x00") || slices.Contains(out, value) {
			continue
		}
		if out = append(out, value); len(out) == mostCookies {
			break
		}
	}
	return out
}

// candidates are the headers of the run's clients by their cookies, where the load
// generator did not keep them.
func (o *Observer) candidates() [][][2]string {
	var out [][][2]string
	for _, w := range o.webs {
		if w.log == nil || !w.front || o.w.Passive {
			continue
		}
		tail, _ := w.log.Tail(int(min(cookiesTail, w.written())))
		for _, c := range cookiesIn(tail) {
			out = append(out, [][2]string{{"Cookie", c}})
		}
	}
	return out
}
