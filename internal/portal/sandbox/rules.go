package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"time"
)

// Rules are what a program may use. They travel as JSON to the process that becomes it.
type Rules struct {
	// Allow are the addresses that it may exchange packets with; port 0 is every port.
	Allow []netip.AddrPort `json:"allow"`
	// Listen are ports at which it may take TCP connections of these addresses, from any port.
	Listen []uint16 `json:"listen,omitempty"`
	// Read are files and folders that it may read and execute, beside those of the system.
	Read []string `json:"read"`
	// Memory is of all its processes together, in bytes, with what is in its /tmp.
	Memory int64 `json:"memory"`
	// Processes is how many processes and threads it may have.
	Processes uint64 `json:"processes"`
	// Files is how many open files and sockets a process of it may have.
	Files uint64 `json:"files"`
	// Disk is the size of its private /tmp, in bytes.
	Disk int64 `json:"disk"`
	// CPU is the CPU time of each of its processes.
	CPU time.Duration `json:"cpu_ns"`
}

// mostAddresses bounds the filter: its program grows with the addresses.
const (
	mostAddresses = 256
	mostListen    = 8
)

// Check reports a mistake in rules.
func (r *Rules) Check() error {
	switch {
	case r.Memory < 1<<20 || r.Disk < 1<<12 || r.Processes < 1 || r.Files < 8 || r.CPU < time.Second:
		return errors.New("the limits of the sandbox are missing or too small")
	case len(r.Listen) > mostListen:
		return fmt.Errorf("it listens at %d ports, at most %d can be", len(r.Listen), mostListen)
	case len(r.Allow) > mostAddresses:
		return fmt.Errorf("%d addresses are allowed, at most %d can be", len(r.Allow), mostAddresses)
	}
	for _, a := range r.Allow {
		if !a.Addr().IsValid() || a.Addr().Zone() != "" || a.Addr().IsUnspecified() || a.Addr().IsMulticast() {
			return fmt.Errorf("%s is no address of a host", a)
		}
	}
	for _, port := range r.Listen {
		if port < 1024 {
			return fmt.Errorf("port %d is not one that a program without rights may listen at", port)
		}
	}
	for _, path := range r.Read {
		if !filepath.IsAbs(path) || filepath.Clean(path) == "/" {
			return fmt.Errorf("%q may not be opened to the program", path)
		}
	}
	return nil
}
