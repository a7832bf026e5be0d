package patch

import (
	"bytes"
	"strings"
)

// An outcome is the result of applying a patch to a file.
type outcome struct {
	content []byte // nil: no file
	offset  int    // sum of the hunks' distances, in lines, from their stated places
}

// apply applies a patch to the content of its file (nil: no file).
func (f *filePatch) apply(old []byte, left *budget) (outcome, error) {
	switch {
	case f.creates && old != nil:
		return outcome{}, wrong(f.line, "%s is new in the diff, but exists", f.path)
	case !f.creates && old == nil:
		return outcome{}, wrong(f.line, "%s does not exist", f.path).hint("names are relative to the source folder, as in a/main.go")
	}
	in := fileLines(old)
	var out []string
	o, at, shift := outcome{}, 0, 0
	for _, h := range f.hunks {
		h = f.endings(h, old)
		found, err := f.locate(h, in, at, h.start()+shift, left)
		if err != nil {
			return outcome{}, err
		}
		o.offset += max(found-h.start()-shift, h.start()+shift-found)
		shift = found - h.start()
		out = append(out, in[at:found]...)
		for _, l := range h.side('+') {
			out = append(out, l.text)
		}
		at = found + len(h.side('-'))
	}
	out = append(out, in[at:]...)
	if f.deletes {
		if len(out) > 0 {
			return outcome{}, wrong(f.line, "%s is removed by the diff, but has %d lines that the diff lacks", f.path, len(out))
		}
		return o, nil
	}
	for _, l := range out[:max(0, len(out)-1)] {
		if !strings.HasSuffix(l, "\n") {
			return outcome{}, wrong(f.line, "%s: %s would end without a line feed, but is not the last line", f.path, shown(l))
		}
	}
	o.content = []byte(strings.Join(out, ""))
	return o, nil
}

// flip returns the patch that undoes this one.
func (f filePatch) flip() filePatch {
	f.creates, f.deletes = f.deletes, f.creates
	hunks := make([]hunk, len(f.hunks))
	for i, h := range f.hunks {
		hunks[i] = h.flip()
	}
	f.hunks = hunks
	return f
}

// fileLines splits content after each line feed; the last line may have none.
func fileLines(content []byte) []string {
	lines := strings.SplitAfter(string(content), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// endings removes the carriage returns from a hunk of a diff whose line ends were
// converted to CR LF, unless all lines of the file end so.
func (f *filePatch) endings(h hunk, old []byte) hunk {
	if ends := bytes.Count(old, []byte("\r\n")); !f.crlf || ends > 0 && ends == bytes.Count(old, []byte("\n")) {
		return h
	}
	lines := make([]hunkLine, len(h.lines))
	for i, l := range h.lines {
		if text, ok := strings.CutSuffix(l.text, "\r\n"); ok {
			l.text = text + "\n"
		} else {
			l.text = strings.TrimSuffix(l.text, "\r")
		}
		lines[i] = l
	}
	h.lines = lines
	return h
}
