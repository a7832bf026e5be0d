package patch

import (
	"path"
	"regexp"
	"slices"
)

// steering are files that tell the build what to do, rather than being code.
// The build runs with our account and not with the service's.
var steering = []string{"go.work", "go.work.sum"}

// required is a line of go.mod that a patch may add or remove: the need of a
// module, what stands around it, and nothing. So "replace", "toolchain", "go",
// "godebug" and "tool" stay as they are, whatever block a line lands in.
var required = regexp.MustCompile(`^\s*((require\s+)?[A-Za-z0-9][A-Za-z0-9._~/-]*\s+v[0-9][A-Za-z0-9.+-]*(\s*//[ \t]*indirect)?|require\s*\(|\))?\s*$`)

// steers refuses a patch that would steer the build.
func (f *filePatch) steers() error {
	name := path.Base(f.path)
	if slices.Contains(steering, name) {
		return wrong(f.line, "%s steers the build and is not patched", f.path)
	}
	if name != "go.mod" {
		return nil
	}
	if f.creates || f.deletes {
		return wrong(f.line, "%s is not made or removed by a patch", f.path)
	}
	for _, h := range f.hunks {
		for _, l := range h.lines {
			if l.mark != ' ' && !required.MatchString(l.text) {
				return wrong(l.line, "%s: only lines that require a module may change", f.path).
					hint("replace, toolchain, go and tool steer the build, which runs with another account than the service")
			}
		}
	}
	return nil
}
