package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b]0;x\x07b": "a·]0;x·b", "\u009b31m": "·31m", "a\tb\r\nc": "a b  c",
		"pass\u200bword": "pass·word", "a\u200cb\u200db\ufeff\u2060\u00ad": "a·b·b···", "\u202eevil": "·evil",
		"\u3164": "·", "\u2800": "·", "\U000e0041": "·", "\xff": "\ufffd",
		"👨\u200d👩\u200d👧": "👨\u200d👩\u200d👧", "❤\ufe0f\u200d🔥": "❤\ufe0f\u200d🔥",
		"日本語 か\u3099 é ñ": "日本語 か\u3099 é ñ",
	} {
		if got := Line(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestText(t *testing.T) {
	if got, want := Text("+a\x1b[2J\r\n-b\tc\n"), "+a·[2J\n-b c\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzText: nothing that hides is left, and no line is lost.
func FuzzText(f *testing.F) {
	f.Add("a\x1b[31m\n\u200b")
	f.Add("\xff\u202e👨\u200d👩")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) || strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("%q became %q", s, got)
		}
		for _, r := range got {
			if r != '\n' && r != joiner && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%q keeps %U", got, r)
			}
		}
		if Text(got) != got {
			t.Errorf("cleaned again %q became %q", got, Text(got))
		}
	})
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s           string
		n           int
		chars, size string
	}{
		{"", 3, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "ab…", "abc…"},
		{"äöü", 3, "äöü", "ä…"},
		{"äöüß", 3, "äö…", "ä…"},
	} {
		if got := Cut(c.s, c.n); got != c.chars {
			t.Errorf("%q to %d characters: %q, want %q", c.s, c.n, got, c.chars)
		}
		if got := CutBytes(c.s, c.n); got != c.size {
			t.Errorf("%q to %d bytes: %q, want %q", c.s, c.n, got, c.size)
		}
	}
}
