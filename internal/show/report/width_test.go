package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWidth: the columns that terminals use. The figures of printable text are
// those of tmux 3.3a (the cursor's column behind the text), but for skin tones,
// which tmux 3.3a draws apart and later terminals do not.
func TestWidth(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"nothing":                        {"", 0},
		"ASCII":                          {"GET /", 5},
		"kanji":                          {"椅子", 4},
		"kanji beyond the BMP":           {"\U00020000", 2},
		"hiragana with a dakuten":        {"か\u3099", 2},
		"combining dakuten alone":        {"\u3099", 0},
		"combining handakuten":           {"は\u309a", 2},
		"composed kana":                  {"が", 2},
		"halfwidth kana":                 {"ｱ", 1},
		"halfwidth kana with a dakuten":  {"ｶ\uff9e", 2},
		"fullwidth Latin":                {"Ａ１", 4},
		"wave dash and fullwidth tilde":  {"〜～", 4},
		"Hangul":                         {"한", 2},
		"Hangul as jamo":                 {"\u1112\u1161\u11ab", 2},
		"combining accent":               {"e\u0301", 1},
		"Thai with sara am":              {"กำ", 2},
		"Devanagari":                     {"नि", 2},
		"emoji":                          {"😀", 2},
		"emoji of three, joined by ZWJ":  {"👨\u200d👩\u200d👧", 2},
		"emoji with a skin tone":         {"👍🏽", 2},
		"flag":                           {"🇯🇵", 2},
		"text heart with emoji selector": {"❤\ufe0f", 1},
		"keycap":                         {"1\ufe0f\u20e3", 1},
		"zero width space":               {"a\u200bb", 2},
		"zero width joiner alone":        {"\u200d", 0},
		"byte order mark":                {"\ufeff", 0},
		"ambiguous: Greek":               {"α", 1},
		"ambiguous: circled digit":       {"①", 1},
		"ambiguous: plus or minus":       {"±", 1},
		"ambiguous: ellipsis":            {"…", 1},
		"ambiguous: box":                 {"─", 1},
		"replacement character":          {"\ufffd", 1},
	} {
		if got := Width(c.text); got != c.want {
			t.Errorf("%s: %q has width %d, want %d", name, c.text, got, c.want)
		}
	}
}

// TestWidthOfCleaned: control bytes take the column of the character that Clean
// puts in their place.
func TestWidthOfCleaned(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31m": "a·[31m", "\x00": "·", "\x7f": "·", "\u0085": "·", "\u009b": "·",
		"\t": " ", "\r\n": "  ", "\u2028": " ", "\u2029": " ",
		"\u202e": "·", "\u2066": "·", "\u200f": "·", "\u061c": "·", "\xff": "\ufffd",
	} {
		got := Clean(text)
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if w := Width(got); w != utf8.RuneCountInString(want) {
			t.Errorf("%q has width %d", got, w)
		}
	}
}

// TestShorten: the middle goes, and no grapheme cluster is split.
func TestShorten(t *testing.T) {
	family := "👨\u200d👩\u200d👧"
	for _, c := range []struct {
		text string
		cols int
		want string
	}{
		{"abcdefghij", 10, "abcdefghij"},
		{"abcdefghij", 7, "abcd…ij"},
		{"abcdefghij", 1, "…"},
		{"abcdefghij", 0, "…"},
		{"日本語の道", 7, "日本…道"},
		{"日本語の道", 6, "日本…"},
		{"か\u3099き\u3099く\u3099け\u3099", 7, "か\u3099き\u3099…け\u3099"},
		{"か\u3099き\u3099く\u3099け\u3099", 3, "か\u3099…"},
		{"か\u3099き\u3099", 2, "…"},
		{strings.Repeat("e\u0301", 6), 4, "e\u0301e\u0301…e\u0301"},
		{family + family + family, 5, family + family + "…"},
		{family + family, 2, "…"},
		{"🇯🇵🇫🇷🇩🇪", 4, "🇯🇵…"},
		{"👍🏽👍🏽👍🏽", 3, "👍🏽…"},
	} {
		got := Shorten(c.text, c.cols)
		if got != c.want {
			t.Errorf("%q in %d columns became %q, want %q", c.text, c.cols, got, c.want)
		}
	}
}

// wholeClusters reports whether head and tail are clusters of text, from its
// beginning and its end.
func wholeClusters(text, head, tail string) bool {
	clusters := clustersOf(text)
	n, m := len(clustersOf(head)), len(clustersOf(tail))
	return n+m <= len(clusters) &&
		strings.Join(clusters[:n], "") == head && strings.Join(clusters[len(clusters)-m:], "") == tail
}

// FuzzClean: hostile text never reaches the terminal as control characters,
// and Shorten keeps to its width and splits no grapheme cluster.
func FuzzClean(f *testing.F) {
	f.Add("GET /\x1b]0;title\x07", 10)
	f.Add("いい感じ\u202eevil", 5)
	f.Add("\xff\xfe", 3)
	f.Add("か\u3099き\u3099く\u3099", 4)
	f.Add("👨\u200d👩\u200d👧👨\u200d👩\u200d👧", 3)
	f.Fuzz(func(t *testing.T, s string, cols int) {
		c := Clean(s)
		if !utf8.ValidString(c) {
			t.Errorf("%q is not valid UTF-8", c)
		}
		for _, r := range c {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e {
				t.Errorf("%q keeps control character %U", c, r)
			}
		}
		cols = min(max(cols, 1), 200)
		short := Shorten(c, cols)
		if w := Width(short); w > cols {
			t.Errorf("shortened to %d columns, want at most %d", w, cols)
		}
		head, tail, cut := strings.Cut(short, "…")
		if !strings.Contains(c, "…") && (!cut && short != c || cut && !wholeClusters(c, head, tail)) {
			t.Errorf("%q became %q: not cut between clusters", c, short)
		}
	})
}

// TestWrap: lines fit, Japanese is broken without spaces, and paths stay whole.
func TestWrap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one two three four five six", "- one two three four|  five six"},
		{"別の機械がこの機械のCPUを使った。", "- 別の機械がこの機械の|  CPUを使った。"},
		{"see /a/very/long/path/that/is/whole now", "- see|  /a/very/long/path/that/is/whole|  now"},
		{"", "- "},
	} {
		if got := strings.Join(Wrap("- ", "  ", c.text, 22), "|"); got != c.want {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
}
