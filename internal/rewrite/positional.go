package rewrite

import (
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Positional is a statement with a question mark in place of each name, as sqlx sends it.
func Positional(sql string) string {
	tokens, _ := sqltext.Unknown.Tokens(sql)
	var b strings.Builder
	from := 0
	for _, t := range tokens {
		if t.Kind == sqltext.Placeholder && t.Text[0] == ':' {
			b.WriteString(sql[from:t.Start] + "?")
			from = t.End
		}
	}
	return b.String() + sql[from:]
}
