package facts

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/site/fact"
)

// unitBlank is the set of characters that systemd treats as white space in its files.
const unitBlank = " \t\r\n"

// ParseUnit parses the assignments of a systemd file, in order, including empty
// ones. Like systemd (systemd.syntax(7)), it skips comments, also within a continued
// line, and lines that are not assignments or not in a section. It never fails: it
// skips lines that cannot be parsed.
func ParseUnit(file, text string) []fact.Setting {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	p := unitParser{file: file}
	var whole []byte
	n, from := 0, 0 // numbers of the current line and of the first line of the assignment
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		start := strings.TrimLeft(line, unitBlank)
		if start != "" && strings.IndexByte("#;", start[0]) >= 0 {
			continue
		}
		if from == 0 {
			from = n
		}
		if continued(line) {
			whole = append(append(whole, line[:len(line)-1]...), ' ')
			continue
		}
		p.line(string(append(whole, line...)), from)
		whole, from = whole[:0], 0
	}
	p.line(string(whole), from) // the file ended within a continued line
	return p.out
}

// continued reports whether a line ends in an unescaped backslash.
func continued(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

type unitParser struct {
	file, section string
	out           []fact.Setting
}

// line parses one line, with its continuation lines joined.
func (p *unitParser) line(text string, n int) {
	text = strings.Trim(text, unitBlank)
	if strings.HasPrefix(text, "[") {
		p.section = "" // a header without an end names no section
		if name, ok := strings.CutSuffix(text[1:], "]"); ok {
			p.section = name
		}
		return
	}
	key, value, ok := strings.Cut(text, "=")
	if key = strings.Trim(key, unitBlank); !ok || key == "" || p.section == "" {
		return
	}
	p.out = append(p.out, fact.Setting{Section: p.section, Key: key, Value: strings.Trim(value, unitBlank), File: p.file, Line: n})
}

// Keys that an empty assignment does not reset. Dependencies can only be added
// (systemd.unit(5)). For keys with a single value, an empty value is invalid and
// ignored.
var (
	dependencies = []string{"After", "Before", "Wants", "Requires", "Requisite", "BindsTo", "PartOf", "Upholds", "Conflicts"}
	scalars      = []string{"Type", "Restart", "RestartSec", "RestartSteps", "RestartMaxDelaySec", "StartLimitInterval", "StartLimitIntervalSec", "StartLimitBurst",
		"DefaultStartLimitInterval", "DefaultStartLimitIntervalSec", "DefaultStartLimitBurst", "DefaultRestartSec"}
)

// effective applies empty assignments: each resets the list of its key.
func effective(all []fact.Setting) []fact.Setting {
	var out []fact.Setting
	for _, s := range all {
		switch {
		case s.Value != "":
			out = append(out, s)
		case !slices.Contains(dependencies, s.Key) && !slices.Contains(scalars, s.Key):
			out = slices.DeleteFunc(out, func(o fact.Setting) bool { return o.Section == s.Section && o.Key == s.Key })
		}
	}
	return out
}
