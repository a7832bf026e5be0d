package answers

import (
	"fmt"
	"strings"
	"unicode"
)

// Bytes of a body that an excerpt shows: before the first difference, and in all.
const (
	excerptAhead = 80
	excerptAll   = 300
)

// Excerpts shows two answers around the first byte in which their bodies differ.
func Excerpts(a, b *Answer) (string, string) {
	at := 0
	for at < len(a.Body) && at < len(b.Body) && a.Body[at] == b.Body[at] {
		at++
	}
	return a.excerpt(at), b.excerpt(at)
}

// excerpt is one line without characters that a terminal interprets.
func (a *Answer) excerpt(at int) string {
	if a.Err != nil {
		return "no answer: " + clean(a.Err.Error())
	}
	from := max(0, min(at, len(a.Body))-excerptAhead)
	to := min(len(a.Body), from+excerptAll)
	text := clean(string(a.Body[from:to]))
	if from > 0 {
		text = "…" + text
	}
	if int64(to) < a.Size {
		text += "…"
	}
	return fmt.Sprintf("%d, %d bytes: %s", a.Status, a.Size, text)
}

func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
