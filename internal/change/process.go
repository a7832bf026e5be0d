package change

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/host"
)

// A Process is a running process of a host, as /proc shows it.
type Process struct {
	PID, Parent int
	Title       string        // the words of its command line with blanks between them
	Started     time.Duration // since the start of the host, in steps of 10 ms
}

// clockTicks is the unit of times in /proc/PID/stat: USER_HZ, which is 100 on every
// architecture that Linux gives to user space.
const clockTicks = 100

// ReadProcess reads one process of a host.
func ReadProcess(h host.Host, pid int) (Process, error) {
	p := Process{PID: pid}
	stat, err := h.Read(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, fmt.Errorf("reading process %d: %w", pid, err)
	}
	_, rest, _ := strings.Cut(string(stat[max(strings.LastIndexByte(string(stat), ')'), 0):]), ") ")
	f := strings.Fields(rest) // from the third field on: state, ppid, …
	if len(f) < 20 {
		return p, fmt.Errorf("reading process %d: its stat has %d fields", pid, len(f)+2)
	}
	ticks, err := strconv.ParseInt(f[19], 10, 64)
	if err == nil {
		p.Parent, err = strconv.Atoi(f[1])
	}
	if err != nil {
		return p, fmt.Errorf("reading process %d: %w", pid, err)
	}
	p.Started = time.Duration(ticks) * (time.Second / clockTicks)
	title, err := h.Read(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return p, fmt.Errorf("reading process %d: %w", pid, err)
	}
	p.Title = strings.TrimSpace(strings.ReplaceAll(string(title), "\x00", " "))
	return p, nil
}

// Children are the running children of a process. One that ends meanwhile is left out.
func Children(h host.Host, pid int) ([]Process, error) {
	entries, err := h.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing the processes: %w", err)
	}
	var all []Process
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // not a process
		}
		if p, err := ReadProcess(h, id); err == nil && p.Parent == pid {
			all = append(all, p)
		}
	}
	return all, nil
}
