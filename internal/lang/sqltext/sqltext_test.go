package sqltext

import (
	"slices"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		dialect   Dialect
		sql, want string
	}{
		{Unknown, "SELECT `a``b`, 'it''s', \"x\\\"y\" FROM t WHERE a>=? AND b = :name::text -- end", "SELECT|`a``b`|,|'it''s'|,|\"x\\\"y\"|FROM|t|WHERE|a|>=|?|AND|b|=|:name|::|text|-- end"},
		{Unknown, "a /* ( */ (b # (\n, 1.5e3)", "a|/* ( */|(|b|# (|,|1.5e3|)"},
		{Unknown, "x = $1 AND y = @v", "x|=|$1|AND|y|=|@v"},
		{MySQL, "/*!40101 SET */ a--1 -- x", "/*!40101|SET|*/|a|-|-|1|-- x"},
		{MySQL, "`a`.2021 2021_log .5 1e-5 _utf8mb4'x' @@g.v @v \"'\"", "`a`|.|2021|2021_log|.5|1e-5|_utf8mb4'x'|@@g.v|@v|\"'\""},
		{SQLite, "[a b] ?1 :n @n $n '\\' \"b\"", "[a b]|?1|:n|@n|$n|'\\'|\"b\""},
		{PostgreSQL, "$1 $t$'$t$ E'\\'' '\\' a #> b ? c /* /* */ */ U&\"d\"", "$1|$t$'$t$|E'\\''|'\\'|a|#|>|b|?|c|/* /* */ */|U&\"d\""},
	} {
		tokens, ok := c.dialect.Tokens(c.sql)
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

// dialects are all dialects.
var dialects = []Dialect{Unknown, MySQL, SQLite, PostgreSQL}

// FuzzTokens checks that the tokens of a text, joined, are the text, in every dialect, and
// that those without the spaces are the same ones.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"SELECT * FROM `t` WHERE a = ? -- x", "INSERT INTO t VALUES ('a''b', :n, $1)", "/* ( */ #\n(\"\\\"\")", "é'ü'", "a\x00b",
		"/*!40101 SET a=1 */ $$x$$ E'\\''", "[a] 1e-5.5 0x1 @@v .5 t.5", "/*!", "/*M!1", "$a$", "U&\"a\" U&'", "DELIMITER //\nEND//", "*/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, d := range dialects {
			l := Lexer{Dialect: d, SQL: sql}
			var joined strings.Builder
			var read []Token
			open := false
			for l.At < len(sql) {
				token := l.Next()
				joined.WriteString(token.Text)
				open = open || token.Open || l.depth < 0
				if token.Kind != Space && !open {
					read = append(read, token)
				}
				_ = token.Name()
			}
			if joined.String() != sql {
				t.Fatalf("dialect %d: the tokens of %q are %q", d, sql, &joined)
			}
			tokens, ok := d.Tokens(sql)
			if !slices.Equal(tokens, read) || ok && open {
				t.Fatalf("dialect %d: %q: %v %v, token by token %v", d, sql, tokens, ok, read)
			}
			if e := AddLimit(tokens, "1"); e.Start > len(sql) {
				t.Fatalf("an edit at %d of %q", e.Start, sql)
			}
		}
	})
}

// FuzzStatements checks that the statements of a file are in order and that each has the
// text of its tokens.
func FuzzStatements(f *testing.F) {
	for _, s := range []string{"USE a\nSELECT 1;DELIMITER $$\nBEGIN a; END$$\nDELIMITER ;\n\\. x\n.mode a\nb", "CREATE TRIGGER a BEGIN b; END; c", "source x", ";;'", "delimiter\n;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, d := range dialects {
			at := 0
			for _, s := range d.Statements(sql) {
				if len(s.Tokens) == 0 || s.Start < at || s.End < s.Start || s.Next < s.End || s.Next > len(sql) || !strings.HasSuffix(sql[:s.Next], s.Delimiter) {
					t.Fatalf("dialect %d: %+v of %q", d, s, sql)
				}
				for _, token := range s.Tokens {
					if token.Start < s.Start || token.End > s.End || sql[token.Start:token.End] != token.Text {
						t.Fatalf("dialect %d: token %+v in %+v of %q", d, token, s, sql)
					}
				}
				at = s.Next
			}
		}
	})
}

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		dialect   Dialect
		sql, want string
	}{
		{MySQL, "-- a\nUSE db\nSELECT ';' /* ; */;\nDELIMITER //\nBEGIN a; b; END//\ndelimiter ;\nc", "USE db|SELECT ';'|BEGIN a; b; END|c"},
		{MySQL, "source x.sql\n\\. y\na; -- b\n", "a"},
		{SQLite, ".mode x\nCREATE TRIGGER a AFTER INSERT ON b BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; SELECT 1; END; SELECT '\\'; c", "CREATE TRIGGER a AFTER INSERT ON b BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; SELECT 1; END|SELECT '\\'|c"},
		{PostgreSQL, "\\connect a\nSELECT $$;$$; b", "SELECT $$;$$|b"},
		{Unknown, "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW SET @a = 1; b; (", "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW SET @a = 1|b|("},
	} {
		var got []string
		for _, s := range c.dialect.Statements(c.sql) {
			got = append(got, c.sql[s.Start:s.End])
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.sql, s, c.want)
		}
	}
}

func TestPositional(t *testing.T) {
	for in, want := range map[string]string{
		"INSERT INTO t (a, b) VALUES (:a, :b.c)":           "INSERT INTO t (a, b) VALUES (?, ?)",
		"SELECT ':a', \"it\\\":b\", `:c` WHERE x=:x_1":     "SELECT ':a', \"it\\\":b\", `:c` WHERE x=?",
		"SELECT a::text, :日本 FROM t WHERE at > '10:00:00'": "SELECT a:text, :日本 FROM t WHERE at > '10:00:00'",
		"SELECT 'open :a": "SELECT 'open :a",
	} {
		if got := Positional(in); got != want {
			t.Errorf("Positional(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPositional(f *testing.F) {
	for _, s := range []string{":a", "'\\':a'", "a::b", ":", "`:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if out := Positional(s); !strings.ContainsAny(s, ":") && out != s {
			t.Errorf("%q became %q", s, out)
		}
	})
}
