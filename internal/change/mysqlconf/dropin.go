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
		// The server takes "-" for "_" in names.
		name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
		value, ok := wanted[name]
		if !ok || !ours {
			out.WriteString(line)
			continue
		}
		if _, first := left[name]; first { // a second one would win over the first
			out.WriteString(name + " = " + value + "\n")
			delete(left, name)
		}
	}
	if len(left) > 0 && !ours {
		out.WriteString("[mysqld]\n")
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		out.WriteString(name + " = " + left[name] + "\n")
	}
	return []byte(out.String())
}

// serverSections are read by the server, whichever brand and version.
var serverSections = []string{"[mysqld]", "[mariadbd]", "[mariadb]", "[server]"}
