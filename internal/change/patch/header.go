package patch

import "strings"

// A gitHeader holds the "diff --git" header of a file.
type gitHeader struct {
	line             int
	creates, deletes bool
}

// bare returns the error for a file with a header and no hunk.
func (g *gitHeader) bare() error {
	return wrong(g.line, "this file has no hunks").hint("an empty file, a rename or a change of mode cannot be patched: leave it out")
}

// plainModes are git's modes of regular files.
var plainModes = map[string]bool{"100644": true, "100755": true}

// gitHeader reads the "diff --git" line and the lines up to the --- line. Their
// names are not used; the names on the --- and +++ lines are.
func (p *parser) gitHeader() (*gitHeader, error) {
	g := &gitHeader{line: p.number()}
	for p.at++; ; p.at++ {
		line, ok := p.next()
		if !ok {
			return g, nil
		}
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "index":
			if f := strings.Fields(rest); len(f) > 1 && !plainModes[f[1]] {
				return nil, wrong(p.number(), "mode %s is not a regular file", shown(f[1]))
			}
		case "new":
			if !strings.HasPrefix(rest, "file mode ") {
				return nil, p.noMode()
			}
			if mode := strings.TrimPrefix(rest, "file mode "); mode != "100644" {
				return nil, wrong(p.number(), "a new file of mode %s: only 100644 is allowed", shown(mode))
			}
			g.creates = true
		case "deleted":
			if mode := strings.TrimPrefix(rest, "file mode "); !plainModes[mode] {
				return nil, wrong(p.number(), "mode %s is not a regular file", shown(mode))
			}
			g.deletes = true
		case "old":
			return nil, p.noMode()
		case "similarity", "dissimilarity", "rename", "copy":
			return nil, wrong(p.number(), "a rename or a copy").hint("write it as a new file and a removed file: git diff --no-renames")
		default:
			return g, nil
		}
	}
}

func (p *parser) noMode() error {
	return wrong(p.number(), "a change of mode: only the content of files is patched")
}

const devNull = "/dev/null"

// names reads the --- and +++ lines.
func (p *parser) names(f *filePatch, git *gitHeader) error {
	old, _ := p.next()
	p.at++
	new, ok := p.next()
	if !ok || !strings.HasPrefix(new, "+++ ") {
		return wrong(p.number(), "want the +++ line that belongs to the --- line before it")
	}
	p.at++
	old, new = nameOf(old), nameOf(new)
	f.creates, f.deletes = old == devNull, new == devNull
	if git != nil && (git.creates != f.creates || git.deletes != f.deletes) {
		return wrong(f.line, "git's header and these lines disagree on whether the file is new or removed")
	}
	var err error
	f.path, err = f.name(old, new)
	return err
}

// nameOf returns the name on a --- or +++ line, without the time that diff -u adds.
func nameOf(line string) string {
	name, _, _ := strings.Cut(line[len("--- "):], "\t")
	return name
}

// name returns the path that the two names of a file stand for. The prefixes a/
// and b/ are removed when both names have theirs, or when the other name is
// /dev/null.
func (f *filePatch) name(old, new string) (string, error) {
	a, isA := strings.CutPrefix(old, "a/")
	b, isB := strings.CutPrefix(new, "b/")
	name := old
	switch {
	case f.creates && f.deletes:
		return "", wrong(f.line, "both names are %s", devNull)
	case f.creates:
		name = b
	case f.deletes:
		name = a
	case isA && isB && a == b:
		name = a
	case old != new:
		return "", wrong(f.line, "%s and %s are two files", shown(old), shown(new)).
			hint("give both the same name; write a rename as a new file and a removed file")
	}
	if why := badName(name); why != "" {
		return "", wrong(f.line, "%s: %s", shown(name), why).hint("names are relative to the source folder, as in a/main.go")
	}
	return name, nil
}
