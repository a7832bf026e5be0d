package patch

import "strings"

// maxCompares bounds the comparisons of lines for one diff, also of a hostile
// one: some tenths of a second.
const maxCompares = 1 << 24

// A budget is how many comparisons are left.
type budget int

// A search looks for the place of one hunk.
type search struct {
	want     []hunkLine // the old side
	lines    []string
	from, to int // the first and the last index at which it may stand
	left     *budget
	near     int // of the places tried, the one that fits furthest, for the error
	fitting  int // how many lines fit there
}

// locate finds the index at which a hunk's old side stands: at, or else the
// nearest one before or behind it, but not before from. Two equally near ones
// are refused.
//
// A hunk with context on one side only stands at that end of the file, as
// there was none to show beyond. One without any context stands where it says.
func (f *filePatch) locate(h hunk, lines []string, from, at int, left *budget) (int, error) {
	s := &search{want: h.side('-'), lines: lines, from: from, left: left, near: -1}
	s.to = len(lines) - len(s.want)
	before, behind := h.context()
	switch {
	case len(s.want) == 0 && len(lines) > 0:
		return 0, wrong(h.line, "nothing says where in %s these lines belong", f.path).hint("give the hunk lines of context")
	case before == 0 && behind == 0:
		s.from, s.to = max(s.from, at), min(s.to, at)
	case before == 0:
		s.to = min(s.to, 0)
	case behind == 0:
		s.from = max(s.from, s.to)
	}
	for d := 0; ; d++ {
		*left-- // a stated line may be far beyond the end
		back, forth := s.fits(at-d), d > 0 && s.fits(at+d)
		switch {
		case *left < 0:
			return 0, wrong(h.line, "too much to search in %s", f.path).hint("make the diff smaller, or correct the line numbers of its hunks")
		case back && forth:
			return 0, wrong(h.line, "the hunk fits %s at lines %d and %d, equally near", f.path, at-d+1, at+d+1).
				hint("give it more context, or the right line number")
		case back:
			return at - d, nil
		case forth:
			return at + d, nil
		case at-d <= s.from && at+d >= s.to:
			return 0, f.misfit(h, s, at, before, behind)
		}
	}
}

// fits says whether the old side stands at an index.
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

// misfit is the error for a hunk that stands nowhere, with what is there instead.
func (f *filePatch) misfit(h hunk, s *search, at, before, behind int) error {
	if s.near < 0 { // no place was possible at all
		return wrong(h.line, "the hunk does not fit %s, which has %d lines; it should stand at line %d%s", f.path, len(s.lines), at+1, ends(before, behind))
	}
	want, is := s.want[s.fitting], s.lines[s.near+s.fitting]
	why := ""
	if strings.Join(strings.Fields(want.text), " ") == strings.Join(strings.Fields(is), " ") {
		why = " (they differ in white space only)"
	}
	return wrong(want.line, "the hunk does not fit %s: line %d of the file is %s, the diff wants %s%s%s",
		f.path, s.near+s.fitting+1, shown(is), shown(want.text), why, ends(before, behind)).
		hint("context and removed lines must be in the file to the byte: make the diff again from the file as it is now")
}

// ends tells of the end of the file at which a hunk must stand.
func ends(before, behind int) string {
	switch {
	case before == 0 && behind > 0:
		return "; no context before the change: it must be at the beginning of the file"
	case behind == 0 && before > 0:
		return "; no context behind the change: it must be at the end of the file"
	}
	return ""
}
