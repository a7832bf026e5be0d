package stack

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/machine/process"
)

// LimitsFile is a file of "name = value" lines. At each start of a service, each
// line sets a soft and a hard limit: nofile and nproc (counts), core and memlock
// (bytes, also with K, M or G). Each value may be "unlimited". The file is optional.
func (s *Stack) LimitsFile(service string) string {
	return s.dir.path(confDir, limitsDir, service+".conf")
}

// limitable maps names to resources. A service can still start with the limit least.
var limitable = map[string]struct {
	resource int
	least    uint64
	bytes    bool
}{
	"nofile":  {resource: unix.RLIMIT_NOFILE, least: 64},
	"nproc":   {resource: unix.RLIMIT_NPROC, least: 16},
	"core":    {resource: unix.RLIMIT_CORE, bytes: true},
	"memlock": {resource: unix.RLIMIT_MEMLOCK, bytes: true},
}

// limits reads a service's limits. It rejects limits that the kernel would
// refuse, while an error can still be returned to the caller.
func (f folder) limits(service string) ([]process.Limit, error) {
	lines, err := f.settings(confDir, limitsDir, service+".conf")
	if err != nil {
		return nil, fmt.Errorf("reading the limits of the %s: %w", service, err)
	}
	var all []process.Limit
	for _, l := range lines {
		one, err := parseLimit(l)
		if err == nil {
			err = possible(one)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the limits of the %s: %s: %w", service, l.at, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func parseLimit(s setting) (process.Limit, error) {
	kind, ok := limitable[s.name]
	if !ok {
		return process.Limit{}, fmt.Errorf("%q is not a limit; the limits are nofile, nproc, core and memlock", s.name)
	}
	l := process.Limit{Resource: kind.resource, Soft: unix.RLIM_INFINITY, Hard: unix.RLIM_INFINITY, Says: s.name + " = " + s.value}
	if s.value == "unlimited" {
		return l, nil
	}
	digits, unit := s.value, uint64(1)
	if i := strings.IndexAny("KMG", digits[max(0, len(digits)-1):]); kind.bytes && digits != "" && i >= 0 {
		digits, unit = digits[:len(digits)-1], 1<<(10*(i+1))
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > math.MaxInt64/unit {
		return process.Limit{}, fmt.Errorf("%s: want a number or unlimited", l.Says)
	}
	if l.Soft, l.Hard = n*unit, n*unit; l.Hard < kind.least {
		return process.Limit{}, fmt.Errorf("%s: want %d at least", l.Says, kind.least)
	}
	return l, nil
}

// possible checks whether this process may set a limit. Without CAP_SYS_RESOURCE
// the maximum is its own hard limit. With it there is no maximum, except
// fs.nr_open for open files.
func possible(l process.Limit) error {
	var ours unix.Rlimit
	if err := unix.Getrlimit(l.Resource, &ours); err != nil {
		return fmt.Errorf("%s: asking for ours: %w", l.Says, err)
	}
	most := ours.Max
	if mayRaise() {
		most = unix.RLIM_INFINITY
		if l.Resource == unix.RLIMIT_NOFILE {
			most = max(ours.Max, openFilesOfKernel())
		}
	}
	if l.Hard <= most {
		return nil
	}
	if most == ours.Max {
		return fmt.Errorf("%s: iikanji was started with a hard limit of %d; a higher limit is not possible here", l.Says, most)
	}
	return fmt.Errorf("%s: fs.nr_open allows %d; a higher limit is not possible here", l.Says, most)
}

// mayRaise reports whether this process may raise hard limits.
func mayRaise() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	return data[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}

// openFilesOfKernel returns fs.nr_open, or 0 if it cannot be read.
func openFilesOfKernel() uint64 {
	b, _ := os.ReadFile("/proc/sys/fs/nr_open")
	n, _ := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	return n
}
