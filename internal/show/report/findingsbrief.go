package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// leastFindings have a place in a brief text, whatever else is to say.
const leastFindings = 3

// noteLines is how many lines the notes of a brief text have at least, and wholeNote how many
// one of them has before it is cut. Lines that findings leave free are for notes.
const (
	noteLines = 4
	wholeNote = 2
)

// moreLines is how many lines sum up the findings that have no place.
const moreLines = 2

// brief writes the text in Room lines, so that it is seen at once on a terminal of usual
// size: notes are cut, and as many findings are shown as have a place.
func (f *Findings) brief(o *out, cols int) {
	const others = 3 + moreLines // title, blank, head of the table
	causes := grouped(f.causes())
	var below []string
	if n := len(f.Unexplained); n > 0 {
		text := f.Unexplained[0]
		if n > 1 {
			text = fmt.Sprintf("%s (+ %d)", text, n-1)
		}
		below = []string{"  " + Shorten(Clean(text), wide(cols)-2)}
	}
	notes := f.briefNotes(cols, max(noteLines, f.Room-others-len(below)-2*len(causes)))
	o.line("%s", f.Title)
	for _, line := range notes {
		o.line("%s", line)
	}
	o.blank()
	if len(causes) == 0 {
		o.line("no finding: no rule found a cause with a noticeable cost")
	} else {
		few := max((f.Room-others-len(notes)-len(below))/2, leastFindings)
		few = min(few, len(causes))
		var rest []iikanji.Finding
		for _, g := range causes[few:] {
			rest = append(rest, g.all...)
		}
		f.groups(o, causes[:few], cols)
		if len(rest) > 0 {
			below = append(cutTo("  ", more(rest), cols, moreLines), below...)
		}
	}
	for _, line := range below {
		o.line("%s", line)
	}
}

// A group is findings of one cause at one table or place, the best first.
type group struct {
	rank int // of the first
	all  []iikanji.Finding
}

// grouped groups findings: several indexes of one table are one thing to look at.
func grouped(causes []iikanji.Finding) (out []group) {
	at := map[string]int{}
	for i, x := range causes {
		place, _, _ := strings.Cut(x.Where, " (") // behind it are the columns
		key := string(x.Code) + " " + place
		n, known := at[key]
		if !known {
			n = len(out)
			at[key], out = n, append(out, group{rank: i + 1})
		}
		out[n].all = append(out[n].all, x)
	}
	return out
}

// groups writes the table of the first finding of each group.
func (f *Findings) groups(o *out, groups []group, cols int) {
	var first []iikanji.Finding
	for _, g := range groups {
		first = append(first, g.all[0])
	}
	t := f.rows(first)
	for i, g := range groups {
		t.Rows[i][0] = strconv.Itoa(g.rank)
		if n := len(g.all) - 1; n > 0 {
			text := fmt.Sprintf("+ %d of this cause and place", n)
			if len(t.Below[i]) > 0 {
				text = t.Below[i][0] + " (" + text + ")"
			}
			t.Below[i] = []string{text}
		}
	}
	o.table(t, Text, cols)
}

// briefNotes are the lines of the notes, cut to so many lines.
func (f *Findings) briefNotes(cols, most int) (out []string) {
	whole := wholeNote
	if most > 2*noteLines {
		whole++
	}
	all := append(append([]string(nil), f.Notes...), f.doubts()...)
	for i, note := range all {
		lines := cutTo("  ", note, cols, whole)
		room := most - len(out)
		if i < len(all)-1 {
			room-- // for the last line
		}
		if len(lines) > room {
			return append(out, fmt.Sprintf("  and %d more notes: --all shows them", len(all)-i))
		}
		out = append(out, lines...)
	}
	return out
}

// cutTo wraps a text into at most so many lines; what is left out has a mark.
func cutTo(first, text string, cols, most int) []string {
	if lines := Wrap(first, "  ", text, wide(cols)); len(lines) <= most {
		return lines
	}
	const mark = " …"
	lines := Wrap(first, "  ", text, wide(cols)-Width(mark))[:most]
	lines[most-1] += mark
	return lines
}
