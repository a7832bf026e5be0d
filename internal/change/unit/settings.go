package unit

import (
	"slices"
	"strings"
)

// header begins each file.
const header = "# Settings that iikanji has made; see `iikanji history`.\n"

// A setting is one line of a drop-in.
type setting struct{ section, key, value string }

// merge is the text of a drop-in with settings besides those that it has. The files are
// iikanji's own: their form is that of this function.
func merge(old []byte, add []setting) []byte {
	var all []setting
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
	for _, s := range add {
		if i := slices.IndexFunc(all, func(o setting) bool { return o.section == s.section && o.key == s.key }); i >= 0 {
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
