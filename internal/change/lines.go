package change

import (
	"maps"
	"slices"
	"strings"
)

// Lines is how a file of settings is written, one a line.
type Lines struct {
	Header string // of a new file
	// Read is the setting that a line makes; not ok for a comment and for what
	// is none of ours. It is asked of each line, in their order.
	Read func(line string) (name, value string, ok bool)
	// Write is the line of a setting, without its end.
	Write func(name, value string) string
	// Ahead is what must stand before lines that are added at the end, once all
	// were read; nil for nothing.
	Ahead func() string
}

// Set sets names to values in the text of a file, nil for a new one: in place
// where they stand, behind the others where they do not. Comments, order, and
// lines that say it already stay.
func (l Lines) Set(old []byte, wanted map[string]string) []byte {
	text := string(old)
	if old == nil {
		text = l.Header
	} else if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	left := maps.Clone(wanted)
	var b strings.Builder
	for line := range strings.Lines(text) {
		name, now, ok := l.Read(line)
		value, asked := wanted[name]
		_, first := left[name]
		switch {
		case !ok || !asked, first && now == value:
			b.WriteString(line)
		case first:
			b.WriteString(l.Write(name, value) + "\n")
		}
		if ok {
			delete(left, name) // a second line of it would win over the first
		}
	}
	if len(left) > 0 && l.Ahead != nil {
		b.WriteString(l.Ahead())
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		b.WriteString(l.Write(name, left[name]) + "\n")
	}
	return []byte(b.String())
}

// SaySettings is settings in words: "a = 1, b = 2".
func SaySettings(values map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+" = "+values[name])
	}
	return strings.Join(parts, ", ")
}
