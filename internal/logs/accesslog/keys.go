package accesslog

import (
	"fmt"
	"slices"
	"strings"
)

// A source is the field that a key of a labelled log (LTSV, JSON) holds, and
// the unit of times.
type source struct {
	field field
	unit  int64
	guess string // how the unit was inferred; empty if the key defines it
	// byValues: the field was inferred from the values, not from the key.
	byValues bool
}

// A synonym is a key that loggers use for a field.
type synonym struct {
	key  string
	unit int64 // of times; 0: from the key's ending, or inferred from the values
}

// synonyms are in order of preference. Keys compare in lower case; a dot stands
// for nesting. They cover alp's defaults, ltsv.org's labels, nginx's and
// Apache's names, Envoy, Caddy, Traefik, Echo, pino, Varnish and GCP.
var synonyms = map[field][]synonym{
	uri: {{key: "uri"}, {key: "request_uri"}, {key: "request.uri"}, {key: "requestpath"}, {key: "req.url"},
		{key: "httprequest.requesturl"}, {key: "request.url"}, {key: "request.path"}, {key: "request_path"},
		{key: "url"}, {key: "path"}, {key: "req_uri"}, {key: "request_url"}, {key: "url_path"},
		{key: "x_envoy_original_path"}, {key: "url.original"}, {key: "url.path"}, {key: "http.target"}, {key: "target"},
		{key: "clientrequesturi"}, {key: "clientrequestpath"}, {key: "requesturi"}, {key: "requesturl"}, {key: "http.url"}, {key: "http.path"},
		{key: "uri_path"}, {key: "endpoint"}, {key: "pathname"}, {key: "originalurl"}, {key: "req.originalurl"}, {key: "fullpath"},
		{key: "full_path"}, {key: "http_path"}, {key: "page"}, {key: "http.route"}, {key: "route"}},
	request: {{key: "request"}, {key: "req"}, {key: "request_line"}, {key: "requestline"}},
	verb: {{key: "method"}, {key: "request_method"}, {key: "request.method"}, {key: "requestmethod"}, {key: "req.method"},
		{key: "httprequest.requestmethod"}, {key: "http.request.method"}, {key: "http_method"}, {key: "http.method"},
		{key: "req_method"}, {key: "clientrequestmethod"}, {key: "httpmethod"}, {key: "verb"}},
	query: {{key: "query_string"}, {key: "args"}, {key: "query"}, {key: "request.query"}},
	status: {{key: "status"}, {key: "status_code"}, {key: "response_code"}, {key: "downstreamstatus"}, {key: "statuscode"},
		{key: "res.statuscode"}, {key: "response.status"}, {key: "httprequest.status"}, {key: "response_status"},
		{key: "http.response.status_code"}, {key: "http.status_code"}, {key: "http_status"}, {key: "edgeresponsestatus"}, {key: "code"}},
	size: {{key: "size"}, {key: "body_bytes_sent"}, {key: "body_bytes"}, {key: "bytes_sent"}, {key: "bytes_out"}, {key: "bytes"},
		{key: "downstreamcontentsize"}, {key: "response_size"}, {key: "response_length"}, {key: "httprequest.responsesize"},
		{key: "resp_size"}, {key: "response.bytes"}, {key: "http.response.body.bytes"}, {key: "edgeresponsebytes"}, {key: "length"}},
	reqSize: {{key: "reqsize"}, {key: "request_length"}, {key: "bytes_received"}, {key: "bytes_in"}, {key: "bytes_read"},
		{key: "requestcontentsize"}, {key: "request_size"}, {key: "httprequest.requestsize"}, {key: "clientrequestbytes"}},
	took: {{key: "reqtime", unit: 1e9}, {key: "request_time", unit: 1e9}, {key: "reqtime_microsec", unit: 1e3}, {key: "response_time"},
		{key: "request_duration"}, {key: "request_time_ms", unit: 1e6}, {key: "response_time_ms", unit: 1e6}, {key: "duration"},
		{key: "duration_ms", unit: 1e6}, {key: "latency"}, {key: "latency_ms", unit: 1e6}, {key: "responsetime"},
		{key: "generation_time_milli"}, {key: "taken_sec", unit: 1e9}, {key: "taken_msec", unit: 1e6}, {key: "taken_usec", unit: 1e3}, {key: "time_taken"},
		{key: "elapsed"}, {key: "elapsed_ms", unit: 1e6}, {key: "httprequest.latency"}, {key: "event.duration", unit: 1},
		{key: "took"}, {key: "rt"}, {key: "total_time"}, {key: "runtime"}, {key: "edgetimetofirstbytems", unit: 1e6}, {key: "originresponsedurationms", unit: 1e6}, {key: "service"}, {key: "dur"},
		{key: "apptime", unit: 1e9}, {key: "latency_human"}},
	upstream: {{key: "apptime", unit: 1e9}, {key: "upstream_response_time", unit: 1e9}, {key: "upstream_service_time", unit: 1e6},
		{key: "x_envoy_upstream_service_time", unit: 1e6}, {key: "originduration", unit: 1}, {key: "originresponsetime", unit: 1}, {key: "upstream_time"},
		{key: "upstream_duration"}, {key: "urt"}},
	stamp: {{key: "time"}, {key: "time_local"}, {key: "time_iso8601"}, {key: "timestamp"}, {key: "@timestamp"}, {key: "ts"},
		{key: "start_time"}, {key: "startutc"}, {key: "msec"}, {key: "datetime"}, {key: "date"}, {key: "local_time"}, {key: "edgestarttimestamp"}, {key: "at"}},
	host: {{key: "vhost"}, {key: "http_host"}, {key: "request.host"}, {key: "requesthost"}, {key: "authority"}, {key: "server_name"},
		{key: "servername"}, {key: "host"}, {key: "req.headers.host"}, {key: "clientrequesthost"}},
	agent: {{key: "ua"}, {key: "user_agent"}, {key: "http_user_agent"}, {key: "useragent"}, {key: "request.headers.user-agent"},
		{key: "request_user-agent"}, {key: "req.headers.user-agent"}, {key: "httprequest.useragent"}, {key: "clientrequestuseragent"}, {key: "agent"}},
	referer: {{key: "referer"}, {key: "referrer"}, {key: "http_referer"}, {key: "request.headers.referer"}, {key: "request_referer"},
		{key: "req.headers.referer"}, {key: "httprequest.referer"}, {key: "clientrequestreferer"}},
	user: {{key: "user"}, {key: "remote_user"}, {key: "clientusername"}, {key: "user_id"}},
	address: {{key: "remote_addr"}, {key: "remote_ip"}, {key: "client_ip"}, {key: "clientip"}, {key: "clienthost"}, {key: "request.remote_ip"},
		{key: "request.client_ip"}, {key: "ip"}, {key: "httprequest.remoteip"}, {key: "client.address"}, {key: "remote_address"}, {key: "fwd"}},
	backend: {{key: "upstream_addr"}, {key: "upstream_host"}, {key: "upstream_address"}, {key: "backend"}, {key: "backend_addr"}, {key: "serviceaddr"}},
}

// A keySample describes one key of the sample lines.
type keySample struct {
	key    string // as logged; nested keys are joined by nest
	count  int    // lines that have it
	values []string
}

// An override is a key that the user assigned to a field: --field time=rt:ms.
type override struct {
	field field
	key   string
	unit  int64
}

// parseOverride reads NAME=KEY or NAME=KEY:UNIT.
func parseOverride(s string) (override, error) {
	name, key, ok := strings.Cut(s, "=")
	i := slices.Index(fieldWords[:], name)
	if !ok || i <= 0 || field(i) == duration || field(i) == part || key == "" {
		return override{}, fmt.Errorf("%q is not NAME=KEY with a name of %s", s, strings.Join(fieldWords[1:duration], ", "))
	}
	o := override{field: field(i), key: key}
	if k, unit, ok := cutUnit(key); ok && (o.field == took || o.field == upstream) {
		o.key, o.unit = k, unit
	}
	return o, nil
}

func cutUnit(s string) (key string, unit int64, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return s, 0, false
	}
	unit, ok = unitOf(s[i+1:])
	return s[:i], unit, ok
}

// chooseKeys assigns fields to the keys of the sample: overrides first, then
// the best synonym that at least half of the lines have. Each key serves one
// field.
func chooseKeys(seen []keySample, lines int, overrides []override) map[string]source {
	chosen := map[string]source{}
	found := map[field]bool{}
	for _, o := range overrides {
		src := source{field: o.field, unit: o.unit}
		if src.unit == 0 && (o.field == took || o.field == upstream) {
			src = unitFor(o.field, synonym{key: strings.ToLower(o.key)}, sampleOf(seen, o.key), seen)
		}
		chosen[sampleOf(seen, o.key).key], found[o.field] = src, true
	}
	order := []field{uri, request, verb, query, status, size, reqSize, took, upstream, stamp, host, agent, user, address, referer, backend}
	for _, f := range order {
		if found[f] || f == request && found[uri] {
			continue
		}
		for _, syn := range synonyms[f] {
			k := findKey(seen, syn.key)
			if k == nil || k.count*2 < lines && !(f == took || f == upstream || f == query || f == user || f == address || f == referer || f == backend) {
				continue
			}
			if _, taken := chosen[k.key]; taken || !plausible(f, k.values) {
				continue
			}
			src := source{field: f}
			if f == took || f == upstream {
				if src = unitFor(f, syn, k, seen); src.unit == 0 && src.field != duration {
					continue // not a number
				}
			}
			chosen[k.key], found[f] = src, true
			break
		}
	}
	if !found[uri] && !found[request] {
		if k, f := pathKey(seen, lines, chosen); k != nil {
			chosen[k.key] = source{field: f, byValues: true}
		}
	}
	return chosen
}

// plausible reports whether most values of a key can be those of a field: "at"
// is a time or "info".
func plausible(f field, values []string) bool {
	var test func(s string) bool
	switch f {
	case stamp:
		test = isStamp
	case status, size, reqSize:
		test = isWhole
	case uri:
		test = func(s string) bool { return !strings.ContainsAny(s, " \t") }
	default:
		return true
	}
	good := 0
	for _, v := range values {
		if test(strings.Trim(v, "[]")) {
			good++
		}
	}
	return 10*good >= 9*len(values)
}

// notPath are parts of keys whose values look like paths and are others.
var notPath = []string{"refer", "origin", "file", "dir", "caller", "source", "logger", "cwd", "redirect", "location", "template", "upstream",
	"root", "socket", "image", "cgroup", "exe", "agent", "accept", "content"}

// pathKey finds the key of the path, or of the request line, by its values:
// they begin with a slash or a scheme, or with a method. The key with the most
// different values wins, the first one of equals.
func pathKey(seen []keySample, lines int, chosen map[string]source) (best *keySample, f field) {
	most := 0
	for i := range seen {
		k := &seen[i]
		lower := strings.ToLower(k.key)
		if _, taken := chosen[k.key]; taken || k.count*2 < lines || slices.ContainsFunc(notPath, func(p string) bool { return strings.Contains(lower, p) }) {
			continue
		}
		for _, c := range []struct {
			f    field
			test func(string) bool
		}{{uri, isPath}, {request, isRequestLine}} {
			if n := different(k.values, c.test); n > most {
				best, f, most = k, c.f, n
			}
		}
	}
	return best, f
}

// isRequestLine accepts "GET /a HTTP/1.1". Statements of SQL begin with the
// names of methods too.
func isRequestLine(s string) bool {
	_, target, _ := strings.Cut(s, " ")
	return isRequest(s) && isPath(strings.TrimSpace(strings.Split(target, " ")[0]))
}

// isPath accepts "/a" and "https://host/a".
func isPath(s string) bool {
	if i := strings.Index(s, "://"); i > 0 && i < 6 {
		return strings.HasPrefix(s, "http")
	}
	return strings.HasPrefix(s, "/") && !strings.ContainsAny(s, " \t")
}

// different counts the different values, 0 if fewer than nine of ten pass a test.
func different(values []string, test func(string) bool) int {
	good, set := 0, map[string]bool{}
	for _, v := range values {
		if test(v) {
			good++
			set[v] = true
		}
	}
	if 10*good < 9*len(values) {
		return 0
	}
	return len(set)
}

func findKey(seen []keySample, lower string) *keySample {
	for i := range seen {
		if strings.ToLower(dotted(seen[i].key)) == lower {
			return &seen[i]
		}
	}
	return nil
}

// dotted returns a key with dots for nesting.
func dotted(key string) string { return strings.ReplaceAll(key, nest, ".") }

func sampleOf(seen []keySample, key string) *keySample {
	for i := range seen {
		if dotted(seen[i].key) == key {
			return &seen[i]
		}
	}
	return &keySample{key: key}
}

// unitFor finds the unit of a time: from the key, its ending, the logger
// (recognised by its other keys), or the values.
func unitFor(f field, syn synonym, k *keySample, seen []keySample) source {
	src := source{field: f, unit: syn.unit}
	if src.unit != 0 {
		return src
	}
	if withUnits(k.values) {
		if f == took {
			return source{field: duration}
		}
		return source{field: skipped}
	}
	if unit, ok := unitByEnding(syn.key); ok {
		src.unit = unit
		return src
	}
	has := func(key string) bool { return findKey(seen, key) != nil }
	switch lower := strings.ToLower(dotted(k.key)); {
	case lower == "duration" && (has("controller") && has("action") || has("view") && has("db")): // lograge
		src.unit = 1e6
	case lower == "duration" && has("downstreamstatus"): // Traefik
		src.unit = 1
	case lower == "latency" && has("latency_human"): // Echo
		src.unit = 1
	case lower == "duration" && (has("response_flags") || has("upstream_service_time")): // Envoy
		src.unit = 1e6
	default:
		src.unit, src.guess = unitByValues(k.values)
	}
	return src
}

// unitByEnding reads the unit at the end of a key, as in "elapsed_ms".
func unitByEnding(key string) (int64, bool) {
	i := strings.LastIndexAny(key, "_-.")
	if i < 0 {
		return 0, false
	}
	switch key[i+1:] {
	case "m", "h", "min":
		return 0, false
	}
	return unitOf(key[i+1:])
}

// withUnits reports whether the values carry their units: "1.2ms".
func withUnits(values []string) bool {
	n := 0
	for _, v := range values {
		if v == "" || v == "-" {
			continue
		}
		last := v[len(v)-1]
		if last != 's' && last != 'm' && last != 'h' {
			return false
		}
		if _, ok := durationValue([]byte(v)); !ok {
			return false
		}
		n++
	}
	return n > 0
}

// unitByValues infers a unit from the numbers: loggers write a decimal point
// for seconds; whole numbers count something smaller, by their size.
func unitByValues(values []string) (unit int64, guess string) {
	var whole []int64
	for _, v := range values {
		if strings.ContainsAny(v, ".eE") {
			if _, ok := timeValue([]byte(v), 1e9); ok {
				return 1e9, "it has a decimal point"
			}
		}
		if n, end := digits([]byte(v), 0); end == len(v) && end > 0 {
			whole = append(whole, n)
		}
	}
	if len(whole) == 0 {
		return 0, ""
	}
	slices.Sort(whole)
	switch median := whole[len(whole)/2]; {
	case median >= 100_000:
		return 1, "it is whole and large"
	case median >= 1000:
		return 1e3, "it is whole, and thousands"
	}
	return 1e6, "it is whole and small"
}
