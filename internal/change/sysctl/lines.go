package sysctl

import (
	"strings"

	"github.com/iikanji/iikanji/internal/change"
)

const (
	variablesHeader = "# Kernel variables that iikanji has set; see `iikanji history`.\n"
	limitsHeader    = "# Limits that iikanji has set; see `iikanji history`. Applied at each start of the service.\n"
)

// edit sets names in a text of "name = value" lines.
func edit(old []byte, header string, wanted map[string]string) []byte {
	return change.Lines{
		Header: header,
		Read: func(line string) (name, value string, ok bool) {
			name, value, ok = strings.Cut(strings.TrimSpace(line), "=")
			return strings.TrimSpace(name), plain(value), ok
		},
		Write: func(name, value string) string { return name + " = " + value },
	}.Set(old, wanted)
}
