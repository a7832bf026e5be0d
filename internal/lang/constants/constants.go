// Package constants finds numbers in the source of an app, in any language, whose names say
// that they limit something: capacity, limit, max. It is pure, and reads line by line.
package constants

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Constant is a number with a name.
type Constant struct {
	Line        int
	Name, Value string
	Text        string // the line
}

var (
	// assigned matches NAME = NUMBER in the forms of the usual languages: with := and =>, with
	// a type between, with a colon as in a hash, and with define of PHP.
	assigned = regexp.MustCompile(`(?i)(?:\b|[$@_])([a-z_][a-z0-9_]*)["']?\s*(?:[:,]?\s*(?:u?int(?:8|16|32|64)?|[iu](?:8|16|32|64|size)|number|long|float64|double)\b)?\s*(?::=|=>|=|:|,)\s*(\d[\d_]*(?:\.\d+)?)\b`)
	limiting = regexp.MustCompile(`(?i)(?:^|_)(?:capacity|limit|max|maximum)(?:_|$|[a-z0-9])|(?:[a-z0-9]|_)(?:capacity|limit|max(?:imum)?)(?:_|$|s$)`)
	camel    = regexp.MustCompile(`(?:^|[a-z0-9])(?:Capacity|Limit|Max)(?:[A-Z0-9]|$)|^(?:capacity|limit|max)(?:[A-Z0-9_]|$)`)
	// comment matches the begin of a line that is a comment.
	comment = regexp.MustCompile(`^\s*(?://|#|\*|/\*|--|;)`)
	// bounded are names of lengths of texts and of limits of the language.
	bounded = regexp.MustCompile(`(?i)length|len$|int(?:8|16|32|64)|max_?int|maxuint|content|body_?size|upload|file_?size|max_?age$`)
)

// maxText is how much of a line is kept, in bytes.
const maxText = 120

// Find lists the constants of a file.
func Find(text string) (out []Constant) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if len(line) > 400 || comment.MatchString(line) { // a long line is generated
			continue
		}
		for _, m := range assigned.FindAllStringSubmatch(line, -1) {
			name := m[1]
			if !camel.MatchString(name) && !(strings.ToUpper(name) == name || strings.Contains(name, "_")) || !limiting.MatchString(name) && !camel.MatchString(name) || bounded.MatchString(name) {
				continue
			}
			out = append(out, Constant{n, name, strings.ReplaceAll(m[2], "_", ""), strings.ToValidUTF8(cut(strings.TrimSpace(line)), "")})
			break
		}
	}
	return out
}

func cut(s string) string { return s[:min(len(s), maxText)] }

// sources are the endings of files with source.
var sources = []string{".go", ".rb", ".py", ".js", ".mjs", ".ts", ".php", ".pl", ".pm", ".psgi", ".rs", ".java", ".kt", ".scala", ".ex", ".cs"}

// foreign are folders with the source of others.
var foreign = []string{"vendor", "node_modules", "target", "dist", "build", "third_party", "venv", "testdata", "test", "tests", "spec", "local"}

// IsSource reports whether a file, by its path with slashes, may have constants of the app.
func IsSource(name string) bool {
	if !slices.Contains(sources, path.Ext(name)) || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".min.js") || strings.HasSuffix(name, "_pb2.py") {
		return false
	}
	return !slices.ContainsFunc(strings.Split(path.Dir(name), "/"), IsForeign)
}

// IsForeign reports whether a folder has the source of others, by its name.
func IsForeign(folder string) bool {
	return slices.Contains(foreign, folder) || len(folder) > 1 && strings.HasPrefix(folder, ".")
}
