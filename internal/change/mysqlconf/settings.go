package mysqlconf

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
)

var (
	number = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,6})?$`)
	size   = regexp.MustCompile(`^[0-9]{1,12}[kKmMgG]?$`)
	onOff  = regexp.MustCompile(`^(?i:on|off|0|1)$`)
	zero3  = regexp.MustCompile(`^[0-3]$`)
	zero2  = regexp.MustCompile(`^[0-2]$`)
	off    = regexp.MustCompile(`^(?i:off|0)$`)
	method = regexp.MustCompile(`^(O_DIRECT|O_DIRECT_NO_FSYNC|fsync|O_DSYNC)$`)
)

// A setting is one variable that may be set.
type setting struct {
	form *regexp.Regexp
	// live: SET GLOBAL has the effect of a restart. The server must confirm it
	// too (the variable is dynamic, and connections have no value of their own).
	live bool
	// sensed: sensors set it for the duration of a run.
	sensed bool
	line   string        // in the drop-in file, if it differs from "name = value"
	belief change.Belief // if it differs from the usual one
	blinds bool          // its value decides which statements the sensors see
}

// settings are the variables that may be set. A remedy can come from any source,
// so none of them names a file, a plugin, a user or a network address. The
// ranges and steps of MariaDB 10.11 are read from the server (traits).
//
// Not live, although the server calls them dynamic:
//
//   - innodb_buffer_pool_size: the pool is still being resized after SET GLOBAL
//     has returned, and a resized pool is not filled like a fresh one;
//   - innodb_log_file_size: the log is rewritten in the background;
//   - innodb_io_capacity, …_max: setting one changes the other;
//   - max_connections, table_open_cache: a start lowers them to what the limit of
//     open files allows, SET GLOBAL does not;
//   - query_cache_size: a start with a size also turns the cache on;
//   - session variables: connections of the application's pool keep the old value.
//
// Not in the list: innodb_autoinc_lock_mode, with which the rows of one INSERT
// may get ids that are not consecutive, and no promise covers that; and
// skip_networking, because the application may need the network.
var settings = map[string]setting{
	"innodb_buffer_pool_size":        {form: size},
	"innodb_log_file_size":           {form: size},
	"innodb_redo_log_capacity":       {form: size}, // MySQL
	"innodb_log_buffer_size":         {form: size},
	"innodb_flush_log_at_trx_commit": {form: zero3, live: true, belief: change.Belief{Chance: 0.6, Gain: 0.12}},
	"innodb_doublewrite":             {form: onOff},
	"sync_binlog":                    {form: number, live: true},
	"log_bin":                        {form: off, line: "skip_log_bin"},
	"innodb_flush_method":            {form: method},
	"innodb_flush_neighbors":         {form: zero2, live: true},
	"innodb_io_capacity":             {form: number},
	"innodb_io_capacity_max":         {form: number},
	"innodb_lru_scan_depth":          {form: number, live: true},
	"innodb_read_io_threads":         {form: number},
	"innodb_write_io_threads":        {form: number},
	"innodb_adaptive_hash_index":     {form: onOff, live: true},
	"innodb_stats_on_metadata":       {form: onOff, live: true},
	"innodb_lock_wait_timeout":       {form: number},
	"max_connections":                {form: number},
	"back_log":                       {form: number},
	"thread_cache_size":              {form: number, live: true},
	"table_open_cache":               {form: number},
	"table_open_cache_instances":     {form: number},
	"table_definition_cache":         {form: number, live: true},
	"sort_buffer_size":               {form: size},
	"join_buffer_size":               {form: size},
	"read_buffer_size":               {form: size},
	"read_rnd_buffer_size":           {form: size},
	"tmp_table_size":                 {form: size},
	"max_heap_table_size":            {form: size},
	"key_buffer_size":                {form: size},
	"aria_pagecache_buffer_size":     {form: size},
	"query_cache_type":               {form: onOff},
	"query_cache_size":               {form: size, belief: change.Belief{Chance: 0.4, Gain: 0.04}},
	"skip_name_resolve":              {form: onOff},
	"performance_schema":             {form: onOff, blinds: true},
	"slow_query_log":                 {form: onOff, sensed: true, blinds: true},
	"long_query_time":                {form: number, sensed: true},
}

// check refuses a variable that may not be set, or a value that it may not have.
func check(name, value string) error {
	set, ok := settings[name]
	if !ok {
		return fmt.Errorf("variable %q is not one that may be set", name)
	}
	if !set.form.MatchString(value) {
		return fmt.Errorf("%s = %q: want %s", name, value, set.form)
	}
	if _, ok := bytesOf(value); set.form == size && !ok {
		return fmt.Errorf("%s = %q: larger than any server", name, value)
	}
	return nil
}

// weakened returns the promises that the values weaken. now are the present
// values. byName: an account of the server has a host's name.
func weakened(wanted, now map[string]string, byName bool) []iikanji.Promise {
	var all []iikanji.Promise
	for name, value := range wanted {
		if name == "skip_name_resolve" && !byName {
			continue
		}
		all = append(all, promise.Database.Of(name, plain(now[name]), plain(value))...)
	}
	return promise.Join(all)
}

// plain converts equal values to one spelling: 256M and 268435456, ON and 1.
func plain(v string) string {
	switch strings.ToUpper(v) {
	case "ON":
		return "1"
	case "OFF":
		return "0"
	}
	if n, ok := bytesOf(v); ok {
		return strconv.FormatInt(n, 10)
	}
	if f, err := strconv.ParseFloat(v, 64); err == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return v
}

// most is the largest number that is accepted: 1 PiB.
const most = 1 << 50

// bytesOf parses a whole number with a unit, up to most.
func bytesOf(v string) (int64, bool) {
	shift := 0
	if len(v) > 0 {
		switch v[len(v)-1] {
		case 'k', 'K':
			shift = 10
		case 'm', 'M':
			shift = 20
		case 'g', 'G':
			shift = 30
		}
	}
	if shift > 0 {
		v = v[:len(v)-1]
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 || n > most>>shift {
		return 0, false
	}
	return n << shift, true
}
