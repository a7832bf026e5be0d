package stack

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// LimitsFile is a file of "name = value" lines. At each start of a service, each
// line sets a soft and a hard limit: nofile and nproc (counts), core and memlock
// (bytes, also with K, M or G). Each value may be "unlimited". The file is optional.
func (s *Stack) LimitsFile(service string) string {
	return s.dir.path(confDir, limitsDir, service+".conf")
}

// A limit is a resource of setrlimit(2) with its value, for soft and hard limit.
type limit struct {
	Resource int
	Max      uint64
	Says     string // as in "nofile = 65536"
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
func (f folder) limits(service string) ([]limit, error) {
	lines, err := f.settings(confDir, limitsDir, service+".conf")
	if err != nil {
		return nil, fmt.Errorf("reading the limits of the %s: %w", service, err)
	}
	var all []limit
	for _, l := range lines {
		one, err := parseLimit(l)
		if err == nil {
			err = one.possible()
		}
		if err != nil {
			return nil, fmt.Errorf("reading the limits of the %s: %s: %w", service, l.at, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func parseLimit(s setting) (limit, error) {
	kind, ok := limitable[s.name]
	if !ok {
		return limit{}, fmt.Errorf("%q is not a limit; the limits are nofile, nproc, core and memlock", s.name)
	}
	l := limit{Resource: kind.resource, Max: unix.RLIM_INFINITY, Says: s.name + " = " + s.value}
	if s.value == "unlimited" {
		return l, nil
	}
	digits, unit := s.value, uint64(1)
	if i := strings.IndexAny("KMG", digits[max(0, len(digits)-1):]); kind.bytes && digits != "" && i >= 0 {
		digits, unit = digits[:len(digits)-1], 1<<(10*(i+1))
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || n > math.MaxInt64/unit {
		return limit{}, fmt.Errorf("%s: want a number or unlimited", l.Says)
	}
	if l.Max = n * unit; l.Max < kind.least {
		return limit{}, fmt.Errorf("%s: want %d at least", l.Says, kind.least)
	}
	return l, nil
}

// possible checks whether this process may set a limit. Without CAP_SYS_RESOURCE
// the maximum is its own hard limit. With it there is no maximum, except
// fs.nr_open for open files.
func (l limit) possible() error {
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
	if l.Max <= most {
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

// limitedName is argv[0] of this binary when it runs only between fork and exec
// of a process with limits. The supervisor cannot set the limits on itself: a
// lowered hard limit cannot be raised again. Setting them after exec is too late
// for programs that read their limits at the start.
const limitedName = "iikanji-limited"

// A limitedStart is the input of that step, as JSON in argv[1].
type limitedStart struct {
	Limits     []limit
	Supervisor int
	Path       string
	Args       []string
	Drop       bool
	UID, GID   int
}

// become sets the limits while it has the rights to, changes to the account, then
// executes the program. The pid stays the one that the supervisor forked.
func (l limitedStart) become() error {
	runtime.LockOSThread() // the parent-death signal belongs to this thread
	for _, one := range l.Limits {
		// Not unix.Setrlimit: the runtime must notice the change, or exec restores
		// the nofile limit that the runtime saved.
		if err := syscall.Setrlimit(one.Resource, &syscall.Rlimit{Cur: one.Max, Max: one.Max}); err != nil {
			return fmt.Errorf("setting %s: %w", one.Says, err)
		}
	}
	if l.Drop {
		for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(l.GID), syscall.Setuid(l.UID)} {
			if err != nil {
				return fmt.Errorf("becoming user %d: %w", l.UID, err)
			}
		}
	}
	// Changing the user has cleared the parent-death signal.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0); err != nil {
		return fmt.Errorf("asking for the signal of the supervisor's death: %w", err)
	}
	if os.Getppid() != l.Supervisor {
		return fmt.Errorf("the supervisor is gone")
	}
	return fmt.Errorf("executing %s: %w", l.Path, syscall.Exec(l.Path, append([]string{l.Path}, l.Args...), os.Environ()))
}

// limited runs that step if this process was started for it, and then never returns.
func limited() {
	if len(os.Args) != 2 || os.Args[0] != limitedName {
		return
	}
	var l limitedStart
	err := json.Unmarshal([]byte(os.Args[1]), &l)
	if err == nil {
		err = l.become()
	}
	fmt.Fprintln(os.Stderr, "iikanji:", err)
	os.Exit(126)
}

// through returns the spec that starts the process with that step in between.
func (sp spec) through(supervisor int) (spec, error) {
	b, err := json.Marshal(limitedStart{sp.Limits, supervisor, sp.Path, sp.Args, sp.Drop, sp.UID, sp.GID})
	if err != nil {
		return sp, err
	}
	sp.Path, sp.Args, sp.Drop = "/proc/self/exe", []string{string(b)}, false
	return sp, nil
}
