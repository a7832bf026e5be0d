package errorlog

import (
	"strings"
	"unicode"
)

// maxMessage is how many bytes of a message identify it.
const maxMessage = 200

// fold appends a message to b, with numbers as N, identifiers as ID and quoted
// values as "…". The result may contain characters that printable removes.
func fold(b []byte, message string) []byte {
	from := len(b)
	for i := 0; i < len(message) && len(b)-from < maxMessage; {
		c := message[i]
		switch {
		case c == '"' || c == '\'' || c == '`':
			if j := strings.IndexByte(message[i+1:], c); j >= 0 && quoted(message, i) {
				b = append(b, c)
				b = append(b, "…"...)
				b = append(b, c)
				i += j + 2
				continue
			}
			b = append(b, c)
			i++
		case word(c):
			j := i
			for j < len(message) && word(message[j]) {
				j++
			}
			b = append(b, foldWord(message[i:j])...)
			i = j
		case c == ' ' || c == '\t':
			if len(b) > from && b[len(b)-1] != ' ' {
				b = append(b, ' ')
			}
			i++
		default:
			b = append(b, c)
			i++
		}
	}
	return b
}

// quoted reports whether the quotation mark at i opens a quoted value. A mark
// within a word is an apostrophe.
func quoted(message string, i int) bool { return i == 0 || !word(message[i-1]) }

func word(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '_' || c >= 0x80 }

// foldWord returns ID for a hexadecimal or mixed identifier, N for a number, and
// otherwise the word with the numbers in it as N.
func foldWord(w string) string {
	digits, hex := 0, true
	for i := range len(w) {
		c := w[i]
		if c >= '0' && c <= '9' {
			digits++
		} else if c|0x20 < 'a' || c|0x20 > 'f' {
			hex = false
		}
	}
	switch {
	case digits == 0:
		return w
	case digits == len(w):
		return "N"
	case len(w) >= 8 && (hex || digits >= 3):
		return "ID"
	case hex && len(w) >= 4 && digits >= 2: // a part of a UUID
		return "ID"
	}
	var b strings.Builder
	for i := 0; i < len(w); i++ {
		if w[i] < '0' || w[i] > '9' {
			b.WriteByte(w[i])
		} else if i == 0 || w[i-1] < '0' || w[i-1] > '9' {
			b.WriteByte('N')
		}
	}
	return b.String()
}

// maxRoute is the longest path of a route, in bytes.
const maxRoute = 120

// routeOf returns the route of a request such as "GET /a/7?x=1 HTTP/1.1": method
// and path, with segments that contain a digit folded. It returns "" if request
// is not one.
func routeOf(request string) string {
	method, rest, ok := strings.Cut(request, " ")
	if !ok || !methods[method] {
		return ""
	}
	path, _, _ := strings.Cut(rest, " ")
	path, _, _ = strings.Cut(path, "?")
	if !strings.HasPrefix(path, "/") || len(path) > maxRoute {
		return ""
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.ContainsAny(p, "0123456789") {
			parts[i] = ":id"
			if dot := strings.LastIndexByte(p, '.'); dot > 0 && !strings.ContainsAny(p[dot:], "0123456789") {
				parts[i] = ":file" + p[dot:]
			}
		}
	}
	return printable(method + " " + strings.Join(parts, "/"))
}

// printable replaces characters that are unsafe in a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "·"))
}
