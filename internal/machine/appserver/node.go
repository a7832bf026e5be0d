package appserver

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

var (
	// forks matches a use of the module cluster in a program of Node.js.
	forks = regexp.MustCompile(`\bcluster\s*\.\s*fork\s*\(`)
	// counted matches the variable that a program takes the number of its processes from.
	counted = regexp.MustCompile(`process\.env(?:\.|\[["'])([A-Z0-9_]*(?:WORKERS|CONCURRENCY|INSTANCES|PROCESSES)[A-Z0-9_]*)`)
	// defaultCount is the number that stands for a variable that is not set.
	defaultCount = regexp.MustCompile(`^["'\])]*\s*(?:\|\||\?\?)\s*["']?([0-9]{1,4})`)
)

// readNode finds the variable by which a program sizes its cluster. A program without
// one runs in one process, which no setting changes.
func (s *Setup) readNode(h host.Host, p *process) error {
	entry := ""
	for _, a := range p.args[1:] {
		if !strings.HasPrefix(a, "-") {
			entry = a
			break
		}
	}
	if entry == "" {
		return nil
	}
	if !filepath.IsAbs(entry) {
		entry = filepath.Join(p.dir, entry)
	}
	text, err := h.Read(entry)
	if err != nil {
		return fmt.Errorf("reading the entry script of process %d: %w", s.PID, err)
	}
	s.Workers = nodeWorkers(string(text), p.env)
	if s.Workers.Place == Unavailable {
		s.Workers.Now = s.Serves
	}
	return nil
}

// nodeWorkers is the setting of a program with cluster.
func nodeWorkers(text string, env map[string]string) Setting {
	names := counted.FindAllStringSubmatchIndex(text, -1)
	if !forks.MatchString(text) || len(names) == 0 {
		return Setting{1, Unavailable, ""}
	}
	first := names[0]
	name := text[first[2]:first[3]]
	for _, m := range names {
		if text[m[2]:m[3]] != name {
			return Setting{1, Unavailable, ""} // two variables: which one counts is not known
		}
	}
	value, set := env[name]
	if m := defaultCount.FindStringSubmatch(text[first[1]:]); !set && m != nil {
		value = m[1]
	}
	n, _ := strconv.Atoi(value) // 0 for a default that is computed
	return Setting{n, Variable, name}
}
