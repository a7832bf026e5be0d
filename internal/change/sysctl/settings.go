package sysctl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/promise"
)

// A variable is a kernel variable that may be set from min to max. The bounds
// are the kernel's (Documentation/admin-guide/sysctl), narrowed to values with
// which a server works.
type variable struct {
	min, max uint64
	// pair: the value is two numbers, the smaller one first.
	pair bool
}

var variables = map[string]variable{
	"net.core.somaxconn":                 {min: 128, max: 65535},
	"net.core.netdev_max_backlog":        {min: 300, max: 1 << 20},
	portRange:                            {min: 1024, max: 65535, pair: true},
	"net.ipv4.tcp_tw_reuse":              {max: 2},
	"net.ipv4.tcp_max_syn_backlog":       {min: 128, max: 1 << 20},
	"net.ipv4.tcp_fin_timeout":           {min: 5, max: 120},
	"net.ipv4.tcp_max_tw_buckets":        {min: 4096, max: 1 << 22},
	"net.ipv4.tcp_slow_start_after_idle": {max: 1},
	"vm.swappiness":                      {max: 100},
	"vm.dirty_ratio":                     {min: 5, max: 90},
	"vm.dirty_background_ratio":          {min: 1, max: 80},
	"vm.dirty_expire_centisecs":          {min: 100, max: 60_000},
	"vm.dirty_writeback_centisecs":       {min: 100, max: 60_000},
	"fs.file-max":                        {min: 65536, max: 1 << 40},
}

// fewPorts is the minimum number of ports for outgoing connections.
const fewPorts = 10_000

// number matches a number without a sign or a leading zero, as the kernel shows
// it.
var number = regexp.MustCompile(`^(0|[1-9][0-9]{0,14})$`)

func checkVariable(name, value string) error {
	v, ok := variables[name]
	if !ok {
		return fmt.Errorf("variable %q is not one that may be set", name)
	}
	parts := []string{value}
	if v.pair {
		parts = strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '\t' })
	}
	n := make([]uint64, len(parts))
	for i, p := range parts {
		var err error
		if n[i], err = strconv.ParseUint(p, 10, 63); err != nil || !number.MatchString(p) || n[i] < v.min || n[i] > v.max {
			return fmt.Errorf("%s = %q: want a number from %d to %d", name, value, v.min, v.max)
		}
	}
	if v.pair && (len(n) != 2 || n[1] < n[0]+fewPorts) {
		return fmt.Errorf("%s = %q: want two numbers that are %d apart", name, value, fewPorts)
	}
	return nil
}

// weakened returns the promises that new values of settings weaken.
func weakened(t promise.Table, now, wanted map[string]string) []iikanji.Promise {
	var all []iikanji.Promise
	for name, value := range wanted {
		all = append(all, t.Of(name, now[name], value)...)
	}
	return promise.Join(all)
}

// limits are the limits of a process with their minimum; below it, a server does
// not start.
var limits = map[string]struct {
	min, max  uint64
	unlimited bool
}{
	"nofile":  {min: 1024, max: 1 << 20},
	"nproc":   {min: 1024, max: 1 << 22, unlimited: true},
	"core":    {max: 1 << 40, unlimited: true},
	"memlock": {max: 1 << 40, unlimited: true},
}

func checkLimit(name, value string) error {
	l, ok := limits[name]
	if !ok {
		return fmt.Errorf("limit %q is not one that may be set", name)
	}
	if value == "unlimited" && l.unlimited {
		return nil
	}
	if n, err := strconv.ParseUint(value, 10, 63); err != nil || !number.MatchString(value) || n < l.min || n > l.max {
		return fmt.Errorf("%s = %q: want a number from %d to %d", name, value, l.min, l.max)
	}
	return nil
}
