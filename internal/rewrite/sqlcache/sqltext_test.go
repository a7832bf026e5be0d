package sqlcache

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// TestAgreesWithSQLText holds the lexer of the cache, which apps get a copy of, against
// package sqltext: both have the same quoted texts and placeholders, and a text with a
// comment is never in a plan.
func TestAgreesWithSQLText(t *testing.T) {
	body, err := os.ReadFile("../../lang/sqltext/testdata/statements.txt")
	if err != nil {
		t.Fatal(err)
	}
	dialects := map[string]struct {
		here  Dialect
		there sqltext.Dialect
	}{"mysql": {MySQL, sqltext.MySQL}, "sqlite": {SQLite, sqltext.SQLite}}
	n := 0
	for line := range strings.Lines(string(body)) {
		name, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		d, known := dialects[name]
		if !known {
			continue
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		n++
		var want []string
		comment := false
		for l := (sqltext.Lexer{Dialect: d.there, SQL: text}); l.At < len(text); {
			switch tok := l.Next(); tok.Kind {
			case sqltext.Comment, sqltext.Executed:
				comment = true
			case sqltext.String, sqltext.Quoted:
				want = append(want, tok.Text[strings.IndexAny(tok.Text, "'\"`"):])
			case sqltext.Placeholder:
				want = append(want, tok.Text)
			}
		}
		tokens, odd := tokenize(d.here, text)
		if comment && !odd || odd && !comment && !strings.Contains(text, "--") { // every -- is a comment here
			t.Errorf("%q: odd is %v", text, odd)
		}
		var got []string
		for _, tok := range tokens {
			if tok.group >= 0 || strings.ContainsAny(tok.text[:1], "'\"`") {
				got = append(got, tok.text)
			}
		}
		if !odd && !slices.Equal(got, want) {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
	if n < 12 {
		t.Errorf("only %d statements were read", n)
	}
}
