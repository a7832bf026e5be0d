// Package plain makes text from outside safe for a terminal or a page: logs,
// configurations, answers, names and errors of servers. It is the one cleaner;
// other packages do not decide for themselves which characters are harmful.
//
// It does not escape HTML or Markdown: the writers of those formats do.
package plain

import (
	"strings"
	"unicode"
)

// Mark replaces a character that has an effect or that hides.
const Mark = '·'

// joiner joins emoji (U+200D ZERO WIDTH JOINER).
const joiner = '\u200d'

// Hides reports whether a character is invisible or changes what others look
// like: control characters, those that override the direction of writing,
// zero-width characters and blank letters. White space of lines does not count.
func Hides(r rune) bool {
	switch r {
	case '\n', '\t', '\r', '\f':
		return false
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800': // letters and a pattern without ink
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r)
}

// Line makes text safe for one line. Line breaks and tabs become a space;
// characters that hide become Mark; invalid UTF-8 becomes U+FFFD. A joiner
// between emoji stays.
func Line(s string) string {
	before := rune(0)
	return strings.Map(func(r rune) rune {
		was := before
		before = r
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\f' || r == '\u2028' || r == '\u2029':
			return ' '
		case r == joiner && (was >= 0x1f000 || was >= 0x2190 && was < 0x2c00 || was == 0xfe0f):
			return r
		case Hides(r):
			return Mark
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Text makes each line of a text safe; line feeds stay.
func Text(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Line(strings.TrimSuffix(l, "\r"))
	}
	return strings.Join(lines, "\n")
}

// Cut shortens a text to n characters. The last one is "…" where some were left out.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// CutBytes keeps the first n bytes of a text, for what is bounded by its size, and adds
// "…" where some were left out. No character is cut in two.
func CutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
