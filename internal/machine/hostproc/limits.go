package hostproc

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Limit is a resource limit of a process, by its name in setrlimit(2). Soft and
// Hard are numbers or "unlimited".
type Limit struct{ Name, Soft, Hard string }

// limitNames are the limits that are read, by their names in /proc/PID/limits.
var limitNames = map[string]string{"Max open files": "nofile", "Max processes": "nproc", "Max core file size": "core", "Max locked memory": "memlock",
	"Max stack size": "stack", "Max address space": "as", "Max data size": "data", "Max file size": "fsize"}

// Limits reads the limits of a process for open files, processes and memory, as far as
// its kernel shows them. Everybody may read them; prlimit(2) asks for a right that root
// does not have in many containers.
func Limits(h host.Host, pid int) ([]Limit, error) {
	text, err := h.Read(file(pid, "limits"))
	if err != nil {
		return nil, fmt.Errorf("reading the limits of process %d: %w", pid, err)
	}
	return ParseLimits(string(text)), nil
}

// ParseLimits parses the content of /proc/PID/limits: name, soft and hard limit,
// unit, with at least two blanks between the columns.
func ParseLimits(text string) []Limit {
	var all []Limit
	for line := range strings.Lines(text) {
		shown, rest, ok := strings.Cut(line, "  ")
		columns := strings.Fields(rest)
		if name := limitNames[shown]; ok && name != "" && len(columns) > 1 {
			all = append(all, Limit{name, columns[0], columns[1]})
		}
	}
	return all
}
