package propose

// KindWords describes one kind of change to a proposer.
type KindWords struct {
	Name string     `json:"name"`
	Does string     `json:"does"`
	Acts []ActWords `json:"acts"`
}

// ActWords describes one act of a kind, and its arguments by name. Act is the value
// of the argument "act"; it is empty for kinds with one act.
type ActWords struct {
	Act  string            `json:"act,omitempty"`
	Does string            `json:"does"`
	Args map[string]string `json:"args"`
}

// wordsOf returns the descriptions of kinds, in the order of names. A kind without
// a description has its name only.
func wordsOf(names []string) []KindWords {
	out := make([]KindWords, 0, len(names))
	for _, n := range names {
		w := KindWords{Name: n, Acts: []ActWords{}}
		for _, k := range words {
			if k.Name == n {
				w = k
			}
		}
		out = append(out, w)
	}
	return out
}

// words are the kinds, in the order of their names. The packages below
// internal/change are what is true: this is what they say, for programs that
// cannot read them. A test wants every kind here.
var words = []KindWords{
	{"appenv", "How the application is set up. The target is the app's service. Needs a restart.", []ActWords{
		{"", "any of these together", map[string]string{
			"env.NAME": "a value for the variable NAME, one of those that are known to be about speed, as env.GOGC = 400 or env.GOMAXPROCS = 2",
			"dsn":      "parameters of go-sql-driver/mysql, joined by &, as interpolateParams=true; socket among them: the database's unix socket",
			"pool":     "how many connections to the database may be open, and stay open when idle",
			"log":      "off: no debug log and no line per request",
		}}}},
	{"ddl", "Indexes. The target is the database's service. Tried on an empty copy first; kept only if it is still there after the benchmark's initialize.", []ActWords{
		{"add index", "add an index, or replace one by it", map[string]string{
			"schema": "the database", "table": "the table",
			"columns": "key parts as DDL has them: a, b DESC, c(10)",
			"index":   "optional: btree or spatial", "name": "optional: the new index's name",
			"drop":    "optional: an index that the new one replaces",
			"srid":    "optional: the SRID of a spatial column",
			"weakens": "row-order, whether it is said or not: a query without ORDER BY may then show another order",
			"into":    "optional: schema file, for an index that initialize would wipe out",
			"file":    "optional: the schema file, where several create the table",
		}},
		{"drop index", "drop an index", map[string]string{"schema": "the database", "table": "the table", "name": "the index",
			"weakens": "as above", "into": "as above", "file": "as above"}},
	}},
	{"mysqlconf", "Variables of MariaDB and MySQL, in a file that the server reads last and in the running server. The target is the database's service. Needs a restart where the server cannot be told otherwise.", []ActWords{
		{"", "set one or more variables that are about memory, flushing, caches, threads and logs", map[string]string{
			"NAME": "the value of the variable NAME, as innodb_buffer_pool_size = 512M, innodb_flush_log_at_trx_commit = 2 (weakens durability), max_connections = 300",
		}}}},
	{"nginxconf", "Edits of nginx's configuration; comments and order stay. The target is nginx's service. Needs a reload.", []ActWords{
		{"upstream keepalive", "keep connections to the app open", map[string]string{"keepalive": "how many idle ones, per worker",
			"to": "optional: host:port or upstream of proxy_pass", "requests": "optional: after how many requests one is closed", "timeout": "optional: idle for how long one is closed, as 60s"}},
		{"upstream socket", "reach the app by its unix socket", map[string]string{"socket": "an absolute path that accepts now", "to": "as above"}},
		{"static files", "serve files from disk, by the app where there is none", map[string]string{"path": "a folder of URLs, /assets, or one: = /favicon.ico",
			"root": "optional: the folder on disk", "file": "optional: the file of pages that are not on disk, /index.html", "server": "optional: server_name or listen address of a server block"}},
		{"gzip", "compress answers", map[string]string{"level": "optional: 1 to 9", "types": "optional: media types, separated by spaces", "min": "optional: from how many bytes on"}},
		{"gzip static", "compressed copies, made once, beside files that nginx serves from disk already", map[string]string{"path": "a folder of URLs", "min": "optional: from how many bytes on", "server": "as above"}},
		{"expires", "how long clients may keep an answer; weakens freshness", map[string]string{"path": "a URL, a folder with its slash, or a route: /api/isu/:id/icon",
			"expires": "1h, 365d, max, off, epoch, -1", "cache-control": "optional: further words, public or public, immutable", "server": "as above"}},
		{"cache", "keep answers of GET and HEAD for a short time; weakens freshness", map[string]string{"path": "as of expires", "valid": "100ms to 100s", "key": "optional: the key of an answer",
			"cookies": "personal (default): nothing with a cookie is kept; ignore: the same for everyone", "stale": "optional: updating or no", "lock": "optional: on or off", "server": "as above"}},
		{"buffers", "hold bodies and answers in memory", map[string]string{"body": "a size, 128k", "answer": "a size", "header": "a size", "spill": "off: never write an answer to a temporary file"}},
		{"workers", "processes and their limits", map[string]string{"processes": "auto or a count", "connections": "of each", "nofile": "descriptors of each"}},
		{"open file cache", "keep descriptors of files open; weakens freshness", map[string]string{"max": "optional: how many", "inactive": "optional: 60s", "valid": "optional: 1s"}},
		{"access log", "how the access log is written", map[string]string{"log": "buffered, or off (weakens observability)", "buffer": "optional: 64k", "flush": "optional: 1s"}},
		{"refuse user agents", "refuse requests by their user agent; weakens availability", map[string]string{"patterns": "regular expressions, one a line; none may match a browser's", "status": "optional: 503", "server": "as above"}},
		{"set", "one directive, such as worker_connections, sendfile, tcp_nopush, keepalive_requests, proxy_buffers, gzip_static", map[string]string{"directive": "its name", "value": "its value"}},
	}},
	{"patch", "A change of a service's source. It is compiled first; then a restart builds it. The target is the service that has a source folder.", []ActWords{
		{"", "apply a unified diff; every line of context must match", map[string]string{
			"diff":    "a unified diff as git or diff -u print it; names are relative to the source folder, as a/main.go and b/main.go",
			"says":    "optional: what it does, one sentence",
			"weakens": "promises that it takes away, separated by commas: durability, freshness, row-order, observability, availability",
		}}}},
	{"sysctl", "Kernel variables, and the limits of one service's process. A machine that is not the target's to change is left alone.", []ActWords{
		{"sysctl", "set kernel variables; the target is a service that keeps a file of them", map[string]string{
			"NAME": "the value of the variable NAME, as net.core.somaxconn = 4096; net.core.netdev_max_backlog, net.ipv4.ip_local_port_range, some of net.ipv4.tcp_ and of vm.dirty_, vm.swappiness",
		}},
		{"limits", "set limits of the target's process; needs its restart", map[string]string{
			"nofile": "descriptors", "nproc": "processes and threads", "core": "bytes of a core file", "memlock": "bytes of memory that stay in memory",
		}},
	}},
}
