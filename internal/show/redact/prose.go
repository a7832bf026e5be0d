package redact

import (
	"regexp"
	"strings"
)

// sqlStart matches the beginning of a statement inside a text.
var sqlStart = regexp.MustCompile(`(?i)\b(?:select\b.*\bfrom|insert\s+(?:ignore\s+)?into|replace\s+into|update\s+\S+\s+set|delete\s+from|create\s+user|set\s+password|grant)\b`)

// Prose removes secrets from a text for people, and the string literals from the
// first statement that it quotes on.
func Prose(text string) string {
	if at := sqlStart.FindStringIndex(text); at != nil {
		text = text[:at[0]] + sqlLiterals(text[at[0]:])
	}
	return Text(text)
}

// dataLine matches a line of a diff that holds rows of a table: the beginning of
// a statement, or a further row of its values.
var dataLine = regexp.MustCompile(`(?i)^[ +-]?\s*(?:(?:insert|replace)\s+(?:ignore\s+)?into\b|update\s+\S+\s+set\b|create\s+user\b|set\s+password\b|\((?:'|\d))`)

// diff removes secrets from a diff, and the literals of lines that hold data. The
// literals of a program stay: a diff without them has no meaning.
func diff(text string) string {
	var b strings.Builder
	for line := range strings.Lines(Text(text)) {
		if dataLine.MatchString(line) {
			body := strings.TrimSuffix(line, "\n")
			line = sqlLiterals(body) + line[len(body):]
		}
		b.WriteString(line)
	}
	return b.String()
}

// isDiff reports whether a text is a unified diff.
func isDiff(text string) bool {
	return strings.HasPrefix(text, "@@ ") || strings.HasPrefix(text, "--- ") || strings.Contains(text, "\n@@ ")
}
