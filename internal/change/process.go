package change

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hostproc"
)

// A Process is a running process of a host, as /proc shows it.
type Process struct {
	PID, Parent int
	Title       string        // the words of its command line with blanks between them
	Started     time.Duration // since the start of the host, in steps of 10 ms
}

// ReadProcess reads one process of a host.
func ReadProcess(h host.Host, pid int) (Process, error) {
	stat, err := hostproc.ReadStat(h, pid)
	if err != nil {
		return Process{PID: pid}, err
	}
	return titled(h, stat)
}

func titled(h host.Host, stat hostproc.Stat) (p Process, err error) {
	p = Process{PID: stat.PID, Parent: stat.Parent, Started: time.Duration(stat.Started) * (time.Second / hostproc.TicksPerSecond)}
	p.Title, err = hostproc.Title(h, stat.PID)
	return p, err
}

// Children are the running children of a process. One that ends meanwhile is left out.
func Children(h host.Host, pid int) ([]Process, error) {
	stats, err := hostproc.Stats(h)
	if err != nil {
		return nil, fmt.Errorf("looking for the children of process %d: %w", pid, err)
	}
	var all []Process
	for _, stat := range stats {
		if stat.Parent != pid {
			continue
		}
		if p, err := titled(h, stat); err == nil {
			all = append(all, p)
		}
	}
	return all, nil
}
