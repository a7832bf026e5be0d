package mysqlconf

import (
	"maps"
	"slices"
	"strings"
)

const header = "# Settings that iikanji has made; `iikanji history` tells why. Read after the others.\n[mysqld]\n"

// edit sets variables in the text of the drop-in file: in place where they
// stand, behind the others where they do not. Comments and order stay.
func edit(old []byte, wanted map[string]string) []byte {
	text := string(old)
	if old == nil {
		text = header
	} else if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	left, ours := maps.Clone(wanted), false
	var out strings.Builder
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.HasPrefix(name, "[") {
			ours = slices.Contains(serverSections, strings.TrimSpace(name))
		}
		name = variableOf(name)
		value, ok := wanted[name]
		if !ok || !ours {
			out.WriteString(line)
			continue
		}
		if _, first := left[name]; first { // a second one would win over the first
			out.WriteString(lineOf(name, value))
			delete(left, name)
		}
	}
	if len(left) > 0 && !ours {
		out.WriteString("[mysqld]\n")
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		out.WriteString(lineOf(name, left[name]))
	}
	return []byte(out.String())
}

// variableOf is the variable that the left side of a line sets. The server
// takes "-" for "_".
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
		return line + "\n"
	}
	return name + " = " + value + "\n"
}

// set are the values that a drop-in file sets.
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

// serverSections are read by the server, whichever brand and version.
var serverSections = []string{"[mysqld]", "[mariadbd]", "[mariadb]", "[server]"}
