package change

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// unified returns the unified diff of two texts, in the format of diff -u. had
// and has say whether the file exists before and after.
//
// The lines are compared by go-internal/diff, in O(n log n) for any text. Its
// edit script is not always the shortest one, but it is one that patch applies.
func unified(path, old, new string, had, has bool) string {
	from, to := "a"+path, "b"+path
	if !had {
		from = "/dev/null"
	}
	if !has {
		to = "/dev/null"
	}
	if binary(old) || binary(new) {
		return fmt.Sprintf("Binary files %s (%d bytes) and %s (%d bytes) differ\n", from, len(old), to, len(new))
	}
	// An empty file that is created or removed has a header and no hunk.
	header := fmt.Sprintf("--- %s\n+++ %s\n", from, to)
	text := diff.Diff("a", []byte(old), "b", []byte(new)) // begins with three lines of header
	if i := bytes.Index(text, []byte("\n@@ ")); i >= 0 {
		return header + string(text[i+1:])
	}
	return header
}

// binary reports whether a text is unfit for a terminal or a line editor.
func binary(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }
