package cacheplan

import (
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// trigger finds the definition of a trigger, also inside of the version comments
// of mysqldump.
var trigger = regexp.MustCompile("(?is)\\bTRIGGER\\s+\\S+\\s+(?:BEFORE|AFTER)\\s+(?:INSERT|UPDATE|DELETE)\\s+ON\\s+`?(?:\\w+`?\\.`?)?(\\w+)")

// Definitions splits an SQL file: the statements that define tables, and the
// tables with a trigger, in lower case.
func Definitions(text string) (tables, triggers []string) {
	for _, m := range trigger.FindAllStringSubmatch(text, -1) {
		triggers = append(triggers, strings.ToLower(m[1]))
	}
	tokens, _ := sqltext.Unknown.Tokens(text)
	var words []sqltext.Token
	flush := func(end int) {
		if len(words) > 1 && (words[0].Is("CREATE") && words[1].Is("TABLE") || words[0].Is("ALTER") && words[1].Is("TABLE")) {
			tables = append(tables, text[words[0].Start:end])
		}
		words = words[:0]
	}
	for i, t := range tokens {
		if t.Text == ";" {
			flush(t.Start)
			continue
		}
		if t.Kind == sqltext.Word && len(words) < 2 {
			words = append(words, t)
		}
		if i == len(tokens)-1 {
			flush(t.End)
		}
	}
	return tables, triggers
}
