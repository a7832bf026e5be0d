package livesite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A NotRunningError is a service without a process.
type NotRunningError struct {
	Service string
	By      string // how it was looked for
	Err     error  // why its machine could not be read; nil if it was
}

func (e *NotRunningError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("service %s: %v", e.Service, e.Err)
	}
	return fmt.Sprintf("service %s does not run: no process is found by %s", e.Service, e.By)
}

// Unwrap is why its machine could not be read.
func (e *NotRunningError) Unwrap() error { return e.Err }

// Hints tells what to do.
func (e *NotRunningError) Hints() []string {
	return []string{"start the site; as another user than the site's, run iikanji as root",
		"if the service runs, iikanji init shows where it listens now; correct " + target.Name}
}

// Find finds the root process of a service: by its unit, its address or socket,
// its file with a process id, or its program with arguments.
func Find(m *process.Machine, s *target.Service) (*process.Process, error) {
	switch {
	case s.Unit != "":
		if p := ofUnit(m, s.Unit); p != nil {
			return p, nil
		}
		return nil, &NotRunningError{Service: s.Name, By: "unit " + s.Unit}
	case s.Listen != "":
		if p := m.Owner(s.Listen); p != nil {
			return p, nil
		}
		return nil, &NotRunningError{Service: s.Name, By: "listen " + s.Listen}
	case s.Socket != "":
		if p := m.Owner(s.Socket); p != nil {
			return p, nil
		}
		return nil, &NotRunningError{Service: s.Name, By: "socket " + s.Socket}
	}
	if s.PIDFile != "" {
		if p := ofFile(m, s); p != nil {
			return p, nil
		}
	}
	if s.Program != "" {
		if p := ofProgram(m, s); p != nil {
			return p, nil
		}
		return nil, &NotRunningError{Service: s.Name, By: strings.TrimSpace("program " + s.Program + " " + s.Arguments)}
	}
	return nil, &NotRunningError{Service: s.Name, By: "pid_file " + s.PIDFile}
}

// ofUnit is the topmost process of a systemd unit.
func ofUnit(m *process.Machine, unit string) *process.Process {
	if !strings.Contains(unit, ".") {
		unit += ".service"
	}
	var found []*process.Process
	for _, p := range m.Processes {
		parent := m.Processes[p.Parent]
		if p.Unit == unit && (parent == nil || parent.Unit != unit) {
			found = append(found, p)
		}
	}
	return oldest(found)
}

// ofFile is the process whose id a file holds, if it runs the service's program.
func ofFile(m *process.Machine, s *target.Service) *process.Process {
	b, err := m.Host.Read(s.PIDFile)
	if err != nil {
		return nil
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return nil
	}
	p := m.Processes[pid]
	if p == nil || s.Program != "" && p.Program != s.Program {
		return nil // the id was given to another process since
	}
	return p
}

// ofProgram is the topmost process of a program with arguments.
func ofProgram(m *process.Machine, s *target.Service) *process.Process {
	real := s.Program
	if r, err := m.Host.RealPath(s.Program); err == nil {
		real = r
	}
	same := func(p *process.Process) bool {
		return p != nil && (p.Program == s.Program || p.Program == real) && (s.Arguments == "" || strings.Join(p.Args[1:], " ") == s.Arguments)
	}
	var found []*process.Process
	for _, p := range m.Processes {
		if same(p) && !same(m.Processes[p.Parent]) {
			found = append(found, p)
		}
	}
	return oldest(found)
}

func oldest(found []*process.Process) *process.Process {
	if len(found) == 0 {
		return nil
	}
	return slices.MinFunc(found, func(a, b *process.Process) int {
		if a.Started != b.Started {
			return int(int64(a.Started) - int64(b.Started))
		}
		return a.PID - b.PID
	})
}
