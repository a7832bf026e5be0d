package slowlog

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// TestAgreesWithSQLText holds the lexer of fingerprints against package sqltext: a statement
// whose literals and comments that package replaces keeps its fingerprint.
func TestAgreesWithSQLText(t *testing.T) {
	body, err := os.ReadFile("../../lang/sqltext/testdata/statements.txt")
	if err != nil {
		t.Fatal(err)
	}
	dialects := map[string]struct {
		here  Dialect
		there sqltext.Dialect
	}{"mysql": {MySQL, sqltext.MySQL}, "sqlite": {SQLite, sqltext.SQLite}, "postgres": {PostgreSQL, sqltext.PostgreSQL}}
	n := 0
	for line := range strings.Lines(string(body)) {
		name, quoted, ok := strings.Cut(strings.TrimSpace(line), " ")
		d, known := dialects[name]
		if !ok || !known {
			continue
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		n++
		var plain strings.Builder
		for l := (sqltext.Lexer{Dialect: d.there, SQL: text}); l.At < len(text); {
			switch tok := l.Next(); {
			case tok.Kind == sqltext.String, tok.Kind == sqltext.Number:
				plain.WriteByte('?')
			case tok.Kind == sqltext.Comment && !strings.HasPrefix(tok.Text, "/*+"):
				plain.WriteByte(' ')
			default:
				plain.WriteString(tok.Text)
			}
		}
		f := Fingerprinter{Dialect: d.here}
		want := string(f.Fingerprint([]byte(plain.String())))
		if got := string(f.Fingerprint([]byte(text))); got != want {
			t.Errorf("%s: %q\ngot  %s\nwant %s", name, text, got, want)
		}
	}
	if n < 15 {
		t.Errorf("only %d statements were read", n)
	}
}
