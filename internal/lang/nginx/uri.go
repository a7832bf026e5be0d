package nginx

import (
	"strconv"
	"strings"
)

// NormalPath is the path of a request as nginx compares it with locations: without
// the query and percent-encoding, with "." and ".." resolved and, unless merge is
// false (merge_slashes off), with repeated slashes merged. It is false if nginx
// refuses the request.
func NormalPath(uri string, merge bool) (string, bool) {
	path, _, _ := strings.Cut(uri, "?")
	path, ok := decoded(path)
	if !ok || !strings.HasPrefix(path, "/") {
		return "", false
	}
	segments := strings.Split(path[1:], "/")
	var out []string
	for i, s := range segments {
		last := i == len(segments)-1
		switch {
		case s == ".." && len(out) == 0:
			return "", false
		case s == "..":
			out = out[:len(out)-1]
		case s == ".", s == "" && merge && !last:
			if !last {
				continue
			}
		default:
			out = append(out, s)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/"), true
}

// decoded replaces "%41" by "A". It is false for a percent sign without two
// hexadecimal digits, and for a byte 0.
func decoded(text string) (string, bool) {
	if !strings.Contains(text, "%") {
		return text, !strings.Contains(text, "\x00")
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' {
			if i+3 > len(text) {
				return "", false
			}
			n, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
			if err != nil {
				return "", false
			}
			c, i = byte(n), i+2
		}
		if c == 0 {
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), true
}
