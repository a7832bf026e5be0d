package httpcache

import (
	"fmt"
	"regexp"
	"strconv"
)

// mostShare is the largest share of the available memory that a new cache may fill:
// the rest is for the app and the database, which grow under load.
const mostShare = 0.5

// A cache without a declared limit may keep a quarter of the available memory, in these
// bounds in MiB.
const leastMiB, mostMiB = 16, 256

var available = regexp.MustCompile(`(?m)^MemAvailable:\s+([0-9]{1,15}) kB$`)

// sizeOf is a quarter of the available memory in MiB, in the bounds of a cache.
func sizeOf(free int64, least int64) int64 { return max(least, min(mostMiB, free>>20/4)) }

// start is the content of the file that starts the cache: with the limit of its data if
// it declares none. It refuses to start a cache for which the host has too little memory.
func (t *task) start() ([]byte, error) {
	free, err := t.available()
	if err != nil {
		return nil, err
	}
	need, text := t.cache.Memory, ""
	if need == 0 {
		n := sizeOf(free, leastMiB)
		need, text = n<<20, fmt.Sprintf("mebibytes = %d\n", n)
	}
	if most := int64(mostShare * float64(free)); need > most {
		return nil, fmt.Errorf("service %q may keep %d MiB: more than half of the %d MiB that are available", t.cacheName, need>>20, free>>20)
	}
	return []byte(text), nil
}

// available is the available memory of the host in bytes.
func (t *task) available() (int64, error) {
	text, err := t.Read("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("reading the host's memory: %w", err)
	}
	m := available.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("the host's memory is unknown: /proc/meminfo has no MemAvailable")
	}
	free, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the host's memory: %w", err)
	}
	return free << 10, nil
}
