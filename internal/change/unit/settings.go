package unit

import (
	"slices"
	"strings"
)

// header begins each file.
const header = "# Settings that iikanji has made; see `iikanji history`.\n"

// A setting is one line of a drop-in.
type setting struct{ section, key, value string }

// name is what a later setting of the same name replaces: a key, and of a variable of the
// environment its name.
func (s setting) name() string {
	if variable, _, ok := strings.Cut(s.value, "="); ok && s.key == "Environment" {
		return s.section + "/" + s.key + "/" + variable
	}
	return s.section + "/" + s.key
}

// read reads the settings of a drop-in of iikanji's own: its form is that of merge.
func read(old []byte) (all []setting) {
	section := ""
	for line := range strings.Lines(string(old)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && section != "" && line[0] != '#' {
			all = append(all, setting{section, strings.TrimSpace(key), strings.TrimSpace(value)})
		}
	}
	return all
}

// merge is the text of a drop-in with settings besides those that it has.
func merge(old []byte, add []setting) []byte {
	all := read(old)
	for _, s := range add {
		if i := slices.IndexFunc(all, func(o setting) bool { return o.name() == s.name() }); i >= 0 {
			all[i] = s
			continue
		}
		all = append(all, s)
	}
	var b strings.Builder
	b.WriteString(header)
	for _, section := range []string{"Unit", "Service"} {
		head := false
		for _, s := range all {
			if s.section != section {
				continue
			}
			if !head {
				head = true
				b.WriteString("[" + section + "]\n")
			}
			b.WriteString(s.key + "=" + s.value + "\n")
		}
	}
	return []byte(b.String())
}
