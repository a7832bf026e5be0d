package promise

import "github.com/iikanji/iikanji"

// Database has the variables of MariaDB and MySQL. Values are in plain form:
// sizes in bytes, switches as ON and OFF or 1 and 0.
var Database = Table{
	// 1 and 3 sync the log at each commit. 2 writes it without a sync, which a
	// crash of the server survives and a crash of the machine does not; 0 does
	// not even write it.
	"innodb_flush_log_at_trx_commit": on(iikanji.Durability, ranked(map[string]int{"1": 2, "3": 2, "2": 1, "0": 0})),
	"innodb_doublewrite":             on(iikanji.Durability, switchedOff),
	"sync_binlog":                    on(iikanji.Durability, rarerSync),
	"log_bin":                        on(iikanji.Durability, switchedOff), // without it there is no recovery to a point in time
	"innodb_flush_method":            on(iikanji.Durability, ranked(map[string]int{"O_DIRECT": 1, "FSYNC": 1, "O_DSYNC": 1, "O_DIRECT_NO_FSYNC": 0})),

	// The join and sort algorithms read and write rows in the order of their
	// buffers: rows without an ORDER BY, or with equal keys, come in another
	// order (measured with join_buffer_size).
	"join_buffer_size":     on(iikanji.RowOrder, changed),
	"sort_buffer_size":     on(iikanji.RowOrder, changed),
	"read_rnd_buffer_size": on(iikanji.RowOrder, changed),
	// A grouped result without ORDER BY comes in the order of its temporary
	// table, and a table on disk has another order than one in memory.
	"tmp_table_size":      on(iikanji.RowOrder, changed),
	"max_heap_table_size": on(iikanji.RowOrder, changed),

	"performance_schema": on(iikanji.Observability, switchedOff),
	"slow_query_log":     on(iikanji.Observability, switchedOff),
	"long_query_time":    on(iikanji.Observability, raised),

	"max_connections":          on(iikanji.Availability, lowered),
	"back_log":                 on(iikanji.Availability, lowered),
	"innodb_lock_wait_timeout": on(iikanji.Availability, lowered), // statements give up earlier
	// Accounts whose host is a name no longer match any client.
	"skip_name_resolve": on(iikanji.Availability, switchedOn),

	"innodb_buffer_pool_size":    harmless("it caches pages; what is committed is in the redo log, and the plan bounds the memory"),
	"innodb_log_file_size":       harmless("a larger redo log is synced as before; only recovery takes longer"),
	"innodb_redo_log_capacity":   harmless("a larger redo log is synced as before; only recovery takes longer"),
	"innodb_log_buffer_size":     harmless("the buffer is written at each commit, whatever its size"),
	"innodb_flush_neighbors":     harmless("it changes which pages are written together, after they are in the redo log"),
	"innodb_io_capacity":         harmless("it changes how fast pages are written, after they are in the redo log"),
	"innodb_io_capacity_max":     harmless("it changes how fast pages are written, after they are in the redo log"),
	"innodb_lru_scan_depth":      harmless("it changes how many pages are kept free"),
	"innodb_read_io_threads":     harmless("threads that read pages; the result of a statement is the same"),
	"innodb_write_io_threads":    harmless("threads that write pages, after they are in the redo log"),
	"innodb_adaptive_hash_index": harmless("it finds the same rows by the same index"),
	"innodb_stats_on_metadata":   harmless("it only decides when statistics are read anew; which plan they lead to is free in any case"),
	"thread_cache_size":          harmless("it keeps threads for new connections"),
	"table_open_cache":           harmless("a table that is not open is opened"),
	"table_open_cache_instances": harmless("it divides the cache of open tables"),
	"table_definition_cache":     harmless("a definition that is not cached is read"),
	"read_buffer_size":           harmless("it changes how many bytes of a table are read at once, in the same order"),
	"key_buffer_size":            harmless("it caches index pages of MyISAM"),
	"aria_pagecache_buffer_size": harmless("it caches pages of Aria"),
	"query_cache_type":           harmless("a write drops the cached results of its tables before it returns"),
	"query_cache_size":           harmless("a write drops the cached results of its tables before it returns"),
}

// rarerSync reports a binary log that is synced after more commits than before;
// 0 never syncs it.
func rarerSync(before, after string) bool {
	is, ok := number(after)
	was, known := number(before)
	if !known {
		was = 1
	}
	return !ok || was != 0 && (is == 0 || is > was)
}
