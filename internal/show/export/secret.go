package export

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/show/redact"
)

// A SecretError is a part of the export that has to be as it is and holds what may
// be a secret. Nothing was written.
type SecretError struct {
	Name string // the file of the export
}

func (e *SecretError) Error() string {
	return e.Name + " would hold what may be a secret, and it does not work without"
}

// secretFree returns an error if a text that must stay as it is holds what may be a
// secret.
func (o *Options) secretFree(name, text string) error {
	if !o.Literals && redact.Text(text) != text {
		return &SecretError{name}
	}
	return nil
}

// shown returns a text for readers: redacted unless the options keep literals.
func (o *Options) shown(text string) string {
	if o.Literals {
		return text
	}
	redact.Document(&text)
	return text
}

// separate makes the parts of the export that must stay as they are: patches lose
// context lines that may hold secrets. It is an error if anything else holds one.
func (o *Options) separate(items []Item, sum *folded) error {
	for i := range sum.files {
		x := &sum.files[i]
		text := string(x.new)
		if x.old != nil && x.new != nil {
			text = patch(*x)
			if less, ok := withoutContext(text); ok && o.secretFree(x.rel, text) != nil {
				text = less
			}
		}
		if err := o.secretFree(x.rel, text); err != nil {
			return err
		}
		x.portable = o.portableFile(x.rel, text)
	}
	for _, it := range items {
		for _, st := range statements(it.Change) {
			for _, t := range st.texts() {
				if err := o.secretFree(st.name+t.end, t.text); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// redactWords redacts the sentences of changes and verdicts, in copies.
func (o *Options) redactWords(items []Item) {
	for i := range items {
		c := *items[i].Change
		c.Says = o.shown(c.Says)
		items[i].Change = &c
		if v := items[i].Verdict; v != nil {
			w := *v
			w.Why = o.shown(w.Why)
			items[i].Verdict = &w
		}
	}
}

// withoutContext removes the context lines of a patch that may hold secrets. A hunk
// is split at such a line. ok is false if a part of a hunk would only insert lines
// and have no context: patch could put them anywhere.
func withoutContext(patch string) (out string, ok bool) {
	var b strings.Builder
	h := &hunk{}
	ok = true
	end := func() {
		ok = h.write(&b) && ok
		h.lines = nil
	}
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			end()
			h.start(line)
		case !h.begun: // the headers
			b.WriteString(line)
		case line[0] == ' ' && redact.Text(line) != line:
			end()
			h.old, h.new = h.old+1, h.new+1
			h.first = [2]int{h.old, h.new}
		default:
			h.add(line)
		}
	}
	end()
	return b.String(), ok
}

// A hunk is a part of a patch, with the numbers of its next lines.
type hunk struct {
	begun    bool
	first    [2]int // of the old and the new file
	old, new int
	lines    []string
}

// start begins a hunk at its header.
func (h *hunk) start(header string) {
	old, new, _ := strings.Cut(strings.TrimPrefix(header, "@@ -"), " +")
	h.old, h.new = lineNumber(old), lineNumber(new)
	h.begun, h.first = true, [2]int{h.old, h.new}
}

// lineNumber is the number at the beginning of a range, as in 12,7.
func lineNumber(s string) (n int) {
	for i := 0; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = 10*n + int(s[i]-'0')
	}
	return n
}

func (h *hunk) add(line string) {
	h.lines = append(h.lines, line)
	if line[0] != '+' && line[0] != '\\' {
		h.old++
	}
	if line[0] != '-' && line[0] != '\\' {
		h.new++
	}
}

// write writes the hunk unless it has no change. It reports whether the place of
// the hunk is certain.
func (h *hunk) write(b *strings.Builder) bool {
	changed, anchored := false, false
	for _, l := range h.lines {
		changed = changed || l[0] == '+' || l[0] == '-'
		anchored = anchored || l[0] != '+'
	}
	if !changed {
		return true
	}
	old, new := h.first[0], h.first[1]
	if h.old == old { // of an empty range, the line before it is named
		old--
	}
	if h.new == new {
		new--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", old, h.old-h.first[0], new, h.new-h.first[1])
	for _, l := range h.lines {
		b.WriteString(l)
	}
	return anchored
}
