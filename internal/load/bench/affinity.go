package bench

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// gcPercent lets the heap grow to five times its live size before a collection.
// A generator holds little memory and allocates much, and a collection takes CPU
// time from the load.
const gcPercent = 400

// prepareRuntime configures the runtime for load. undo restores it.
func prepareRuntime(cpus []int) (undo func(), err error) {
	unpin, err := pin(cpus)
	if err != nil {
		return nil, err
	}
	percent := debug.SetGCPercent(gcPercent)
	return func() {
		debug.SetGCPercent(percent)
		unpin()
	}, nil
}

// pin restricts all threads of this process to some cores and sets GOMAXPROCS to
// their number. New threads inherit the restriction.
func pin(cpus []int) (undo func(), err error) {
	if len(cpus) == 0 {
		return func() {}, nil
	}
	before, err := allowed()
	if err != nil {
		return nil, err
	}
	var set unix.CPUSet
	for _, c := range cpus {
		if c < 0 || !before.IsSet(c) {
			return nil, fmt.Errorf("core %d is not one that this process may use (%s)", c, cpuList(before))
		}
		set.Set(c)
	}
	procs := runtime.GOMAXPROCS(set.Count())
	undo = func() {
		_ = setAffinity(before) // the former mask is allowed
		runtime.GOMAXPROCS(procs)
	}
	if err := setAffinity(&set); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// allowed returns the cores that this process may use.
func allowed() (*unix.CPUSet, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		return nil, fmt.Errorf("reading the allowed cores: %w", err)
	}
	return &set, nil
}

// setAffinity pins every thread of the process. A thread created meanwhile has
// the mask of its creator, so two rounds reach all threads.
func setAffinity(set *unix.CPUSet) error {
	for range 2 {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("listing threads: %w", err)
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			if err := unix.SchedSetaffinity(tid, set); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("pinning the generator to cores %s: %w", cpuList(set), err)
			}
		}
	}
	return nil
}

// AllowedCPUs returns the cores that this process may use.
func AllowedCPUs() ([]int, error) {
	set, err := allowed()
	if err != nil {
		return nil, err
	}
	return members(set), nil
}

// CPUList formats ascending cores like the kernel, as in "0-3,6"; an empty list
// is "all".
func CPUList(cpus []int) string {
	if len(cpus) == 0 {
		return "all"
	}
	var parts []string
	for i := 0; i < len(cpus); {
		last := i
		for last+1 < len(cpus) && cpus[last+1] == cpus[last]+1 {
			last++
		}
		if last == i {
			parts = append(parts, strconv.Itoa(cpus[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", cpus[i], cpus[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

func members(set *unix.CPUSet) (cpus []int) {
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus
}

func cpuList(set *unix.CPUSet) string { return CPUList(members(set)) }
