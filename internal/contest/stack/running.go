package stack

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// Processes are those of a work folder's stack at one moment.
type Processes struct {
	// Services are in the order of their start.
	Services []ServiceProcess
	Owner    int // the process that brought the stack up; 0 if it cannot be seen
}

// A ServiceProcess is the root process of a service.
type ServiceProcess struct {
	Name string
	PID  int // 0 while the service is down
}

// Running returns the processes of a work folder's stack at this moment, nothing
// if no stack runs. It takes no lock and changes nothing. A caller that watches a
// stack must call it again, because a restarted service has another process.
func Running(dir string) (Processes, error) {
	rec, ok, err := readRecord(filepath.Join(dir, processesFile))
	if err != nil {
		return Processes{}, err
	}
	if !ok || rec.Boot != process.Boot() || !rec.Supervisor.Alive() {
		return Processes{}, nil // the record of a crashed instance
	}
	names := folder{root: dir}.lastState().Services
	for _, name := range slices.Sorted(maps.Keys(rec.Services)) { // started on demand since
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var all Processes
	for _, name := range names {
		p := ServiceProcess{Name: name}
		if known := rec.Services[name]; known.Alive() {
			p.PID = known.PID
		}
		all.Services = append(all.Services, p)
	}
	if l, err := os.Open(filepath.Join(dir, lockFile)); err == nil {
		if p := lockOwner(l); p.Alive() {
			all.Owner = p.PID
		}
		_ = l.Close() // the file was only read
	}
	return all, nil
}

// Up reports whether any process of the stack runs.
func (p Processes) Up() bool {
	return p.Owner != 0 || slices.ContainsFunc(p.Services, func(s ServiceProcess) bool { return s.PID != 0 })
}

// OwnerCommand returns the subcommand that an owner was started with, as in
// "bench" or "up", or "" if it cannot be determined.
func OwnerCommand(pid int) string {
	args, err := hostproc.Args(host.Local{}, pid)
	if err != nil || len(args) == 0 {
		return ""
	}
	for _, arg := range args[1:] {
		if arg != "" && arg[0] != '-' {
			return arg
		}
	}
	return ""
}
