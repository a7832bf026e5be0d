package httpcache

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// mostShare is the largest share of the available memory that a new cache may fill:
// the rest is for the app and the database, which grow under load.
const mostShare = 0.5

// unstated is the storage of a Varnish that declares none: varnishd's default.
const unstated = 100 << 20

var available = regexp.MustCompile(`(?m)^MemAvailable:\s+([0-9]{1,15}) kB$`)

// fits refuses to start a cache for which the host has too little memory.
func (t *task) fits() error {
	free, err := t.available()
	if err != nil {
		return err
	}
	need := cmp.Or(t.cache.Memory, unstated)
	if most := int64(mostShare * float64(free)); need > most {
		return fmt.Errorf("service %q may keep %d MiB: more than half of the %d MiB that are available", t.cacheName, need>>20, free>>20)
	}
	return nil
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
