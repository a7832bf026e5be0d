package cacheplan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqlschema"
)

// A text key tells printable ASCII apart without regard to case and to spaces at the end
// (sqlcache.Text). That is right for a collation which takes no two other texts of
// printable ASCII for equal. Those of languages may: i and y are equal in Lithuanian, i and j
// and u and v in Roman, a doubled digraph and its short form in Hungarian.

// asciiApart are the collations that were seen to do so, by comparing all texts of one to
// three such characters (TestCollations), besides those of asciiFamilies.
var asciiApart = []string{"binary", "latin1_swedish_ci", "latin1_general_cs"}

// asciiFamilies are collations that no language changes.
var asciiFamilies = regexp.MustCompile(`^(utf8|utf8mb3|utf8mb4|ucs2|utf16|utf16le|utf32|latin1|latin2|ascii)(_nopad)?_bin$|^(utf8|utf8mb3|utf8mb4|ucs2|utf16|utf16le|utf32|latin1|ascii)_(general|unicode|unicode_520)(_nopad)?_ci$|` +
	`^utf8mb4_0900_(ai_ci|as_ci|as_cs|bin)$|^((utf8|utf8mb3|utf8mb4|ucs2|utf16|utf32)_)?uca1400(_nopad)?_(ai|as)_(ci|cs)$`)

// asciiCharsets are those whose default collation is one of these, whatever the server.
var asciiCharsets = []string{"utf8", "utf8mb3", "utf8mb4", "latin1", "ascii", "binary", "ucs2", "utf16", "utf32"}

// tellsASCIIApart reports whether a column's texts compare as a text key does. Without a
// collation and a character set it has those of the server.
func tellsASCIIApart(c sqlschema.Column) bool {
	switch {
	case strings.HasSuffix(c.Base(), "binary"):
		return true
	case c.Collation != "":
		return slices.Contains(asciiApart, c.Collation) || asciiFamilies.MatchString(c.Collation)
	}
	return c.Charset == "" || slices.Contains(asciiCharsets, c.Charset)
}
