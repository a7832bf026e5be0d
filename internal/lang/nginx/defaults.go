package nginx

// defaults are the values that nginx has where a directive is not in effect; without
// those that depend on the machine or on the version.
var defaults = map[string]string{
	"worker_processes": "1", "worker_connections": "512", "multi_accept": "off", "accept_mutex": "off",
	"merge_slashes": "on", "keepalive_timeout": "75s", "client_header_buffer_size": "1k",
	"sendfile": "off", "tcp_nopush": "off", "tcp_nodelay": "on", "reset_timedout_connection": "off",
	"proxy_buffering": "on", "proxy_request_buffering": "on",
	"proxy_max_temp_file_size": "1024m", "proxy_socket_keepalive": "off",
	"open_file_cache": "off", "open_file_cache_valid": "60s",
	"open_file_cache_min_uses": "1", "open_file_cache_errors": "off",
	"gzip": "off", "gzip_static": "off", "gzip_vary": "off", "etag": "on",
}

// Default is the first argument that a directive has by default; "" if that is not the
// same for every nginx, or if it is in no table here.
func Default(name string) string { return defaults[name] }

// DefaultAccessLog is the access_log that nginx writes where none is in effect.
func DefaultAccessLog() *Directive { return New("access_log", "logs/access.log", "combined") }
