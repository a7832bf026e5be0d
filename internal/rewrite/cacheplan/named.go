package cacheplan

import "strings"

// Positional replaces the named placeholders of sqlx (:name) by question marks,
// as sqlx does before it sends a statement.
func Positional(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\'' || c == '"' || c == '`':
			end := i + 1
			for end < len(text) && text[end] != c {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			b.WriteString(text[i:end])
			i = end
		case c == ':' && i+1 < len(text) && text[i+1] == ':': // sqlx: an escaped colon
			b.WriteByte(':')
			i += 2
		case c == ':' && i+1 < len(text) && isName(text[i+1]):
			i++
			for i < len(text) && (isName(text[i]) || text[i] == '.') {
				i++
			}
			b.WriteByte('?')
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
