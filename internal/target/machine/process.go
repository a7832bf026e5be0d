package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/host"
)

// A Process is one process as it runs.
type Process struct {
	PID, Parent int
	// Started is the start time in clock ticks since boot: with PID it identifies
	// the process, as ids are reused.
	Started uint64
	State   byte
	Name    string   // the kernel's short name
	Program string   // path of the executable, without " (deleted)"
	Deleted bool     // the executable was replaced or removed since the start
	Args    []string // with the program's name first
	Dir     string
	UID     int
	GID     int
	Groups  []int  // supplementary
	Unit    string // systemd service, from the control group; "" for none
}

// A Machine is what runs on a host at one moment.
type Machine struct {
	Host      host.Host
	Processes map[int]*Process
	Listens   []Listen
}

// Read reads all processes and listening sockets of a host.
func Read(h host.Host) (*Machine, error) {
	if h.ProcFolder() == "" {
		return nil, fmt.Errorf("listing the processes of %s: they cannot be read from here", h.Name())
	}
	entries, err := h.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing the processes: %w", err)
	}
	m := &Machine{Host: h, Processes: map[int]*Process{}}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, err := ReadProcess(h, pid); err == nil && p.State != 'Z' && p.State != 'X' && len(p.Args) > 0 {
			m.Processes[pid] = p
		}
	}
	return m, m.listen()
}

// ErrGone is the error of a process that has ended.
var ErrGone = errors.New("the process has ended")

// ReadProcess reads one process.
func ReadProcess(h host.Host, pid int) (*Process, error) {
	p := &Process{PID: pid}
	text, err := h.Read(p.file("stat"))
	if err != nil {
		return nil, ErrGone
	}
	if err := p.parseStat(string(text)); err != nil {
		return nil, err
	}
	if b, err := h.Read(p.file("cmdline")); err == nil {
		p.Args = arguments(string(b))
	}
	if b, err := h.Read(p.file("status")); err == nil {
		p.parseStatus(string(b))
	}
	if program, err := h.Readlink(p.file("exe")); err == nil {
		p.Program, p.Deleted = strings.CutSuffix(program, " (deleted)")
	}
	p.Dir, _ = h.Readlink(p.file("cwd")) // of another user's process it cannot be read
	if b, err := h.Read(p.file("cgroup")); err == nil {
		p.Unit = unitOf(string(b))
	}
	return p, nil
}

func (p *Process) file(name string) string {
	return filepath.Join("/proc", strconv.Itoa(p.PID), name)
}

// parseStat reads /proc/PID/stat. The name in parentheses may hold spaces and
// parentheses.
func (p *Process) parseStat(text string) error {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return fmt.Errorf("reading the state of process %d: %.40q", p.PID, text)
	}
	p.Name = text[open+1 : end]
	rest := strings.Fields(text[end+1:])
	const state, parent, started = 0, 1, 19
	if len(rest) <= started {
		return fmt.Errorf("reading the state of process %d: %.40q", p.PID, text)
	}
	p.State = rest[state][0]
	var err1, err2 error
	p.Parent, err1 = strconv.Atoi(rest[parent])
	p.Started, err2 = strconv.ParseUint(rest[started], 10, 64)
	return errors.Join(err1, err2)
}

// parseStatus reads the effective user and the groups.
func (p *Process) parseStatus(text string) {
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		words := strings.Fields(rest)
		switch {
		case name == "Uid" && len(words) > 1:
			p.UID, _ = strconv.Atoi(words[1])
		case name == "Gid" && len(words) > 1:
			p.GID, _ = strconv.Atoi(words[1])
		case name == "Groups":
			for _, w := range words {
				if g, err := strconv.Atoi(w); err == nil {
					p.Groups = append(p.Groups, g)
				}
			}
		}
	}
}

// arguments splits /proc/PID/cmdline. A process that has replaced its title, as
// nginx does, has one text padded with NUL bytes.
func arguments(text string) []string {
	text = strings.TrimRight(text, "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// unitOf is the service of a control group, as in
// "0::/system.slice/app.service".
func unitOf(text string) string {
	for line := range strings.Lines(text) {
		_, path, _ := strings.Cut(line, "::")
		for part := range strings.SplitSeq(strings.TrimSpace(path), "/") {
			if strings.HasSuffix(part, ".service") && !strings.HasPrefix(part, "user@") {
				return part
			}
		}
	}
	return ""
}

// Env is the environment of a process, as "K=V". It may hold secrets. The error
// is fs.ErrPermission for another user's process.
func Env(h host.Host, pid int) ([]string, error) {
	b, err := h.Read(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("reading the environment of process %d: %w", pid, err)
	}
	var out []string
	for kv := range strings.SplitSeq(string(b), "\x00") {
		if strings.Contains(kv, "=") {
			out = append(out, kv)
		}
	}
	return out, nil
}

// Alive reports whether the process still runs.
func (p *Process) Alive(h host.Host) bool {
	now, err := ReadProcess(h, p.PID)
	return err == nil && now.Started == p.Started && now.State != 'Z' && now.State != 'X'
}

// Command is the command line in one text.
func (p *Process) Command() string { return strings.Join(p.Args, " ") }

// Children lists the processes that a process has started, sorted by id.
func (m *Machine) Children(pid int) []*Process {
	var out []*Process
	for _, p := range m.Processes {
		if p.Parent == pid {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *Process) int { return a.PID - b.PID })
	return out
}
