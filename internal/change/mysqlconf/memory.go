package mysqlconf

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/iikanji/iikanji"
)

// What a server takes once, and what each connection may take at its worst
// (MariaDB Knowledge Base, "MariaDB Memory Allocation").
var (
	takenOnce = []string{"innodb_buffer_pool_size", "innodb_log_buffer_size", "key_buffer_size", "query_cache_size", "aria_pagecache_buffer_size"}
	takenEach = []string{"sort_buffer_size", "join_buffer_size", "read_buffer_size", "read_rnd_buffer_size", "thread_stack", "net_buffer_length"}
)

// memoryShare is how much of the machine's memory a server may be able to take.
const memoryShare = 0.8

// demand is the memory that a server with these variables takes at its worst.
func demand(vars map[string]string) iikanji.Bytes {
	sum := func(names []string) (total int64) {
		for _, name := range names {
			n, _ := bytesOf(vars[name])
			total += n
		}
		return total
	}
	connections, _ := bytesOf(vars["max_connections"])
	return iikanji.Bytes(sum(takenOnce) + connections*sum(takenEach))
}

var memTotal = regexp.MustCompile(`(?m)^MemTotal: +([0-9]+) kB$`)

// machineMemory reads /proc/meminfo.
func machineMemory(meminfo []byte) (iikanji.Bytes, error) {
	m := memTotal.FindSubmatch(meminfo)
	if m == nil {
		return 0, fmt.Errorf("the machine does not tell its memory")
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	return iikanji.Bytes(n << 10), err
}

// fits refuses settings by which the server could outgrow the machine. A
// server that could already may go on as long as it does not get worse.
func fits(now, then map[string]string, memory iikanji.Bytes) error {
	most := iikanji.Bytes(memoryShare * float64(memory))
	if need := demand(then); need > most && need > demand(now) {
		return fmt.Errorf("the server could take %s (buffers, and %s connections with theirs); %.0f %% of the machine's memory are %s",
			need, then["max_connections"], 100*memoryShare, most)
	}
	return nil
}
