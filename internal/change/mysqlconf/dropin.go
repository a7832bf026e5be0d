package mysqlconf

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
)

const header = "# Settings that iikanji has made; see `iikanji history`.\n[mysqld]\n"

// edit sets variables in the text of the drop-in file, in a section that the
// server reads.
func edit(old []byte, wanted map[string]string) []byte {
	ours := false
	return change.Lines{
		Header: header,
		Read: func(line string) (name, value string, ok bool) {
			left, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if strings.HasPrefix(left, "[") {
				ours = slices.Contains(serverSections, strings.TrimSpace(left))
			}
			return variableOf(left), strings.TrimSpace(value), ours
		},
		Write: lineOf,
		Ahead: func() string {
			if ours {
				return ""
			}
			return "[mysqld]\n"
		},
	}.Set(old, wanted)
}

// variableOf returns the variable that the left side of a line sets. The server
// treats "-" as "_".
func variableOf(left string) string {
	name := strings.ReplaceAll(strings.TrimSpace(left), "-", "_")
	for variable, set := range settings {
		if set.line == name && name != "" {
			return variable
		}
	}
	return name
}

func lineOf(name, value string) string {
	if line := settings[name].line; line != "" {
		return line
	}
	return name + " = " + value
}

// set returns the values that a drop-in file sets.
func set(text []byte) map[string]string {
	values, ours := map[string]string{}, false
	for line := range strings.Lines(string(text)) {
		left, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name := variableOf(left); {
		case strings.HasPrefix(left, "["):
			ours = slices.Contains(serverSections, strings.TrimSpace(left))
		case !ours || name == "" || name[0] == '#' || name[0] == ';':
		case settings[name].line != "":
			values[name] = "OFF"
		default:
			values[name] = strings.TrimSpace(value)
		}
	}
	return values
}

// serverSections are the sections that a server reads, depending on brand and
// version.
var serverSections = []string{"[mysqld]", "[mariadbd]", "[mariadb]", "[server]"}
