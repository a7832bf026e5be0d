package livesite

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/mirror"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// embedList is a template of go list with a line for each pattern of embedded files, and one for
// a package that cannot be read.
const embedList = `{{if not .Standard}}{{if .Error}}` + unreadable + `{{"\n"}}{{end}}{{range .EmbedPatterns}}{{$.Dir}}{{"\t"}}{{.}}{{"\n"}}{{end}}{{end}}`

const unreadable = "!"

// lacks is why a mirror of a Go program is not all of its source: the build needs something
// that is left out, or a package cannot be read in the mirror, as one behind a link. It is ""
// for a mirror that has all.
func (s *Subject) lacks(ctx context.Context, r *running, dir, arch string, left []mirror.LeftOut) (string, error) {
	if len(left) == 0 {
		return "", nil
	}
	for _, l := range left {
		if ext := path.Ext(l.Name); l.Link && (ext == ".go" || ext == ".s") {
			return l.Name + " is a link", nil
		}
	}
	out, err := s.goHere(ctx, r, dir, arch, "list", "-e", "-deps", "-f", embedList, cmp.Or(r.App.Package, "."))
	var failed *process.BuildError
	if errors.As(err, &failed) {
		out, err = unreadable, nil
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		pkg, pattern, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if !ok {
			return "the copy of its source on this machine has no links, large files and hidden ones", nil
		}
		for _, l := range left {
			name, err := filepath.Rel(pkg, filepath.Join(dir, l.Name))
			if err == nil && filepath.IsLocal(name) && embeds(pattern, name, l) {
				return l.Name + " is embedded in it", nil
			}
		}
	}
	return "", nil
}

// embeds reports whether a pattern of a package takes what a mirror leaves out, or something
// below it. name is relative to the folder of the package. Below a folder that the pattern
// names, hidden files are taken only with "all:", and links never.
func embeds(pattern, name string, l mirror.LeftOut) bool {
	pattern, all := strings.CutPrefix(pattern, "all:")
	var words []string
	if pattern = path.Clean(pattern); pattern != "." {
		words = strings.Split(pattern, "/")
	}
	names := strings.Split(name, "/")
	for i := range min(len(words), len(names)) {
		if ok, err := path.Match(words[i], names[i]); err != nil || !ok {
			return false
		}
	}
	if len(words) >= len(names) {
		return len(words) == len(names) || l.Dir || l.Link
	}
	below := names[len(words):]
	return !l.Link && (all || !slices.ContainsFunc(below, func(n string) bool { return n[0] == '.' || n[0] == '_' }))
}
