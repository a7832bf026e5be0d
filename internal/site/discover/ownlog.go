package discover

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// ownLog is the log that a server writes whose configuration is not read: of the files that it
// and its children have open for writing the one whose name is the most likely, and of these the
// largest; "" if there is none. likely is 0 for a name that is no log.
func (s *search) ownLog(root int, likely func(path string) int) string {
	type log struct {
		path   string
		likely int
		size   int64
	}
	var logs []log
	for _, pid := range s.pids() {
		if !s.within(root, pid) {
			continue
		}
		open, err := hostproc.OpenFiles(s.host, pid)
		if err != nil { // of another user's process
			continue
		}
		for _, f := range open {
			info, err := s.host.Stat(f.Path)
			if n := likely(f.Path); err == nil && f.Write && n > 0 && info.Mode().IsRegular() {
				logs = append(logs, log{f.Path, n, info.Size()})
			}
		}
	}
	if len(logs) == 0 {
		return ""
	}
	return slices.MaxFunc(logs, func(a, b log) int { return cmp.Or(cmp.Compare(a.likely, b.likely), cmp.Compare(a.size, b.size)) }).path
}

// isAccessLog is how likely the name of a file is that of a site's access log. Debian's Apache
// has one more for virtual hosts without a log of their own.
func isAccessLog(path string) int {
	name := strings.ToLower(filepath.Base(path))
	switch {
	case strings.Contains(name, "access") && !strings.HasPrefix(name, "other_"):
		return 3
	case strings.Contains(name, "access"):
		return 2
	case filepath.Ext(name) == ".log" && !strings.Contains(name, "error"):
		return 1
	}
	return 0
}

// isStatementLog is 1 for the name of a log of PostgreSQL.
func isStatementLog(path string) int {
	if slices.Contains([]string{".log", ".csv", ".json"}, filepath.Ext(path)) {
		return 1
	}
	return 0
}
