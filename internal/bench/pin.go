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

// gcPercent lets the heap grow to five times what is live before it is
// collected: a generator holds little and allocates much, and a collection
// takes its cores from the load.
const gcPercent = 400

// tune sets the runtime up for load; undo puts back what was.
func tune(cpus []int) (undo func(), err error) {
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

// pin keeps all threads of this process on some cores, as many Ps as there
// are. Threads made later inherit it.
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
			return nil, fmt.Errorf("core %d is none of those this process may use (%s)", c, cpuList(before))
		}
		set.Set(c)
	}
	procs := runtime.GOMAXPROCS(set.Count())
	undo = func() {
		_ = setAffinity(before) // was in force before, so it is allowed
		runtime.GOMAXPROCS(procs)
	}
	if err := setAffinity(&set); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// allowed is the set of cores that this process may use.
func allowed() (*unix.CPUSet, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		return nil, fmt.Errorf("asking which cores may be used: %w", err)
	}
	return &set, nil
}

// setAffinity pins every thread there is. A thread that is being made
// meanwhile has the mask of its maker, so two rounds catch all.
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

// AllowedCPUs lists the cores that this process may use.
func AllowedCPUs() ([]int, error) {
	set, err := allowed()
	if err != nil {
		return nil, err
	}
	return members(set), nil
}

// CPUList writes cores, which rise, as the kernel does, "0-3,6"; none are "all".
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
