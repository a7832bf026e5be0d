package iikanji

import "time"

// A LogRow is what an error log knows of one kind of message, beyond how often
// it came.
type LogRow struct {
	Level string `json:"level"` // debug, info, notice, warn, error, crit, alert, emerg, or "" where the log has none
	// Kind is the stable name of a message whose meaning is known, as in
	// "body-spilled"; "" for all others. Package errorlog lists them.
	Kind    string `json:"kind,omitempty"`
	Message string `json:"message"` // numbers, addresses and quoted values folded
	Bytes   Bytes  `json:"bytes"`   // of all its lines
	// Routes are the requests that the messages name, most frequent first;
	// identifiers in their paths are folded.
	Routes []Named `json:"routes,omitempty"`
}

// A HostRow is what one service used of a host during a run, or, in the row
// with the key "host", what the host did as a whole. CPU times are over the
// whole of the run, on all cores.
type HostRow struct {
	User   time.Duration `json:"user_ns"`
	System time.Duration `json:"system_ns"`
	// Peak is the most cores that it used in one interval.
	Peak      float64 `json:"peak_cores"`
	Switches  int64   `json:"context_switches"`
	Read      Bytes   `json:"read"` // from and to disk
	Written   Bytes   `json:"written"`
	PeakRSS   Bytes   `json:"peak_rss,omitempty"`
	Processes int     `json:"processes,omitempty"` // most at one time, as Threads
	Threads   int     `json:"threads,omitempty"`
	// FDs is the most descriptors of one process, FDLimit what that one may have.
	FDs     int   `json:"descriptors,omitempty"`
	FDLimit int64 `json:"descriptor_limit,omitempty"`
	Sockets int   `json:"sockets,omitempty"` // most at one time
	// Busiest is the CPU time of one thread: in each interval, of the one that ran most.
	Busiest time.Duration `json:"busiest_thread_ns,omitempty"`
	// Programs are the heaviest of the row "other", by name.
	Programs []Usage `json:"programs,omitempty"`

	Machine *MachineRow `json:"machine,omitempty"` // of the row "host"
}

// A MachineRow is what only a host as a whole has.
type MachineRow struct {
	Cores  int           `json:"cores"`
	Wall   time.Duration `json:"wall_ns"` // that the samples cover
	IOWait time.Duration `json:"iowait_ns"`
	Steal  time.Duration `json:"steal_ns"`
	Idle   time.Duration `json:"idle_ns"`
	// Runnable is the mean number of processes that ran or waited for a core.
	Runnable float64 `json:"runnable"`
	// Pressure is the share of the time in which somebody waited (PSI "some"), 0..1.
	PressureCPU    float64 `json:"pressure_cpu"`
	PressureIO     float64 `json:"pressure_io"`
	PressureMemory float64 `json:"pressure_memory"`

	MemTotal Bytes `json:"mem_total"`
	MemLeast Bytes `json:"mem_least_available"`
	SwapUsed Bytes `json:"swap_used"` // most
	SwapIn   Bytes `json:"swap_in"`
	SwapOut  Bytes `json:"swap_out"`

	DiskReads   int64 `json:"disk_reads"`
	DiskWrites  int64 `json:"disk_writes"`
	DiskFlushes int64 `json:"disk_flushes"`
	// DiskBusy is the share of the time, summed over devices.
	DiskBusy  float64       `json:"disk_busy"`
	ReadTook  time.Duration `json:"disk_read_ns"` // mean of one, as the next two
	WriteTook time.Duration `json:"disk_write_ns"`
	FlushTook time.Duration `json:"disk_flush_ns"`

	// ListenDrops are connections that the kernel dropped for whatever reason,
	// ListenOverflows those of them for which a socket's queue was full. Both
	// are of the whole network namespace.
	ListenDrops     int64 `json:"listen_drops"`
	ListenOverflows int64 `json:"listen_overflows"`
	Retransmits     int64 `json:"retransmits"`
}

// Topics of facts about processes, sockets and answers.
const (
	TopicLimit      = "limit"       // Target the service, Key as in "nofile", Value the soft limit, "unlimited" for none
	TopicProcess    = "process"     // Target the service, Key "cores" or "gomaxprocs", Value a number
	TopicSysctl     = "sysctl"      // Key as in "net.core.somaxconn", Value its text
	TopicListen     = "listen"      // Target the service, Key address:port, Value a Listener; Moves
	TopicConnection = "connection"  // Target who connects, Key the service it connects to, Value Connections; Moves
	TopicHTTPStatus = "http_status" // Target the web server, Key as in "499 GET /api/trend", Value a count; Moves
	TopicVolume     = "volume"      // Target the service, Key the log's kind, Value bytes written during the load; Moves
	TopicAnswer     = "answer"      // Target the web server, Key the route, Value an Answer; Moves
	TopicSeries     = "series"      // Target the web server, Key the route, Value a Series; Moves
)

// A Listener is a socket that takes connections.
type Listener struct {
	Backlog int `json:"backlog"` // connections that may wait
	Waiting int `json:"waiting"` // connections that did, when it was looked at
}

// Connections says how one service was connected to another at one instant.
type Connections struct {
	TCP  int `json:"tcp"`
	Unix int `json:"unix"`
}

// An Answer is what a web server says to one GET without cookies that accepts
// gzip, asked twice after the load.
type Answer struct {
	URL      string `json:"url"`            // path and query
	Host     string `json:"host,omitempty"` // that was asked, with its port
	Status   int    `json:"status"`
	Type     string `json:"type,omitempty"`     // media type without parameters
	Encoding string `json:"encoding,omitempty"` // as in gzip
	Bytes    Bytes  `json:"bytes"`              // of the body, as sent
	// Packed is what gzip makes of a body that came uncompressed; 0 otherwise.
	Packed       Bytes         `json:"packed,omitempty"`
	ETag         bool          `json:"etag,omitempty"`
	LastModified bool          `json:"last_modified,omitempty"`
	CacheControl string        `json:"cache_control,omitempty"`
	Expires      bool          `json:"expires,omitempty"`
	Vary         string        `json:"vary,omitempty"`
	Cookie       bool          `json:"cookie,omitempty"` // it sets one
	Same         bool          `json:"same,omitempty"`   // both times the same bytes
	Took         time.Duration `json:"took_ns"`          // the shorter of both
	// Unchanged is how long a 304 to a request with the answer's ETag took; 0
	// where there was none.
	Unchanged time.Duration `json:"unchanged_ns,omitempty"`
	// File is the file on disk, at the place that the URL names, that has the
	// body's bytes; "" where none was found.
	File string `json:"file,omitempty"`
}

// A Series says how the answers to the successful GETs of one route were in
// size, over the load: by URL from the access log, by client from the samples
// of the load generator.
type Series struct {
	URLs    int64 `json:"urls"`    // different ones
	Repeats int64 `json:"repeats"` // answers beyond the first to each URL
	// Fixed counts the URLs, of those that were asked for again, whose answers
	// all had one size; FixedRepeats and FixedBytes are the answers beyond
	// their first ones. Of URLs that had one answer nothing can be said.
	Again        int64 `json:"again"`
	Fixed        int64 `json:"fixed"`
	FixedRepeats int64 `json:"fixed_repeats"`
	FixedBytes   Bytes `json:"fixed_bytes"`
	Sizes        int64 `json:"sizes"` // different sizes among the fixed URLs
	// Heaviest is the URL that most of the bytes were sent for.
	Heaviest string `json:"heaviest,omitempty"`

	// Pairs are answers to two different clients right after each other;
	// Alike counts those of one size. Clients is how many there were.
	Clients int64 `json:"clients,omitempty"`
	Pairs   int64 `json:"pairs,omitempty"`
	Alike   int64 `json:"alike,omitempty"`
	// Changes counts how often the size went from one to another and stayed.
	Changes int64 `json:"changes,omitempty"`
	// Least and Most bound the answers' sizes near the end of the load, heads
	// included.
	Least Bytes `json:"least,omitempty"`
	Most  Bytes `json:"most,omitempty"`
}
