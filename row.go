package iikanji

import (
	"time"
)

// A Row is one route, query digest or resource.
type Row struct {
	Key    string        `json:"key"`
	Count  int64         `json:"count"`
	Errors int64         `json:"errors,omitempty"`
	Total  time.Duration `json:"total_ns"`
	Share  float64       `json:"share"` // of the profile's Total, 0..1
	Mean   time.Duration `json:"mean_ns"`
	Stddev time.Duration `json:"stddev_ns"`
	Min    time.Duration `json:"min_ns"`
	P50    time.Duration `json:"p50_ns"`
	P90    time.Duration `json:"p90_ns"`
	P95    time.Duration `json:"p95_ns"`
	P99    time.Duration `json:"p99_ns"`
	Max    time.Duration `json:"max_ns"`
	// Untimed is set if the log has no times of the row's events: the times are unknown, and JSON
	// leaves them out.
	Untimed bool `json:"untimed,omitempty"`
	// Percentiles are those that the user selected, by name ("p99.9").
	Percentiles map[string]time.Duration `json:"percentiles_ns,omitempty"`
	// Time is the serialised sketch of the durations (package tally). With it,
	// saved profiles can be merged.
	Time []byte `json:"time,omitempty"`

	Web   *WebRow `json:"web,omitempty"`   // of Access rows
	Query *SQLRow `json:"query,omitempty"` // of Slow rows
	Log   *LogRow `json:"log,omitempty"`   // of Errors rows

	Host *HostRow `json:"host,omitempty"` // of Host rows

	Example Sighting `json:"example,omitzero"` // the slowest request, statement or line

	PerSecond *PerSecond `json:"per_second,omitempty"` // by second, only on request
	Ticks     *Ticks     `json:"ticks,omitempty"`      // only on request
}

// A PerSecond holds counts by second: Counts[i] is for the second From+i of Unix time.
type PerSecond struct {
	From   int64   `json:"from"`
	Counts []int32 `json:"counts"`
}

// Ticks are when the events of a row happened, in equal intervals (ticks) of a
// load. An event is spread evenly over the time in which it ran: a statement over
// its execution, a request over its time if the log has it, otherwise over the
// time in which it may have ended.
type Ticks struct {
	From   time.Time     `json:"from"` // of the first tick
	Step   time.Duration `json:"step_ns"`
	Counts []int64       `json:"counts"` // in thousandths of an event; ticks after the last one are 0
}

// A Sighting is one line or statement of a log, with its position.
type Sighting struct {
	Text string        `json:"text"`
	File string        `json:"file,omitempty"`
	Line int64         `json:"line,omitempty"` // from 1
	Took time.Duration `json:"took_ns,omitempty"`
}

// A WebRow is the data of an access log beyond counts and times.
type WebRow struct {
	Method      string        `json:"method,omitempty"`
	Status      [6]int64      `json:"status"` // by class: [1]=1xx … [5]=5xx, [0]=other
	Bytes       Bytes         `json:"bytes"`
	MaxBytes    Bytes         `json:"max_bytes"`
	Upstream    time.Duration `json:"upstream_ns,omitempty"`
	Upstreams   int64         `json:"upstreams,omitempty"` // lines with an upstream time
	ReqBytes    Bytes         `json:"request_bytes,omitempty"`
	MaxReqBytes Bytes         `json:"max_request_bytes,omitempty"`
}

// A SQLRow is the data of a statement log beyond counts and times.
type SQLRow struct {
	Digest      string        `json:"digest"` // 16 hex digits of the fingerprint
	Fingerprint string        `json:"fingerprint"`
	DB          string        `json:"db,omitempty"`
	Tables      []string      `json:"tables,omitempty"`
	Lock        time.Duration `json:"lock_ns"`
	Sent        int64         `json:"rows_sent"`
	MaxSent     int64         `json:"max_rows_sent"`
	Examined    int64         `json:"rows_examined"`
	MaxExamined int64         `json:"max_rows_examined"`
	Affected    int64         `json:"rows_affected,omitempty"`
	NoSent      bool          `json:"rows_sent_unknown,omitempty"`     // the source does not count rows sent
	NoExamined  bool          `json:"rows_examined_unknown,omitempty"` // … rows examined
	BytesSent   Bytes         `json:"bytes_sent,omitempty"`
	FullScan    int64         `json:"full_scan,omitempty"`
	FullJoin    int64         `json:"full_join,omitempty"`
	Filesort    int64         `json:"filesort,omitempty"`
	TmpTable    int64         `json:"tmp_table,omitempty"`
	TmpDisk     int64         `json:"tmp_table_on_disk,omitempty"`
	VM          float64       `json:"variance_to_mean"` // in seconds, as in pt-query-digest
	Typical     Sighting      `json:"typical,omitzero"` // a statement near the median

	// Cached counts the executions that the server's query cache answered: they
	// examined no row.
	Cached int64 `json:"cached,omitempty"`

	// Prepares counts the Prepare commands that a thread sent right before this
	// statement; PrepareTime is the time of these commands and of their Close.
	Prepares    int64         `json:"prepares,omitempty"`
	PrepareTime time.Duration `json:"prepare_ns,omitempty"`

	// Decades counts executions by time: [0] under 10 µs, then under 100 µs,
	// 1 ms, 10 ms, 100 ms, 1 s, 10 s, and [7] from 10 s on. All are 0 if the
	// source keeps only sums.
	Decades [8]int64 `json:"decades"`

	DBs     []Named  `json:"dbs,omitempty"` // most frequent first, as Users and Hosts
	Users   []Named  `json:"users,omitempty"`
	Hosts   []Named  `json:"hosts,omitempty"`
	Spreads []Spread `json:"spreads,omitempty"`
}

// NoLock reports whether the source of the row has no times of locks: sources without rows
// examined have none either.
func (q SQLRow) NoLock() bool { return q.NoExamined && q.Lock == 0 }

// MarshalJSON leaves out the numbers of rows and the time of locks that the source of the row
// does not have.
func (q SQLRow) MarshalJSON() ([]byte, error) {
	type plain SQLRow
	if !q.NoSent && !q.NoExamined {
		return marshal(plain(q))
	}
	out := struct {
		plain
		Sent        *int64         `json:"rows_sent,omitempty"`
		MaxSent     *int64         `json:"max_rows_sent,omitempty"`
		Examined    *int64         `json:"rows_examined,omitempty"`
		MaxExamined *int64         `json:"max_rows_examined,omitempty"`
		Lock        *time.Duration `json:"lock_ns,omitempty"`
	}{plain: plain(q)}
	if !q.NoSent {
		out.Sent, out.MaxSent = &q.Sent, &q.MaxSent
	}
	if !q.NoExamined {
		out.Examined, out.MaxExamined = &q.Examined, &q.MaxExamined
	}
	if !q.NoLock() {
		out.Lock = &q.Lock
	}
	return marshal(out)
}

// A Named is a name with its count.
type Named struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// A Spread is the distribution of a quantity of a row other than its time: "lock"
// in nanoseconds, "rows_sent", "rows_examined", "rows_affected" in rows,
// "bytes_sent" in bytes.
type Spread struct {
	Name   string `json:"name"`
	Sum    int64  `json:"sum"`
	Min    int64  `json:"min"`
	Max    int64  `json:"max"`
	Mean   int64  `json:"mean"`
	P50    int64  `json:"p50"`
	P95    int64  `json:"p95"`
	Stddev int64  `json:"stddev"`
	Sketch []byte `json:"sketch,omitempty"` // as in Row.Time
}

// A LogRow is the data of an error log about one kind of message, beyond its
// count.
type LogRow struct {
	Level string `json:"level"` // debug, info, notice, warn, error, crit, alert, emerg, or "" if the log has no levels
	// Kind is the stable name of a message with a known meaning, as in
	// "body-spilled"; "" for all others. Package errorlog lists the names.
	Kind    string `json:"kind,omitempty"`
	Message string `json:"message"` // numbers, addresses and quoted values are replaced by placeholders
	Bytes   Bytes  `json:"bytes"`   // of all its lines
	// Routes are the requests named in the messages, most frequent first;
	// identifiers in their paths are replaced by placeholders.
	Routes []Named `json:"routes,omitempty"`
}

// A HostRow is the resource use of one service on a host during a run, or, in
// the row with the key "host", of the whole host. CPU times are sums over the
// whole run and all cores.
type HostRow struct {
	User   time.Duration `json:"user_ns"`
	System time.Duration `json:"system_ns"`
	// Peak is the largest number of cores used in one interval.
	Peak      float64 `json:"peak_cores"`
	Switches  int64   `json:"context_switches"`
	Read      Bytes   `json:"read"` // from and to disk
	Written   Bytes   `json:"written"`
	PeakRSS   Bytes   `json:"peak_rss,omitempty"`
	Processes int     `json:"processes,omitempty"` // largest number at one time, like Threads
	Threads   int     `json:"threads,omitempty"`
	// FDs is the largest number of descriptors of one process, FDLimit the limit
	// of that process.
	FDs     int   `json:"descriptors,omitempty"`
	FDLimit int64 `json:"descriptor_limit,omitempty"`
	Sockets int   `json:"sockets,omitempty"` // largest number at one time
	// Busiest is the sum over the intervals of the CPU time of the busiest thread
	// of each interval.
	Busiest time.Duration `json:"busiest_thread_ns,omitempty"`
	// Programs are the programs of the row "other" with the most CPU time, by name.
	Programs []Usage `json:"programs,omitempty"`

	Machine *MachineRow `json:"machine,omitempty"` // of the row "host"
}

// A MachineRow is the data that only a whole host has, not a service.
type MachineRow struct {
	Cores  int           `json:"cores"`
	Wall   time.Duration `json:"wall_ns"` // time that the samples cover
	IOWait time.Duration `json:"iowait_ns"`
	Steal  time.Duration `json:"steal_ns"`
	Idle   time.Duration `json:"idle_ns"`
	// The CPU use, in cores, of the half of the samples, one after the other, in which it was
	// greatest: of the whole machine, and of the services. A benchmarker may prepare and check
	// for much of the time, which lowers the mean. 0 where it is not known.
	BusyHalf     float64 `json:"busy_half,omitempty"`
	ServicesHalf float64 `json:"services_half,omitempty"`
	// Runnable is the mean number of processes that ran or waited for a core.
	Runnable float64 `json:"runnable"`
	// The pressures are the shares of the time in which at least one process
	// waited for the resource (PSI "some"), 0..1.
	PressureCPU    float64 `json:"pressure_cpu"`
	PressureIO     float64 `json:"pressure_io"`
	PressureMemory float64 `json:"pressure_memory"`

	MemTotal Bytes `json:"mem_total"`
	MemLeast Bytes `json:"mem_least_available"`
	SwapUsed Bytes `json:"swap_used"` // largest value
	SwapIn   Bytes `json:"swap_in"`
	SwapOut  Bytes `json:"swap_out"`

	DiskReads   int64 `json:"disk_reads"`
	DiskWrites  int64 `json:"disk_writes"`
	DiskFlushes int64 `json:"disk_flushes"`
	// DiskBusy is the share of the time, summed over devices.
	DiskBusy  float64       `json:"disk_busy"`
	ReadTook  time.Duration `json:"disk_read_ns"` // mean time of one operation, like the next two
	WriteTook time.Duration `json:"disk_write_ns"`
	FlushTook time.Duration `json:"disk_flush_ns"`

	// ListenDrops counts the connections that the kernel dropped for any reason,
	// ListenOverflows those that it dropped because a socket's queue was full.
	// Both counts are for the whole network namespace.
	ListenDrops     int64 `json:"listen_drops"`
	ListenOverflows int64 `json:"listen_overflows"`
	Retransmits     int64 `json:"retransmits"`
}
