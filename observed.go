package iikanji

import "time"

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

// Topics of facts about processes, sockets and answers.
const (
	TopicLimit      = "limit"       // Target the service, Key as in "nofile", Value the soft limit, "unlimited" for none
	TopicProcess    = "process"     // Target the service, Key "cores" or "gomaxprocs", Value a number
	TopicSysctl     = "sysctl"      // Key as in "net.core.somaxconn", Value its text
	TopicListen     = "listen"      // Target the service, Key address:port, Value a Listener; Moves
	TopicConnection = "connection"  // Target the client service, Key the service that it connects to, Value Connections; Moves
	TopicHTTPStatus = "http_status" // Target the web server, Key as in "499 GET /api/trend", Value a count; Moves
	TopicVolume     = "volume"      // Target the service, Key the log's kind, Value bytes written during the load; Moves
	TopicAnswer     = "answer"      // Target the web server, Key the route, Value an Answer; Moves
	// Of a Redis or a memcached: its Target is the service, Key the name that the server
	// uses; the growth of a counter over the run, or a limit or size at its end; Moves.
	TopicCacheCounter = "cache_counter"
	TopicCacheSetting = "cache_setting"
	// Requests that were not refused: Key the User-Agent, "" for the sum over all; Value an AgentUse. Target the web server; Moves.
	TopicAgent  = "agent"
	TopicValue  = "value"  // Target the database, Key the route, Value a StoredValue; Moves
	TopicSeries = "series" // Target the web server, Key the route, Value a Series; Moves
	TopicKept   = "kept"   // Target the web server, Key the folder of the generations, Value a KeptPages; Moves
	// The requests that made the data anew before the load, and that were answered with
	// status 200: Key method and path, Value their number. Target the web server; Moves.
	TopicReset = "reset"
)

// KeptPages is what an app noted of the pages that a web server keeps until a write, since
// the app started.
type KeptPages struct {
	Kept []string `json:"kept"` // routes, as in /article/:id
	// Rows are the writes with a list of the pages that they drop; other writes drop all.
	Rows  int          `json:"rows,omitempty"`
	Pairs []PageChange `json:"pairs,omitempty"`
	// Unstable counts, by route, pages that changed without any write.
	Unstable map[string]int `json:"unstable,omitempty"`
	// Stale are pages that changed and were not dropped: clients got old answers.
	Stale []StalePage `json:"stale,omitempty"`
}

// A PageChange is how often pages of a route differed after one write, and nothing else,
// than before it. In Page, :1 is the first id in the write's path, and :id any other.
type PageChange struct {
	Write   string `json:"write"` // as in POST /comment/:1
	Page    string `json:"page"`
	Changed int    `json:"changed"`
	Same    int    `json:"same"`
}

// A StalePage is a page that changed and was not dropped.
type StalePage struct {
	Page  string `json:"page"`
	Write string `json:"write"` // the last one before the page was computed again
}

// An AgentUse is the requests of one User-Agent in the access log.
type AgentUse struct {
	Requests int64         `json:"requests"`
	Took     time.Duration `json:"took_ns"` // 0 in a log without times
}

// A Listener is a socket that takes connections.
type Listener struct {
	Backlog int `json:"backlog"` // limit of waiting connections
	Waiting int `json:"waiting"` // waiting connections at the time of the reading
}

// Connections counts the connections from one service to another at one instant.
type Connections struct {
	TCP  int `json:"tcp"`
	Unix int `json:"unix"`
}

// An Answer is a web server's answer to one GET without cookies that accepts
// gzip. The request is sent twice, after the load.
type Answer struct {
	URL      string `json:"url"`            // path and query
	Host     string `json:"host,omitempty"` // host of the URL, with its port
	Status   int    `json:"status"`
	Type     string `json:"type,omitempty"`     // media type without parameters
	Encoding string `json:"encoding,omitempty"` // as in gzip
	Bytes    Bytes  `json:"bytes"`              // of the body, as sent
	// Packed is the gzip size of a body that was sent uncompressed; 0 otherwise.
	Packed       Bytes  `json:"packed,omitempty"`
	ETag         bool   `json:"etag,omitempty"`
	LastModified bool   `json:"last_modified,omitempty"`
	CacheControl string `json:"cache_control,omitempty"`
	Expires      bool   `json:"expires,omitempty"`
	Vary         string `json:"vary,omitempty"`
	Cookie       bool   `json:"cookie,omitempty"` // the answer sets a cookie
	Same         bool   `json:"same,omitempty"`   // both answers had the same bytes
	// SameForAll: Users clients of the run, which sent headers of their own, and a
	// client without any got the same answer, and so did a client with each header
	// that varied in the run.
	SameForAll bool `json:"same_for_all,omitempty"`
	Users      int  `json:"users,omitempty"`
	// Alive: the sessions of these clients were alive, because another URL had another
	// answer for each of them than without a session.
	Alive bool `json:"alive,omitempty"`
	// URLs is the number of URLs of the route that were asked for. SameForAll is true
	// only if it holds for each of them.
	URLs int           `json:"urls,omitempty"`
	Took time.Duration `json:"took_ns"` // the shorter of both times
	// Unchanged is the time of a 304 answer to a request with the answer's ETag; 0
	// if there was no 304.
	Unchanged time.Duration `json:"unchanged_ns,omitempty"`
	// File is a file on disk with the same bytes as the body, at the path that
	// the URL names; "" if none was found.
	File string `json:"file,omitempty"`
	// MD5 is the digest of a body of 4 KiB or more that is not text, in hexadecimal: it
	// is compared with values in databases.
	MD5 string `json:"md5,omitempty"`
}

// A StoredValue is a value in a database that is an answer, byte for byte.
type StoredValue struct {
	URL    string `json:"url"`
	Schema string `json:"schema"`
	Table  string `json:"table"`
	Column string `json:"column"`
	ID     int64  `json:"id"` // value of the primary key, which the URL contains
}

// A Series describes the sizes of the answers to the successful GETs of one
// route during the load: by URL from the access log, by client from the samples
// of the load generator.
type Series struct {
	URLs    int64 `json:"urls"`    // number of different URLs
	Repeats int64 `json:"repeats"` // answers beyond the first to each URL
	// Again counts the URLs that were requested more than once, Fixed those of
	// them whose answers all had one size. FixedRepeats and FixedBytes are the
	// answers of the fixed URLs, without the first answer of each. A URL with a
	// single answer is in neither count.
	Again        int64 `json:"again"`
	Fixed        int64 `json:"fixed"`
	FixedRepeats int64 `json:"fixed_repeats"`
	FixedBytes   Bytes `json:"fixed_bytes"`
	Sizes        int64 `json:"sizes"` // different sizes among the fixed URLs
	// Heaviest is the URL with the most bytes sent, Others are the most requested ones
	// besides.
	Heaviest string    `json:"heaviest,omitempty"`
	Others   [3]string `json:"others,omitzero"`
	// Crowded counts the answers beyond one per second of the load for each URL.
	Crowded int64 `json:"crowded,omitempty"`

	// Clients is the number of clients. Pairs counts pairs of consecutive answers
	// to two different clients, Alike the pairs in which both answers had the
	// same size.
	Clients int64 `json:"clients,omitempty"`
	Pairs   int64 `json:"pairs,omitempty"`
	Alike   int64 `json:"alike,omitempty"`
	// Changes counts how often the size changed to a new value and stayed there.
	Changes int64 `json:"changes,omitempty"`
	// Least and Most are the smallest and largest size of an answer near the end
	// of the load, headers included.
	Least Bytes `json:"least,omitempty"`
	Most  Bytes `json:"most,omitempty"`
}
