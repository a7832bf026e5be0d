package change

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// contextLines is how many unchanged lines stand around a change.
const contextLines = 3

// unified is the unified diff of two texts, as diff -u prints it. had and has
// say whether the file is there before and after.
func unified(path, old, new string, had, has bool) string {
	from, to := "a"+path, "b"+path
	if !had {
		from = "/dev/null"
	}
	if !has {
		to = "/dev/null"
	}
	if binary(old) || binary(new) {
		return fmt.Sprintf("Binary files %s (%d bytes) and %s (%d bytes) differ\n", from, len(old), to, len(new))
	}
	script := compare(splitLines(old), splitLines(new))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for i := 0; i < len(script); {
		if script[i].mark == ' ' {
			i++
			continue
		}
		from, to := hunk(script, i)
		writeHunk(&b, script, from, to)
		i = to
	}
	return b.String()
}

// binary says whether a terminal is no place for a text.
func binary(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }

// splitLines keeps the newlines; a last line without one says so, as diff does.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n\\ No newline at end of file\n"
	}
	return lines
}

// An edited line: ' ' kept, '-' removed, '+' added.
type edited struct {
	mark byte
	text string
}

// maxCells bounds the table of compare; larger middles are shown as replaced.
const maxCells = 1 << 24

// compare finds a shortest edit script by the longest common subsequence of
// what is between the common head and tail. Configuration files are small.
func compare(a, b []string) []edited {
	var head, tail []edited
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head, a, b = append(head, edited{' ', a[0]}), a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, edited{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	script := append(head, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		script = append(script, tail[i])
	}
	return script
}

func middle(a, b []string) []edited {
	var script []edited
	if (len(a)+1)*(len(b)+1) > maxCells {
		for _, l := range a {
			script = append(script, edited{'-', l})
		}
		for _, l := range b {
			script = append(script, edited{'+', l})
		}
		return script
	}
	w := len(b) + 1
	common := make([]int32, (len(a)+1)*w) // longest common subsequence of a[i:], b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*w+j] = common[(i+1)*w+j+1] + 1
			} else {
				common[i*w+j] = max(common[(i+1)*w+j], common[i*w+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			script = append(script, edited{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[(i+1)*w+j] >= common[i*w+j+1]:
			script = append(script, edited{'-', a[i]})
			i++
		default:
			script = append(script, edited{'+', b[j]})
			j++
		}
	}
	return script
}

// hunk is the range of the script that is shown around the change at i.
func hunk(script []edited, i int) (from, to int) {
	last := i // the last changed line of the hunk
	for k := i; k < len(script) && k-last <= 2*contextLines; k++ {
		if script[k].mark != ' ' {
			last = k
		}
	}
	return max(0, i-contextLines), min(len(script), last+1+contextLines)
}

func writeHunk(b *strings.Builder, script []edited, from, to int) {
	countLines := func(part []edited, skip byte) (n int) {
		for _, l := range part {
			if l.mark != skip {
				n++
			}
		}
		return n
	}
	start := func(mark byte, n int) int {
		at := countLines(script[:from], mark)
		if n > 0 {
			at++ // an empty range names the line before it
		}
		return at
	}
	olds, news := countLines(script[from:to], '+'), countLines(script[from:to], '-')
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", start('+', olds), olds, start('-', news), news)
	for _, l := range script[from:to] {
		b.WriteByte(l.mark)
		b.WriteString(l.text)
	}
}
