package patch

import "strings"

// maxCompares bounds the comparisons of lines for one diff to some tenths of a
// second, also for a hostile one.
const maxCompares = 1 << 24

// A budget is the number of comparisons that are left.
type budget int

// A search finds the place of one hunk.
type search struct {
	want     []hunkLine // the old side
	lines    []string
	from, to int // the first and the last index at which the hunk may apply
	left     *budget
	near     int // the tried index with the most matching lines, for the error
	fitting  int // the number of matching lines there
}

// locate finds the index at which a hunk's old side matches: at, or else the
// nearest one before or after it, but not before from. Two equally near ones
// are an error.
//
// A hunk with context on one side only must match at the other end of the file,
// where no context exists. A hunk without context must match at its stated line.
func (f *filePatch) locate(h hunk, lines []string, from, at int, left *budget) (int, error) {
	s := &search{want: h.side('-'), lines: lines, from: from, left: left, near: -1}
	s.to = len(lines) - len(s.want)
	before, after := h.context()
	switch {
	case len(s.want) == 0 && len(lines) > 0:
		return 0, wrong(h.line, "the place of these lines in %s is unknown", f.path).hint("give the hunk context lines")
	case before == 0 && after == 0:
		s.from, s.to = max(s.from, at), min(s.to, at)
	case before == 0:
		s.to = min(s.to, 0)
	case after == 0:
		s.from = max(s.from, s.to)
	}
	for d := 0; ; d++ {
		*left-- // the stated line may be far beyond the end of the file
		earlier, later := s.fits(at-d), d > 0 && s.fits(at+d)
		switch {
		case *left < 0:
			return 0, wrong(h.line, "searching %s takes too long", f.path).hint("make the diff smaller, or correct the line numbers of its hunks")
		case earlier && later:
			return 0, wrong(h.line, "the hunk fits %s at lines %d and %d, equally near", f.path, at-d+1, at+d+1).
				hint("give it more context, or the right line number")
		case earlier:
			return at - d, nil
		case later:
			return at + d, nil
		case at-d <= s.from && at+d >= s.to:
			return 0, f.misfit(h, s, at, before, after)
		}
	}
}

// fits reports whether the old side matches at an index.
func (s *search) fits(at int) bool {
	if at < s.from || at > s.to || *s.left < 0 {
		return false
	}
	n := 0
	for n < len(s.want) && s.lines[at+n] == s.want[n].text {
		n++
	}
	*s.left -= budget(n + 1)
	if s.near < 0 || n > s.fitting {
		s.near, s.fitting = at, n
	}
	return n == len(s.want)
}

// misfit returns the error for a hunk that matches nowhere, with the first line
// that differs.
func (f *filePatch) misfit(h hunk, s *search, at, before, after int) error {
	if s.near < 0 { // no place was possible at all
		return wrong(h.line, "the hunk does not fit %s, which has %d lines; it should match at line %d%s", f.path, len(s.lines), at+1, ends(before, after))
	}
	want, is := s.want[s.fitting], s.lines[s.near+s.fitting]
	why := ""
	if strings.Join(strings.Fields(want.text), " ") == strings.Join(strings.Fields(is), " ") {
		why = " (they differ in white space only)"
	}
	return wrong(want.line, "the hunk does not fit %s: line %d of the file is %s, the diff has %s%s%s",
		f.path, s.near+s.fitting+1, shown(is), shown(want.text), why, ends(before, after)).
		hint("context and removed lines must match the file to the byte: make the diff again from the present file")
}

// ends describes the end of the file at which a hunk must match, if any.
func ends(before, after int) string {
	switch {
	case before == 0 && after > 0:
		return "; no context before the change: it must be at the beginning of the file"
	case after == 0 && before > 0:
		return "; no context after the change: it must be at the end of the file"
	}
	return ""
}
