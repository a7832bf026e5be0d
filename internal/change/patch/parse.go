package patch

import (
	"regexp"
	"strings"
)

const (
	maxDiff  = 256 << 10 // bytes of a diff
	maxFiles = 32        // that one diff may touch
)

// A filePatch is the part of a diff for one file.
type filePatch struct {
	path             string // relative to the source folder, with slashes
	line             int    // of its "---" line in the diff
	creates, deletes bool
	hunks            []hunk
	// crlf: the headers end in CR LF, so the line ends of the diff were converted.
	crlf bool
}

// A parser reads a diff line by line.
type parser struct {
	lines []string // without their line feeds
	at    int      // index of the next line
}

// parse reads a unified diff as git or diff -u write it. Any other line is an
// error, also text before, between and after the files.
func parse(diff string) ([]filePatch, error) {
	if len(diff) > maxDiff {
		return nil, wrong(1, "the diff has %d bytes, %d are allowed", len(diff), maxDiff)
	}
	if i := strings.IndexByte(diff, 0); i >= 0 {
		return nil, wrong(1+strings.Count(diff[:i], "\n"), "a byte 0: only text is patched")
	}
	p := &parser{lines: strings.Split(strings.TrimSuffix(diff, "\n"), "\n")}
	var files []filePatch
	seen := map[string]int{}
	for {
		f, err := p.file()
		if err != nil {
			return nil, err
		}
		if f == nil {
			break
		}
		if before, twice := seen[f.path]; twice {
			return nil, wrong(f.line, "%s is patched at line %d too: put its hunks together", f.path, before)
		}
		seen[f.path] = f.line
		if files = append(files, *f); len(files) > maxFiles {
			return nil, wrong(f.line, "more than %d files", maxFiles)
		}
	}
	if len(files) == 0 {
		return nil, wrong(1, "the diff names no file").hint("a unified diff begins with --- and +++ lines, as `git diff` and `diff -u` print them")
	}
	return files, nil
}

// next returns the next line without a carriage return at its end; ok is false
// at the end of the diff.
func (p *parser) next() (line string, ok bool) {
	if p.at >= len(p.lines) {
		return "", false
	}
	return strings.TrimSuffix(p.lines[p.at], "\r"), true
}

// number returns the number of the next line, from 1.
func (p *parser) number() int { return p.at + 1 }

// decoration matches lines without meaning that tools print before a file:
// "diff -ru a b", and Subversion's.
var decoration = regexp.MustCompile(`^(diff |Index: |={67}$)`)

// file reads the header and hunks of the next file; nil at the end of the diff.
func (p *parser) file() (*filePatch, error) {
	var git *gitHeader
	for {
		line, ok := p.next()
		switch {
		case !ok && git != nil:
			return nil, git.bare()
		case !ok:
			return nil, nil
		case strings.HasPrefix(line, "diff --git "):
			if git != nil {
				return nil, git.bare()
			}
			var err error
			if git, err = p.gitHeader(); err != nil {
				return nil, err
			}
		case strings.HasPrefix(line, "--- "):
			return p.textFile(git)
		case git == nil && (line == "" || decoration.MatchString(line)):
			p.at++
		default:
			return nil, p.stray(line)
		}
	}
}

// stray returns the error for a line that is not a part of a diff.
func (p *parser) stray(line string) error {
	switch {
	case strings.HasPrefix(line, "@@ "):
		return wrong(p.number(), "a hunk before the --- and +++ lines of its file")
	case strings.HasPrefix(line, "Binary files "), strings.HasPrefix(line, "GIT binary patch"):
		return wrong(p.number(), "a binary file: only text is patched")
	case strings.HasPrefix(line, "+++ "):
		return wrong(p.number(), "a +++ line without the --- line before it")
	}
	return wrong(p.number(), "%s is not a part of a unified diff", shown(line)).
		hint("leave out text around the diff, and check that each hunk has as many lines as its header states")
}

// textFile reads the --- and +++ lines and the hunks after them.
func (p *parser) textFile(git *gitHeader) (*filePatch, error) {
	f := &filePatch{line: p.number(), crlf: strings.HasSuffix(p.lines[p.at], "\r")}
	if err := p.names(f, git); err != nil {
		return nil, err
	}
	for {
		line, ok := p.next()
		if !ok || !strings.HasPrefix(line, "@@ ") {
			break
		}
		h, err := p.hunk()
		if err != nil {
			return nil, err
		}
		if n := len(f.hunks); n > 0 && h.start() < f.hunks[n-1].start()+f.hunks[n-1].oldN {
			return nil, wrong(h.line, "this hunk begins before the end of the one before")
		}
		f.hunks = append(f.hunks, h)
	}
	return f, f.whole()
}

// whole checks the hunks of a file together.
func (f *filePatch) whole() error {
	switch {
	case len(f.hunks) == 0:
		return wrong(f.line, "%s has no hunks", f.path)
	case f.creates && (len(f.hunks) != 1 || f.hunks[0].oldN != 0):
		return wrong(f.line, "%s is new and can only have one hunk that adds lines", f.path)
	case f.deletes && (len(f.hunks) != 1 || f.hunks[0].newN != 0):
		return wrong(f.line, "%s is removed and can only have one hunk that removes all lines", f.path)
	}
	return nil
}
