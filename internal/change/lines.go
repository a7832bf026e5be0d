package change

import (
	"maps"
	"slices"
	"strings"
)

// Lines describes the format of a settings file with one setting a line.
type Lines struct {
	Header string // of a new file
	// Read returns the setting of a line; ok is false for comments and for lines
	// of other sections. It is called for each line, in order.
	Read func(line string) (name, value string, ok bool)
	// Write returns the line of a setting, without its line feed.
	Write func(name, value string) string
	// Ahead returns the text that must precede lines added at the end, such as
	// a section header. It is called after all lines were read; nil for no text.
	Ahead func() string
}

// Set sets names to values in the text of a file; old is nil for a new file.
// A setting is edited where it is, or else added at the end. Comments, order,
// and lines that have the value already are kept.
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
		value, isWanted := wanted[name]
		_, first := left[name]
		switch {
		case !ok || !isWanted, first && now == value:
			b.WriteString(line)
		case first:
			b.WriteString(l.Write(name, value) + "\n")
		}
		if ok {
			delete(left, name) // later lines of the same setting are dropped: they would override the first
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

// EnvVariable parses a line of a service's EnvFile as the service's starter does.
func EnvVariable(line string) (name, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", false
	}
	name, value, ok = strings.Cut(line, "=")
	return strings.TrimSpace(name), strings.TrimSpace(value), ok
}

// SaySettings formats settings for people: "a = 1, b = 2".
func SaySettings(values map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+" = "+values[name])
	}
	return strings.Join(parts, ", ")
}
