package promise

import (
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// Nginx has the directives of nginx that can be set by name. The value before is
// that in effect, or nginx's default.
var Nginx = Table{
	"worker_processes":         on(iikanji.Availability, fewerWorkers),
	"worker_rlimit_nofile":     on(iikanji.Availability, lowered),
	"worker_connections":       on(iikanji.Availability, lowered),
	"proxy_buffer_size":        on(iikanji.Availability, lowered), // a longer header is answered with 502
	"open_file_cache":          on(iikanji.Freshness, func(_, after string) bool { return after != "off" }),
	"open_file_cache_valid":    on(iikanji.Freshness, longer),
	"open_file_cache_errors":   on(iikanji.Freshness, switchedOn), // a file that appears is still missing
	"open_file_cache_min_uses": harmless("fewer or more files are kept open; open_file_cache_valid bounds their age"),
	"gzip_static":              on(iikanji.Freshness, switchedOn), // a copy stays as it is when its file changes
	"access_log":               on(iikanji.Observability, lessLogged),

	"multi_accept":              harmless("a worker accepts waiting connections at once instead of one by one"),
	"accept_mutex":              harmless("it changes which worker accepts a connection"),
	"sendfile":                  harmless("the same bytes are sent by the kernel"),
	"tcp_nopush":                harmless("the same bytes are sent in fuller packets"),
	"tcp_nodelay":               harmless("the same bytes are sent in other packets"),
	"reset_timedout_connection": harmless("it ends connections that have timed out already"),
	"keepalive_requests":        harmless("a client opens a new connection after that many requests"),
	"keepalive_timeout":         harmless("a client opens a new connection after that time; nginx closes idle connections first when it has too many"),
	"client_body_buffer_size":   harmless("a longer body is written to a temporary file"),
	"client_header_buffer_size": harmless("a longer header takes large_client_header_buffers"),
	"output_buffers":            harmless("the same bytes are read from disk in other pieces"),
	"proxy_buffering":           harmless("answers pass as they come; a slow client keeps its connection to the app, and is answered"),
	"proxy_buffers":             harmless("a longer answer is written to a temporary file or passed as it comes"),
	"proxy_busy_buffers_size":   harmless("the same bytes are sent in other pieces"),
	"proxy_max_temp_file_size":  harmless("a longer answer is passed as it comes"),
	"proxy_request_buffering":   harmless("bodies pass as they come; a slow client keeps its connection to the app, and is answered"),
	"proxy_socket_keepalive":    harmless("the kernel probes idle connections"),
	"gzip_vary":                 harmless("it tells caches that the encoding depends on the request"),
	"etag":                      harmless("without it clients revalidate by Last-Modified"),
}

// fewerWorkers reports fewer worker processes. "auto" is one for each core.
func fewerWorkers(before, after string) bool {
	if after == "auto" {
		return false
	}
	if before == "auto" || before == "" { // the number of cores is not known here; 0 workers answer nothing
		n, ok := number(after)
		return !ok || n < 1
	}
	return lowered(before, after)
}

// longer reports a longer time.
func longer(before, after string) bool {
	is, ok := seconds(after)
	was, known := seconds(before)
	return !ok || !known || is > was
}

// mostLate is the longest time for which a line of a log may be held back.
const mostLate = time.Minute

// lessLogged reports an access log that is off, has another format, or whose
// lines are held back for longer than mostLate or, in place of one that is known,
// without a bound. A value is the directive's arguments, joined by spaces.
func lessLogged(before, after string) bool {
	is := strings.Fields(after)
	if len(is) == 0 || is[0] == "off" {
		return before != "off"
	}
	for _, word := range is {
		if v, ok := strings.CutPrefix(word, "flush="); ok {
			if d, ok := seconds(v); !ok || d > mostLate {
				return true
			}
		}
	}
	was := strings.Fields(before)
	if len(was) == 0 || was[0] == "off" {
		return false
	}
	unbounded := func(args string) bool { return strings.Contains(args, "buffer=") && !strings.Contains(args, "flush=") }
	return formatOf(was) != formatOf(is) || was[0] != is[0] || unbounded(after) && !unbounded(before)
}

// formatOf is the name of the format of an access_log.
func formatOf(args []string) string {
	if len(args) > 1 && !strings.Contains(args[1], "=") {
		return args[1]
	}
	return "combined"
}

// AccessLogs lists the promises that new arguments of an access_log weaken.
func AccessLogs(before, after []string) []iikanji.Promise {
	return Nginx.Of("access_log", strings.Join(before, " "), strings.Join(after, " "))
}
