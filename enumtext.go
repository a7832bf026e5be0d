package iikanji

import "fmt"

// wordOf returns the word of enum value v. A value without a word is formatted
// with its number, so that a file of a newer version can still be printed.
func wordOf[E ~uint8](words []string, v E) string {
	if int(v) < len(words) {
		return words[v]
	}
	return fmt.Sprintf("unknown(%d)", v)
}

// parseWord sets *v to the value whose word is text.
func parseWord[E ~uint8](words []string, text []byte, v *E, what string) error {
	for i, w := range words {
		if w == string(text) {
			*v = E(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q", what, text)
}
