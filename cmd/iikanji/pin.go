package main

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
)

// A pinning says which CPUs the load generator and the stack may use; nil
// lists mean all.
type pinning struct{ generator, stack []int }

// parsePin reads the value of --pin: "auto" gives the generator a quarter of
// the allowed CPUs, at least one, and the stack the others, when there are two
// or more; "off" pins nothing; "0/1" or "0-1/2-3" name both.
func parsePin(value string, allowed []int) (pinning, error) {
	switch value {
	case "off":
		return pinning{}, nil
	case "auto":
		if len(allowed) < 2 {
			return pinning{}, nil
		}
		n := max(len(allowed)/4, 1)
		return pinning{generator: allowed[:n], stack: allowed[n:]}, nil
	}
	left, right, ok := strings.Cut(value, "/")
	if !ok {
		return pinning{}, usageError("--pin %q: want auto, off, or generator/stack as in 0/1 or 0-1/2,3", value)
	}
	var p pinning
	var err error
	if p.generator, err = parseCPUs(left, allowed); err != nil {
		return p, err
	}
	p.stack, err = parseCPUs(right, allowed)
	return p, err
}

// parseCPUs reads a CPU list in the kernel's form, as in "0-2,5".
func parseCPUs(list string, allowed []int) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || a > b || b > 1<<16 {
			return nil, usageError("--pin: %q is no CPU list", list)
		}
		for c := a; c <= b; c++ {
			if !slices.Contains(allowed, c) {
				return nil, usageError("--pin: CPU %d is not one of those that may be used here: %s", c, cpuList(allowed))
			}
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// cpuList prints CPUs in the kernel's form; none means "all".
func cpuList(cpus []int) string {
	if len(cpus) == 0 {
		return "all"
	}
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, strconv.Itoa(cpus[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", cpus[i], cpus[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// allowedCPUs lists the CPUs that this process may use.
func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("asking for the allowed CPUs: %w", err)
	}
	var cpus []int
	for c := range 1024 {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

func (p pinning) placement() iikanji.Placement {
	return iikanji.Placement{Cores: runtime.NumCPU(), Generator: cpuList(p.generator), Stack: cpuList(p.stack)}
}
