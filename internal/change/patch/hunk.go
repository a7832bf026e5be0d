package patch

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// A hunk replaces a range of lines by another one, with context around it.
type hunk struct {
	line                     int // of its header in the diff
	oldAt, oldN, newAt, newN int // as in "@@ -oldAt,oldN +newAt,newN @@"
	lines                    []hunkLine
}

// A hunkLine is ' ' kept, '-' removed or '+' added.
type hunkLine struct {
	mark byte
	text string // with its line feed, unless the file ends without one
	line int    // in the diff
}

var hunkHeader = regexp.MustCompile(`^@@ -([0-9]{1,7})(?:,([0-9]{1,7}))? \+([0-9]{1,7})(?:,([0-9]{1,7}))? @@(?: .*)?$`)

// hunk reads one hunk. It ends after the number of lines in its header: only that
// number distinguishes a removed line "-- x" from the next file's line "--- x".
func (p *parser) hunk() (hunk, error) {
	h := hunk{line: p.number()}
	line, _ := p.next()
	m := hunkHeader.FindStringSubmatch(line)
	if m == nil {
		return h, wrong(h.line, "%s is not the header of a hunk", shown(line)).hint("the format is @@ -12,7 +12,8 @@")
	}
	h.oldAt, h.oldN, h.newAt, h.newN = number(m[1]), count(m[2]), number(m[3]), count(m[4])
	if h.oldAt == 0 && h.oldN > 0 || h.newAt == 0 && h.newN > 0 {
		return h, wrong(h.line, "lines are counted from 1")
	}
	p.at++
	if err := p.body(&h); err != nil {
		return h, err
	}
	for _, l := range h.lines {
		if l.mark != ' ' {
			return h, p.surplus(h)
		}
	}
	return h, wrong(h.line, "this hunk changes nothing")
}

// number converts digits that hunkHeader has matched.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// count converts a count; 1 when the header omits it.
func count(s string) int {
	if s == "" {
		return 1
	}
	return number(s)
}

// body reads the number of lines in the hunk's header.
func (p *parser) body(h *hunk) error {
	old, new := h.oldN, h.newN
	for old > 0 || new > 0 {
		if p.at >= len(p.lines) {
			return h.short(p.number(), old, new)
		}
		raw := p.lines[p.at]
		mark, text := byte(' '), raw
		if strings.TrimSuffix(raw, "\r") != "" { // some tools strip the space of an empty context line
			mark, text = raw[0], raw[1:]
		}
		switch mark {
		case ' ':
			old, new = old-1, new-1
		case '-':
			old--
		case '+':
			new--
		case '\\':
			if err := p.unended(h); err != nil {
				return err
			}
			continue
		default:
			return h.short(p.number(), old, new)
		}
		if old < 0 || new < 0 {
			return wrong(p.number(), "a line too many: the hunk's header at line %d has -%d +%d", h.line, h.oldN, h.newN).
				hint("count the lines of the hunk again: context counts on both sides")
		}
		if mark == '+' && strings.ContainsFunc(strings.TrimSuffix(text, "\r"), unseen) {
			return wrong(p.number(), "it adds invisible characters: %s", shown(text)).hint("write them as escape sequences of the language")
		}
		h.lines = append(h.lines, hunkLine{mark, text + "\n", p.number()})
		p.at++
	}
	if p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], `\`) {
		return p.unended(h)
	}
	return nil
}

// unseen reports whether a character can hide or reorder text on a screen: a
// control character, or one that overrides the direction of writing.
func unseen(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\f' || unicode.Is(unicode.Bidi_Control, r)
}

// short returns the error for a hunk with fewer lines than its header has.
func (h *hunk) short(line, old, new int) error {
	return wrong(line, "the hunk ends early: its header at line %d has -%d +%d, of which -%d +%d are missing", h.line, h.oldN, h.newN, old, new).
		hint("count the lines of the hunk again: context counts on both sides")
}

// unended reads the marker that follows a line without a line feed in its file.
func (p *parser) unended(h *hunk) error {
	if n := len(h.lines); n > 0 && strings.HasPrefix(p.lines[p.at], `\ `) && strings.HasSuffix(h.lines[n-1].text, "\n") {
		h.lines[n-1].text = strings.TrimSuffix(h.lines[n-1].text, "\n")
		p.at++
		return nil
	}
	return wrong(p.number(), "%s belongs to no line", shown(p.lines[p.at]))
}

// surplus returns an error when the line after a hunk looks like a part of it.
func (p *parser) surplus(h hunk) error {
	line, ok := p.next()
	if !ok || line == "" || !strings.ContainsRune(" +-", rune(line[0])) || strings.HasPrefix(line, "--- ") {
		return nil
	}
	return wrong(p.number(), "the hunk goes on: its header at line %d has -%d +%d, which have all been read", h.line, h.oldN, h.newN).
		hint("count the lines of the hunk again: context counts on both sides")
}

// start is the index of the hunk's first line in the old file, from 0. The header
// of a hunk without old lines has the number of the line before it.
func (h *hunk) start() int {
	if h.oldN == 0 {
		return h.oldAt
	}
	return h.oldAt - 1
}

// side returns the hunk's lines in the old ('-') or the new ('+') file.
func (h *hunk) side(mark byte) []hunkLine {
	lines := make([]hunkLine, 0, len(h.lines))
	for _, l := range h.lines {
		if l.mark == ' ' || l.mark == mark {
			lines = append(lines, l)
		}
	}
	return lines
}

// context counts the context lines before the first change and after the last one.
func (h *hunk) context() (before, after int) {
	for before < len(h.lines) && h.lines[before].mark == ' ' {
		before++
	}
	for after < len(h.lines) && h.lines[len(h.lines)-1-after].mark == ' ' {
		after++
	}
	return before, after
}

// flip returns the hunk that undoes this one.
func (h hunk) flip() hunk {
	h.oldAt, h.oldN, h.newAt, h.newN = h.newAt, h.newN, h.oldAt, h.oldN
	lines := make([]hunkLine, len(h.lines))
	for i, l := range h.lines {
		switch l.mark {
		case '-':
			l.mark = '+'
		case '+':
			l.mark = '-'
		}
		lines[i] = l
	}
	h.lines = lines
	return h
}
