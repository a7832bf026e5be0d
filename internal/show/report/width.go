package report

import (
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/mattn/go-runewidth"

	"github.com/iikanji/iikanji/internal/show/plain"
)

// cells measures text as terminals draw it: characters of ambiguous width take
// one column. It is a value of its own, because runewidth's functions depend on
// environment variables.
var cells = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is the number of terminal columns of cleaned text. Wide characters and
// emoji take two, combining marks none.
func Width(s string) int { return cells.StringWidth(s) }

// Clean makes text safe for one line of a terminal: see plain.Line.
func Clean(s string) string { return plain.Line(s) }

// Shorten replaces the middle of a text that is wider than cols columns by "…".
// It cuts between grapheme clusters only: a base character keeps its marks. Of
// three clusters that remain, two are from the beginning.
func Shorten(s string, cols int) string {
	if Width(s) <= cols {
		return s
	}
	if cols <= 1 {
		return "…"
	}
	clusters := clustersOf(s)
	head, tail := 0, len(clusters)
	used := Width("…")
	for turn := 0; head < tail; turn++ {
		fromTail := turn%3 == 2
		next := clusters[head]
		if fromTail {
			next = clusters[tail-1]
		}
		if used += Width(next); used > cols {
			break
		}
		if fromTail {
			tail--
		} else {
			head++
		}
	}
	return strings.Join(clusters[:head], "") + "…" + strings.Join(clusters[tail:], "")
}

// clustersOf splits text into its grapheme clusters.
func clustersOf(s string) []string {
	var clusters []string
	for it := graphemes.FromString(s); it.Next(); {
		clusters = append(clusters, it.Value())
	}
	return clusters
}

// Wrap breaks text into lines of at most cols columns. The first line begins with
// first, the others with rest. Lines break between words, and within a word only where
// it has wide characters, as Japanese has no spaces: paths and addresses stay whole.
func Wrap(first, rest, text string, cols int) (lines []string) {
	line, empty := first, true
	for word := range strings.FieldsSeq(Clean(text)) {
		for word != "" {
			space := " "
			if empty {
				space = ""
			}
			switch part, left := fitting(word, cols-Width(line)-len(space)); {
			case left == "" || empty && part == "": // the last case cannot be broken
				line, empty, word = line+space+word, false, ""
			case part != "" && (empty || Width(part) > cols/3): // no stumps of words
				lines = append(lines, line+space+part)
				line, empty, word = rest, true, left
			default:
				lines = append(lines, line)
				line, empty = rest, true
			}
		}
	}
	return append(lines, line)
}

// fitting cuts a word at most cols columns from its beginning, beside a wide character.
// part is empty if there is no such place.
func fitting(word string, cols int) (part, left string) {
	if Width(word) <= cols {
		return word, ""
	}
	at, best, used, before := 0, 0, 0, 0
	for _, cluster := range clustersOf(word) {
		w := Width(cluster)
		if used > cols {
			break
		}
		if before == 2 || at > 0 && w == 2 {
			best = at
		}
		at, used, before = at+len(cluster), used+w, w
	}
	return word[:best], word[best:]
}
