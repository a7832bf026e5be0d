package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// A Process is one process as it runs.
type Process struct {
	hostproc.Stat
	Program string   // path of the executable, without " (deleted)"
	Deleted bool     // the executable was replaced or removed since the start
	Args    []string // with the program's name first; or a title, see ShowsTitle
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

// ReadMachine reads all processes and listening sockets of a host.
func ReadMachine(h host.Host) (*Machine, error) {
	parts, err := machineTask().On(context.Background(), h, nothing{})
	if err != nil {
		return nil, err
	}
	return &Machine{Host: h, Processes: parts.Processes, Listens: parts.Listens}, nil
}

// readMachine reads the machine that the program runs on, or one whose /proc can be read
// here.
func readMachine(h host.Host) (*Machine, error) {
	if h.ProcFolder() == "" {
		return nil, fmt.Errorf("listing the processes of %s: they cannot be read from here", h.Name())
	}
	pids, err := hostproc.IDs(h)
	if err != nil {
		return nil, err
	}
	m := &Machine{Host: h, Processes: map[int]*Process{}}
	for _, pid := range pids {
		p, err := begun(h, pid)
		if err != nil || p.Ended() || len(p.Args) == 0 { // most have no arguments: the kernel's own
			continue
		}
		p.rest(h)
		m.Processes[pid] = p
	}
	return m, m.listen()
}

// ErrGone is the error of a process that has ended.
var ErrGone = errors.New("the process has ended")

// ReadProcess reads one process.
func ReadProcess(h host.Host, pid int) (*Process, error) {
	p, err := processTask().On(context.Background(), h, pid)
	if err != nil {
		return nil, err
	}
	return &p, nil
}

func readProcess(h host.Host, pid int) (Process, error) {
	p, err := begun(h, pid)
	if err != nil {
		return Process{}, err
	}
	p.rest(h)
	return *p, nil
}

// begun reads the state and the arguments of a process.
func begun(h host.Host, pid int) (*Process, error) {
	stat, err := hostproc.ReadStat(h, pid)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil, ErrGone
	} else if err != nil {
		return nil, err
	}
	p := &Process{Stat: stat}
	p.Args, _ = hostproc.Args(h, pid)
	return p, nil
}

// rest reads all but the state and the arguments.
func (p *Process) rest(h host.Host) {
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
}

func (p *Process) file(name string) string {
	return filepath.Join("/proc", strconv.Itoa(p.PID), name)
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
	env, err := hostproc.Env(h, pid)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("reading the environment of process %d: %w", pid, ErrGone)
	}
	return env, err
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
