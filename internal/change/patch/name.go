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

// badName returns why a name in a diff is not that of a file below the source
// folder; "" when it is. It checks the spelling only; tree.go checks the disk.
func badName(name string) string {
	switch {
	case name == "":
		return "the name is empty"
	case len(name) > maxName:
		return "the name is too long"
	case strings.HasPrefix(name, `"`):
		return "quoted names are not supported"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "the name has invisible characters"
	case strings.Contains(name, `\`) || strings.TrimSpace(name) != name:
		return "the name has a backslash, or a space at an end"
	case path.IsAbs(name):
		return "the name is absolute"
	case path.Clean(name) != name:
		return "the name has empty parts, \".\" or \"..\""
	}
	for _, part := range strings.Split(name, "/") {
		if len(part) > maxPart {
			return "the name is too long"
		}
		if strings.HasPrefix(part, ".") { // "..", ".git", and files that the build ignores
			return "no part of a name may begin with a dot"
		}
	}
	return ""
}
