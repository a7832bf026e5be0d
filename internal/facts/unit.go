package facts

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// unitBlank is what systemd takes for white space in its files.
const unitBlank = " \t\r\n"

// ParseUnit reads the assignments of one of systemd's files, in order, empty
// ones too. As systemd does (systemd.syntax(7)) it passes over comments, also
// within a continued line, and over lines that are no assignment or stand in no
// section. It never fails: what cannot be read is left out.
func ParseUnit(file, text string) []iikanji.Setting {
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	p := unitParser{file: file}
	var whole []byte
	n, from := 0, 0 // lines: this one, and where the assignment began
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

// continued says whether a line ends in a backslash that no other one escapes.
func continued(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

type unitParser struct {
	file, section string
	out           []iikanji.Setting
}

// line reads one line, continuations put together.
func (p *unitParser) line(text string, n int) {
	text = strings.Trim(text, unitBlank)
	if strings.HasPrefix(text, "[") {
		p.section = "" // of a header that has no end nothing is known
		if name, ok := strings.CutSuffix(text[1:], "]"); ok {
			p.section = name
		}
		return
	}
	key, value, ok := strings.Cut(text, "=")
	if key = strings.Trim(key, unitBlank); !ok || key == "" || p.section == "" {
		return
	}
	p.out = append(p.out, iikanji.Setting{Section: p.section, Key: key, Value: strings.Trim(value, unitBlank), File: p.file, Line: n})
}

// Keys that an empty assignment does not reset: dependencies can only be added
// to (systemd.unit(5)), and of what has one value an empty one is not valid and
// passed over.
var (
	dependencies = []string{"After", "Before", "Wants", "Requires", "Requisite", "BindsTo", "PartOf", "Upholds", "Conflicts"}
	scalars      = []string{"Type", "Restart", "RestartSec", "RestartSteps", "RestartMaxDelaySec", "StartLimitInterval", "StartLimitIntervalSec", "StartLimitBurst",
		"DefaultStartLimitInterval", "DefaultStartLimitIntervalSec", "DefaultStartLimitBurst", "DefaultRestartSec"}
)

// effective applies empty assignments: one resets the list of its key.
func effective(all []iikanji.Setting) []iikanji.Setting {
	var out []iikanji.Setting
	for _, s := range all {
		switch {
		case s.Value != "":
			out = append(out, s)
		case !slices.Contains(dependencies, s.Key) && !slices.Contains(scalars, s.Key):
			out = slices.DeleteFunc(out, func(o iikanji.Setting) bool { return o.Section == s.Section && o.Key == s.Key })
		}
	}
	return out
}
