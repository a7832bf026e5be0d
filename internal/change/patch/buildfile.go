package patch

import (
	"path"
	"regexp"
	"slices"
)

// buildFiles control the build instead of being code. They are not patched: the
// build runs as iikanji's user, the service as another.
var buildFiles = []string{"go.work", "go.work.sum"}

// requireLine matches a line of go.mod that a patch may add or remove: a required
// module, the brackets of a require block, or an empty line. "replace",
// "toolchain", "go", "godebug" and "tool" cannot change, whatever block a line is
// added to.
var requireLine = regexp.MustCompile(`^\s*((require\s+)?[A-Za-z0-9][A-Za-z0-9._~/-]*\s+v[0-9][A-Za-z0-9.+-]*(\s*//[ \t]*indirect)?|require\s*\(|\))?\s*$`)

// allowed refuses a patch that would control the build.
func (f *filePatch) allowed() error {
	name := path.Base(f.path)
	if slices.Contains(buildFiles, name) {
		return wrong(f.line, "%s controls the build and is not patched", f.path)
	}
	if name != "go.mod" {
		return nil
	}
	if f.creates || f.deletes {
		return wrong(f.line, "%s may not be created or removed by a patch", f.path)
	}
	for _, h := range f.hunks {
		for _, l := range h.lines {
			if l.mark != ' ' && !requireLine.MatchString(l.text) {
				return wrong(l.line, "%s: only lines that require a module may change", f.path).
					hint("replace, toolchain, go and tool control the build, which runs as another user than the service")
			}
		}
	}
	return nil
}
