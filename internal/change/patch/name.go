package patch

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName = 512 // bytes of a path
	maxPart = 255 // bytes of one of its parts
)

// badName says why a name in a diff is none of a file below the source
// folder; "" when it is one. It is about spelling: tree.go looks at the disk.
func badName(name string) string {
	switch {
	case name == "":
		return "there is no name"
	case len(name) > maxName:
		return "the name is too long"
	case strings.HasPrefix(name, `"`):
		return "quoted names are not understood"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "the name has characters that cannot be seen"
	case strings.Contains(name, `\`) || strings.TrimSpace(name) != name:
		return "the name has a backslash, or a space at an end"
	case path.IsAbs(name):
		return "the name is absolute"
	case path.Clean(name) != name:
		return "the name is not in its plain form"
	}
	for _, part := range strings.Split(name, "/") {
		if len(part) > maxPart {
			return "the name is too long"
		}
		if strings.HasPrefix(part, ".") { // "..", ".git", and what the build does not see
			return "no part of a name may begin with a dot"
		}
	}
	return ""
}
