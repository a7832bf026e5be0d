package rewrite

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Code for modules whose go line is below that of a part of the library or of the language
// that fixes use where they can: slices.Chunk since 1.23, any since 1.18.

// chunkHead opens a loop over the chunks of a list, which the caller closes: lines up to
// the brace, and lines that come first in the body. rest is a name for what is left.
func chunkHead(pass *analysis.Pass, at token.Pos, chunk, rest, list, size string) []string {
	if goAtLeast(pass, at, "go1.23") {
		return []string{fmt.Sprintf("for %s := range slices.Chunk(%s, %s) {", chunk, list, size)}
	}
	return []string{
		fmt.Sprintf("for %s := %s; len(%s) > 0; {", rest, list, rest),
		fmt.Sprintf("%s := %s", chunk, rest),
		fmt.Sprintf("if len(%s) > %s {", chunk, size),
		fmt.Sprintf("%s = %s[:%s]", chunk, chunk, size),
		"}",
		fmt.Sprintf("%s = %s[len(%s):]", rest, rest, chunk),
	}
}

// uniqueKeys is the code that sorts a list and leaves each key in it once.
func uniqueKeys(pass *analysis.Pass, at token.Pos, keys, key, i, rest string) []string {
	if goAtLeast(pass, at, "go1.23") {
		return []string{fmt.Sprintf("slices.Sort(%s)", keys), fmt.Sprintf("%s = slices.Compact(%s)", keys, keys)}
	}
	return []string{
		fmt.Sprintf("sort.Slice(%s, func(%s, %s int) bool { return %s[%s] < %s[%s] })", keys, i, key, keys, i, keys, key),
		fmt.Sprintf("%s := %s[:0]", rest, keys),
		fmt.Sprintf("for _, %s := range %s {", key, keys),
		fmt.Sprintf("if len(%s) == 0 || %s[len(%s)-1] != %s {", rest, rest, rest, key),
		fmt.Sprintf("%s = append(%s, %s)", rest, rest, key),
		"}",
		"}",
		fmt.Sprintf("%s = %s", keys, rest),
	}
}

// anyType is the empty interface as a file may write it.
func anyType(pass *analysis.Pass, at token.Pos) string {
	if goAtLeast(pass, at, "go1.18") {
		return "any"
	}
	return "interface{}"
}

// written are the names of the standard library that the code of fixes has, whatever the file imports.
var written = map[string]string{"strings.Builder": "strings", "strings.Repeat": "strings", "fmt.Fprintf(": "fmt", "sql.ErrNoRows": "database/sql",
	"slices.Sort(": "slices", "slices.Compact(": "slices", "slices.Chunk(": "slices", "sort.Slice(": "sort"}

// hidden reports whether a fix has a name of the standard library where that is a variable, a
// function or another package: sql := "SELECT …" is common.
func hidden(pass *analysis.Pass, f analysis.SuggestedFix) bool {
	for _, e := range f.TextEdits {
		for name, path := range written {
			if !bytes.Contains(e.NewText, []byte(name)) {
				continue
			}
			scope := pass.Pkg.Scope().Innermost(e.Pos)
			if scope == nil {
				continue
			}
			short, _, _ := strings.Cut(name, ".")
			_, obj := scope.LookupParent(short, e.Pos)
			if p, isPackage := obj.(*types.PkgName); obj != nil && (!isPackage || p.Imported().Path() != path) {
				return true
			}
		}
	}
	return false
}
