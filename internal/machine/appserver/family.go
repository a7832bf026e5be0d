package appserver

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// family reads the processes that answer requests and their memory.
func (s *Setup) family(h host.Host) {
	s.Children = workersOf(h, s.Server, s.PID)
	serving := s.Children
	if len(serving) == 0 {
		serving = []int{s.PID}
	}
	s.Serves = len(serving)
	for _, pid := range serving {
		s.Private = max(s.Private, privateOf(h, pid))
	}
}

// underPM2 reports whether pm2 has started a program of Node.js. The processes that answer
// requests are then the children of pm2 with the same command line.
func (s *Setup) underPM2(h host.Host, p *process) bool {
	stat, err := hostproc.ReadStat(h, s.PID)
	if err != nil {
		return false
	}
	title, err := hostproc.Title(h, stat.Parent)
	if err != nil || !strings.HasPrefix(title, "PM2 ") {
		return false
	}
	s.Server, s.Children, s.Serves = PM2, nil, 1
	children, err := hostproc.Forked(h, stat.Parent)
	if err != nil {
		return true
	}
	own := strings.Join(p.args, " ")
	for _, pid := range children {
		if line, err := hostproc.Title(h, pid); err == nil && line == own {
			s.Children = append(s.Children, pid)
		}
	}
	s.Serves = max(1, len(s.Children))
	return true
}

// workersOf are the children of a master that answer requests.
func workersOf(h host.Host, s Server, master int) []int {
	children, err := hostproc.Forked(h, master)
	if err != nil {
		return nil
	}
	var out []int
	for _, pid := range children {
		line, err := hostproc.Title(h, pid)
		if err == nil && isWorker(s, line) {
			out = append(out, pid)
		}
	}
	return out
}

// isWorker reports whether the command line of a master's child is that of a worker.
func isWorker(s Server, line string) bool {
	switch s {
	case Puma:
		return strings.HasPrefix(line, "puma: cluster worker")
	case Unicorn:
		return strings.HasPrefix(line, "unicorn worker")
	case Uvicorn: // the child that tracks shared memory serves nothing
		return strings.Contains(line, "multiprocessing.spawn")
	case Gunicorn:
		return strings.Contains(line, "gunicorn")
	case Node:
		return strings.HasPrefix(filepath.Base(strings.SplitN(line, " ", 2)[0]), "node")
	}
	return strings.Contains(line, "node") || strings.Contains(line, "bun")
}

// privateOf is the anonymous memory of a process in bytes. Pages that a fork shares
// until they are written are part of it: it is an upper bound.
func privateOf(h host.Host, pid int) int64 {
	text, err := h.Read(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	return kilobytes(string(text), "RssAnon:")
}

// Available is the memory in bytes that processes can still take, and all memory.
func Available(h host.Host) (free, total int64, err error) {
	text, err := h.Read("/proc/meminfo")
	if err != nil {
		return 0, 0, fmt.Errorf("reading the memory of the machine: %w", err)
	}
	return kilobytes(string(text), "MemAvailable:"), kilobytes(string(text), "MemTotal:"), nil
}

func kilobytes(text, name string) int64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64) // 0 if it is no number
			return n << 10
		}
	}
	return 0
}
