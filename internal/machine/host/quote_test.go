package host

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestQuoteAll compares the forms of words, and holds them against a real shell.
func TestQuoteAll(t *testing.T) {
	for word, want := range map[string]string{
		"": `''`, "a b": `'a b'`, "it's": `'it'\''s'`, "-m": "-m", "--a=b": "--a=b", "a=b": "'a=b'",
		"/usr/bin/x-1.2": "/usr/bin/x-1.2", "~": "'~'", "x\n": "'x\n'", "é": "'é'", "10%": "10%", "$(id)": "'$(id)'",
	} {
		if got := QuoteAll(word); got != want {
			t.Errorf("QuoteAll(%q) = %s, want %s", word, got, want)
		}
	}
	if got := QuoteAll("a b", "it's", "-m", "x"); got != `'a b' 'it'\''s' -m x` {
		t.Error(got)
	}
	words := []string{"", "a b", "it's", "''", "a=b", "-n", "$HOME", "`id`", "*", "~", "\\", "x\n", "!", "#", "日本", "\"", "{a,b}", "a;b"}
	for _, line := range []string{QuoteAll(words...), quoteEach(words)} {
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+line).Output()
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(words, "\x00") + "\x00"; string(out) != want {
			t.Errorf("sh reads %q, want %q", out, want)
		}
	}
}

func quoteEach(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(" " + Quote(w))
	}
	return b.String()
}

// FuzzQuote holds that a quoted word ends where its text ends: no text leaves the quotes.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "'", "a'b", `\'`, "$(x)", "a=b", "-x=y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, q := range []string{Quote(s), QuoteAll(s)} {
			if got := unquote(t, q); got != s {
				t.Errorf("%q is quoted as %s and read as %q", s, q, got)
			}
		}
	})
}

// unquote reads one word as sh does: quotes, backslashes, and characters without meaning.
func unquote(t *testing.T, q string) string {
	var b bytes.Buffer
	for in := false; q != ""; q = q[1:] {
		switch c := q[0]; {
		case c == '\'':
			in = !in
		case !in && c == '\\':
			q = q[1:]
			b.WriteByte(q[0])
		case !in && strings.IndexByte(" \t\n;&|<>()$`\"*?[]#~!{}", c) >= 0:
			t.Errorf("%q is outside of the quotes in %q", c, q)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
