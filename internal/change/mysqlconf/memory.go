package mysqlconf

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// Memory that a server allocates once, and the most that each connection can
// allocate (MariaDB Knowledge Base, "MariaDB Memory Allocation").
var (
	takenOnce = []string{"innodb_buffer_pool_size", "innodb_log_buffer_size", "key_buffer_size", "query_cache_size", "aria_pagecache_buffer_size"}
	takenEach = []string{"sort_buffer_size", "join_buffer_size", "read_buffer_size", "read_rnd_buffer_size", "thread_stack", "net_buffer_length"}
)

// Limits of the server's memory: as a share of the machine's memory, and of the
// memory that other processes leave.
const (
	memoryShare = 0.8
	freeShare   = 0.9
)

// demand returns the most memory that a server with these variables can take.
// Only one in-memory temporary table is counted: few statements make a large
// one, and never all connections at once.
func demand(vars map[string]string) iikanji.Bytes {
	of := func(name string) float64 { // float64, because a product of two values can overflow an integer
		n, _ := bytesOf(vars[name])
		return float64(n)
	}
	sum := func(names []string) (total float64) {
		for _, name := range names {
			total += of(name)
		}
		return total
	}
	all := sum(takenOnce) + of("max_connections")*sum(takenEach) + min(of("max_heap_table_size"), of("tmp_table_size"))
	return iikanji.Bytes(min(all, math.MaxInt64/2))
}

// A machine is the memory from which the server may take a share.
type machine struct {
	total iikanji.Bytes // the machine's memory
	// free is the memory that other processes leave: what is available now, plus
	// what the server itself holds.
	free iikanji.Bytes
}

// most returns how much of the memory the server may take.
func (m machine) most() iikanji.Bytes {
	return min(iikanji.Bytes(memoryShare*float64(m.total)), iikanji.Bytes(freeShare*float64(m.free)))
}

// machineMemory reads /proc/meminfo and the server's /proc/PID/status; without
// the latter it counts 0 bytes for the server.
func machineMemory(meminfo, status []byte) (machine, error) {
	var m machine
	var err error
	if m.total, err = kilobytes(meminfo, "MemTotal"); err != nil {
		return m, err
	}
	if m.free, err = kilobytes(meminfo, "MemAvailable"); err != nil {
		return m, err
	}
	if own, err := kilobytes(status, "VmRSS"); err == nil {
		m.free += own
	}
	return m, nil
}

// kilobytes reads a line "name:   1234 kB".
func kilobytes(text []byte, name string) (iikanji.Bytes, error) {
	f := regexp.MustCompile(`(?m)^` + name + `:\s+([0-9]+) kB$`).FindSubmatch(text)
	if f == nil {
		return 0, fmt.Errorf("the machine's memory is unknown: /proc/meminfo has no %s", name)
	}
	n, err := strconv.ParseInt(string(f[1]), 10, 64)
	return iikanji.Bytes(n << 10), err
}

// budget refuses settings for which the memory or the disk is too small.
func budget(s *change.Site, on string, now, wanted map[string]string) error {
	h, err := s.On(on)
	if err != nil {
		return err
	}
	info, err := h.Read("/proc/meminfo")
	if err != nil {
		return fmt.Errorf("reading the machine's memory: %w", err)
	}
	memory, err := machineMemory(info, ownStatus(h, now))
	if err != nil {
		return err
	}
	then := maps.Clone(now)
	maps.Copy(then, wanted)
	if err := fits(now, then, memory); err != nil {
		return err
	}
	return disk(h, now, then)
}

// ownStatus returns /proc/PID/status of the server's process; nil if the server
// runs elsewhere.
func ownStatus(h host.Host, vars map[string]string) []byte {
	file := vars["pid_file"]
	if !filepath.IsAbs(file) {
		file = filepath.Join(vars["datadir"], file)
	}
	pid, err := h.Read(file)
	if err != nil {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		return nil
	}
	status, _ := h.Read(fmt.Sprintf("/proc/%d/status", n))
	return status
}

// fits refuses settings with which the server could exceed its memory. If it
// already could before, only an increase is refused.
func fits(now, then map[string]string, memory machine) error {
	if need := demand(then); need > memory.most() && need > demand(now) {
		return fmt.Errorf("the server could use %s (its buffers, and those of %s connections); %s is allowed: "+
			"%.0f %% of the machine's memory of %s, and %.0f %% of the %s that other processes leave free",
			need, then["max_connections"], memory.most(), 100*memoryShare, memory.total, 100*freeShare, memory.free)
	}
	return nil
}
