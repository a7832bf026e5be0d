package host

import (
	"regexp"
	"strings"
)

// Quote returns text as one word of a POSIX shell, always in quotes.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// plainWord matches the words that mean themselves to every shell. "=" is plain in a flag
// only: at the begin of a command, "a=b" sets a variable.
var plainWord = regexp.MustCompile(`^(-[\w./:=,+@%-]*|[\w./:,+@%-]+)$`)

// QuoteAll joins words to a command line. Only words that need quotes get them.
func QuoteAll(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; !plainWord.MatchString(w) {
			quoted[i] = Quote(w)
		}
	}
	return strings.Join(quoted, " ")
}
