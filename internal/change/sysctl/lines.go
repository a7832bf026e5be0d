package sysctl

import (
	"maps"
	"slices"
	"strings"
)

const (
	variablesHeader = "# Kernel variables that iikanji has set; `iikanji history` tells why.\n"
	limitsHeader    = "# Limits that iikanji has set; `iikanji history` tells why. Applied at each start of the service.\n"
)

// edit sets names in a text of "name = value" lines: in place where they
// stand, behind the others where they do not. Comments and order stay.
func edit(old []byte, header string, wanted map[string]string) []byte {
	text := string(old)
	if old == nil {
		text = header
	} else if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	left := maps.Clone(wanted)
	var b strings.Builder
	for line := range strings.Lines(text) {
		name, now, ok := strings.Cut(strings.TrimSpace(line), "=")
		name, now = strings.TrimSpace(name), plain(now)
		value, ours := wanted[name]
		_, first := left[name]
		switch {
		case !ok || !ours:
			b.WriteString(line)
			continue
		case first && now == value:
			b.WriteString(line)
		case first:
			b.WriteString(name + " = " + value + "\n")
		}
		delete(left, name) // a second line of it would win over the first
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		b.WriteString(name + " = " + left[name] + "\n")
	}
	return []byte(b.String())
}
