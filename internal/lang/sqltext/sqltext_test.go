package sqltext

import (
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT `a``b`, 'it''s', \"x\\\"y\" FROM t WHERE a>=? AND b = :name::text -- end", "SELECT|`a``b`|,|'it''s'|,|\"x\\\"y\"|FROM|t|WHERE|a|>=|?|AND|b|=|:name|::|text|-- end"},
		{"a /* ( */ (b # (\n, 1.5e3)", "a|/* ( */|(|b|# (|,|1.5e3|)"},
		{"x = $1 AND y = @v", "x|=|$1|AND|y|=|@v"},
	} {
		tokens, ok := Unknown.Tokens(c.sql)
		var got []string
		for _, token := range tokens {
			got = append(got, token.Text)
		}
		if s := strings.Join(got, "|"); s != c.want || !ok {
			t.Errorf("%q\ngot  %s %v\nwant %s", c.sql, s, ok, c.want)
		}
	}
	for _, sql := range []string{"'open", "`open", "/* open", "(", ")("} {
		if _, ok := Unknown.Tokens(sql); ok {
			t.Errorf("%q was accepted", sql)
		}
	}
}

func TestAddLimit(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1":                             "SELECT 1 LIMIT 2",
		"select a from t for update":           "select a from t limit 2 for update",
		"SELECT a FROM t LOCK IN SHARE MODE ;": "SELECT a FROM t LIMIT 2 LOCK IN SHARE MODE ;",
		"SELECT a FROM t -- all\n":             "SELECT a FROM t LIMIT 2 -- all\n",
		"SELECT a\nFROM t;\n":                  "SELECT a\nFROM t LIMIT 2;\n",
		"SELECT (SELECT 1 FOR UPDATE) FROM t":  "SELECT (SELECT 1 FOR UPDATE) FROM t LIMIT 2",
	} {
		tokens, ok := Unknown.Tokens(sql)
		if got := Apply(sql, []Edit{AddLimit(tokens, "2")}); got != want || !ok {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
}

// FuzzTokens checks that tokens are in order, do not overlap, and cover all text
// but spaces.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"SELECT * FROM `t` WHERE a = ? -- x", "INSERT INTO t VALUES ('a''b', :n, $1)", "/* ( */ #\n(\"\\\"\")", "é'ü'", "a\x00b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		tokens, ok := Unknown.Tokens(sql)
		at := 0
		for _, token := range tokens {
			if token.Start < at || token.End <= token.Start || token.End > len(sql) || token.Text != sql[token.Start:token.End] {
				t.Fatalf("token %+v after %d in %q", token, at, sql)
			}
			if gap := sql[at:token.Start]; strings.Trim(gap, " \t\r\n\f\v") != "" {
				t.Fatalf("%q is in no token of %q", gap, sql)
			}
			at = token.End
		}
		if ok && strings.Trim(sql[at:], " \t\r\n\f\v") != "" {
			t.Fatalf("%q is in no token of %q", sql[at:], sql)
		}
		if e := AddLimit(tokens, "1"); e.Start > len(sql) {
			t.Fatalf("an edit at %d of %q", e.Start, sql)
		}
	})
}
