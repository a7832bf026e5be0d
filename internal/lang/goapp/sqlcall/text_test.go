package sqlcall

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// FuzzEdits checks that an edit of a statement, made in the source of its literal,
// gives the edited statement: at each byte, with escapes, and in formats.
func FuzzEdits(f *testing.F) {
	f.Add(`"SELECT \"a\"\t\u00e9\x41 FROM t"`, " LIMIT 1", false)
	f.Add("`SELECT *\n\tFROM t`", " WHERE a = \"%\"", false)
	f.Add(`"a %% b"`, "100%", true)
	f.Add("`x`", "`", false)
	f.Fuzz(func(t *testing.T, source, added string, format bool) {
		want, err := strconv.Unquote(source)
		if err != nil || source[0] == '\'' || strings.Contains(source, "\r") || !strings.Contains("\"`", source[:1]) {
			return
		}
		lit := &ast.BasicLit{ValuePos: 1, Kind: token.STRING, Value: source}
		var b strings.Builder
		text := &Text{arg: lit}
		literal(text, &b, lit, format)
		text.SQL = b.String()
		if text.SQL != want {
			t.Fatalf("%s is %q, read as %q", source, want, text.SQL)
		}
		for i := range len(want) + 1 {
			if i < len(want) && want[i]&0xc0 == 0x80 {
				continue // within a character
			}
			edits, ok := text.Edits(sqltext.Edit{Start: i, End: i, New: added})
			if !ok {
				if source[0] != '`' || !strings.Contains(added, "`") {
					t.Fatalf("no edit at %d of %s", i, source)
				}
				continue
			}
			at := int(edits[0].Pos) - 1
			got, err := strconv.Unquote(source[:at] + string(edits[0].NewText) + source[at:])
			if format {
				added := strings.ReplaceAll(added, "%", "%%")
				if err != nil || got != want[:i]+added+want[i:] {
					t.Fatalf("format %s at %d: %q, %v", source, i, got, err)
				}
				continue
			}
			if err != nil || strings.ToValidUTF8(got, "?") != strings.ToValidUTF8(want[:i]+added+want[i:], "?") {
				t.Fatalf("%s at %d: %q, %v", source, i, got, err)
			}
		}
	})
}
