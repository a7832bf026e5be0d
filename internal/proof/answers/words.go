package answers

import (
	"strings"
	"unicode/utf8"
)

// wordsOf splits a body into words (letters, digits and what joins them in tokens)
// and the text between them; nil for a body that was cut or is not text.
func wordsOf(a *Answer) []string {
	if a.Size > int64(len(a.Body)) || !utf8.Valid(a.Body) {
		return nil
	}
	text := string(a.Body)
	out := []string{}
	start, inWord := 0, false
	for i, r := range text {
		if w := isWord(r); w != inWord && i > start {
			out = append(out, text[start:i])
			start, inWord = i, w
		} else if i == start {
			inWord = w
		}
	}
	return append(out, text[start:])
}

func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("_-+=%", r) || r >= 0x80
}

// ahead is the text in front of a word, by which the same place is found in another
// answer of the route: up to three pieces.
func ahead(words []string, i int) string { return strings.Join(words[max(0, i-3):i], "") }
