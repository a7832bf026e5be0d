package main

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
)

// A pinning is the CPUs that the load generator and the stack may use; a nil list
// means all CPUs.
type pinning struct{ generator, stack []int }

// parsePin reads the value of --pin: "auto" gives the generator a quarter of
// the allowed CPUs, at least one, and the stack the others, when there are two
// or more; "split" is the same, and an error with one CPU; "off" or "shared" pins
// nothing; "0/1" or "0-1/2-3" name both.
func parsePin(value string, allowed []int) (pinning, error) {
	switch value {
	case "off", "shared":
		return pinning{}, nil
	case "auto", "split":
		if len(allowed) < 2 && value == "split" {
			return pinning{}, usageError("--pin split: this process may use one CPU only")
		}
		if len(allowed) < 2 {
			return pinning{}, nil
		}
		n := max(len(allowed)/4, 1)
		return pinning{generator: allowed[:n], stack: allowed[n:]}, nil
	}
	left, right, ok := strings.Cut(value, "/")
	if !ok {
		return pinning{}, usageError("--pin %q: want auto, split, shared (off), or generator/stack as in 0/1 or 0-1/2,3", value)
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
			return nil, usageError("--pin: %q is not a CPU list", list)
		}
		for c := a; c <= b; c++ {
			if !slices.Contains(allowed, c) {
				return nil, usageError("--pin: CPU %d is not among the CPUs that this process may use: %s", c, bench.CPUList(allowed))
			}
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

func (p pinning) placement() iikanji.Placement {
	return iikanji.Placement{Cores: runtime.NumCPU(), Generator: bench.CPUList(p.generator), Stack: bench.CPUList(p.stack)}
}
