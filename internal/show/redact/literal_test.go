package redact

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// marker stands for data of a user. No name of a secret is in it.
const marker = "Zq9vUser"

// marked is a statement whose strings, as a dialect reads them, have the marker for their
// text; ok is false if the dialect does not read the statement to its end.
func marked(d sqltext.Dialect, sql string) (_ string, ok bool) {
	if tokens, ok := d.Tokens(sql); !ok || strings.Contains(sql, marker) || len(tokens) == 0 {
		return "", false
	}
	var b strings.Builder
	for l := (sqltext.Lexer{Dialect: d, SQL: sql}); l.At < len(sql); {
		t := l.Next()
		from := strings.IndexAny(t.Text, `'"$`)
		if t.Kind != sqltext.String || t.Text[from] == '$' {
			b.WriteString(t.Text)
			continue
		}
		b.WriteString(t.Text[:from+1] + marker + t.Text[len(t.Text)-1:])
	}
	out := b.String()
	_, ok = d.Tokens(out)
	return out, ok
}

// FuzzLiterals: no string that the tokenizer knows in any dialect stays in a redacted
// statement.
func FuzzLiterals(f *testing.F) {
	for _, s := range []string{"SELECT 'a', \"b\" -- it's\n, 'c'", "INSERT INTO t VALUES ('it\\'s', 'x'), (E'\\'', $$y$$)", "SELECT '\\', 'bob', a #> '{b}' /* 'c' */", "SELECT x'00', _utf8mb4'x' /*+ 'h' */ /*!40101 'i' */",
		"/* /* */ 'a' */ 'b'", "[a'b] = 'c'", "SELECT `a'b`, 'c' # 'd'\n, 'e'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, d := range []sqltext.Dialect{sqltext.MySQL, sqltext.SQLite, sqltext.PostgreSQL} {
			if text, ok := marked(d, sql); ok {
				if out := literals(text); strings.Contains(out, marker) {
					t.Fatalf("dialect %d: %q becomes %q", d, text, out)
				}
				if out := string(Statement([]byte("password = 1 " + text))); strings.Contains(out, marker) {
					t.Fatalf("dialect %d: %q with a secret becomes %q", d, text, out)
				}
			}
		}
	})
}

// TestLiterals: the dialects disagree about these texts.
func TestLiterals(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a -- it's\n FROM t WHERE b = 'Bob'": "SELECT a -- it'?'\n FROM t WHERE b = '?'",
		`SELECT '\', 'Bob'`:                         `SELECT '?', '?'`,
		`SELECT 'it\'s', b`:                         `SELECT '?', b`,
		"SELECT $t$Bob$t$, $1":                      "SELECT '?', $1",
		"SELECT a #> '{Bob}'":                       "SELECT a #> '?'",
		"SELECT `a'b`, 'Bob'":                       "SELECT `a'b`, '?'",
		"SELECT x'00', E'a\\'Bob' -- ":              "SELECT x'?', E'?' -- ",
	} {
		if got := literals(sql); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}
