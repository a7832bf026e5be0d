package patch

import (
	"bytes"
	"strings"
)

// An outcome is what a file becomes.
type outcome struct {
	content []byte // nil: no file
	far     int    // how many lines the hunks stand from where they say, in all
}

// apply is the file that a patch makes of old (nil: no file).
func (f *filePatch) apply(old []byte, left *budget) (outcome, error) {
	switch {
	case f.creates && old != nil:
		return outcome{}, wrong(f.line, "%s is new by the diff, and is there", f.path)
	case !f.creates && old == nil:
		return outcome{}, wrong(f.line, "%s is not there", f.path).hint("names are relative to the source folder, as in a/main.go")
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
		o.far += max(found-h.start()-shift, h.start()+shift-found)
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
			return outcome{}, wrong(f.line, "%s is removed by the diff, and has %d lines that the diff does not", f.path, len(out))
		}
		return o, nil
	}
	for _, l := range out[:max(0, len(out)-1)] {
		if !strings.HasSuffix(l, "\n") {
			return outcome{}, wrong(f.line, "%s: %s would end without a line feed, and is not the last line", f.path, shown(l))
		}
	}
	o.content = []byte(strings.Join(out, ""))
	return o, nil
}

// flip is the patch that takes this one back.
func (f filePatch) flip() filePatch {
	f.creates, f.deletes = f.deletes, f.creates
	hunks := make([]hunk, len(f.hunks))
	for i, h := range f.hunks {
		hunks[i] = h.flip()
	}
	f.hunks = hunks
	return f
}

// fileLines cuts content behind each line feed; the last line may have none.
func fileLines(content []byte) []string {
	lines := strings.SplitAfter(string(content), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// endings takes the carriage returns off a hunk of a diff that was converted
// to CR LF on its way, unless the file itself has such lines only.
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
