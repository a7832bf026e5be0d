package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// A setting is one directive that the "set" act may write.
type setting struct {
	context string // where it is added: "" is the main one
	form    *regexp.Regexp
	builtIn string            // what it is where nothing says it; "" where that depends
	weakens []iikanji.Promise // by any value but off
	off     []iikanji.Promise // by off
	// outer: where a server or a location says it, it stays. Buffering off there
	// is how answers reach a client piece by piece (server-sent events).
	outer bool
}

var (
	onOff   = regexp.MustCompile(`^(on|off)$`)
	count   = regexp.MustCompile(`^[0-9]{1,7}$`)
	workers = regexp.MustCompile(`^([0-9]{1,4}|auto)$`)
	size    = regexp.MustCompile(`^([0-9]{1,8}|[0-9]{1,5}[kK]|[0-9]{1,2}[mM])$`) // below 100m: each request may have it
	sizes   = regexp.MustCompile(`^[0-9]{1,4} [0-9]{1,6}[kK]?$`)
	cacheOf = regexp.MustCompile(`^(off|max=[0-9]{1,7}( inactive=[0-9]{1,5}[smh])?)$`)
	access  = regexp.MustCompile(`^(off|/[^\s;{}"'\\$]+( [a-z0-9_]+)?( buffer=[0-9]{1,5}[kKmM])?( flush=[0-9]{1,4}(ms|s|m))?)$`)
)

var (
	freshness = []iikanji.Promise{iikanji.Freshness}
	unseen    = []iikanji.Promise{iikanji.Observability}
)

// settings are what may be set, as a remedy may come from anywhere. Nothing
// here runs programs, opens files for reading, or takes a path but that of a
// log that is one already.
var settings = map[string]setting{
	"worker_processes":          {form: workers, builtIn: "1"},
	"worker_rlimit_nofile":      {form: count},
	"worker_connections":        {context: "events", form: count, builtIn: "512"},
	"multi_accept":              {context: "events", form: onOff, builtIn: "off"},
	"accept_mutex":              {context: "events", form: onOff, builtIn: "off"},
	"sendfile":                  {context: "http", form: onOff, builtIn: "off"},
	"tcp_nopush":                {context: "http", form: onOff, builtIn: "off"},
	"tcp_nodelay":               {context: "http", form: onOff, builtIn: "on"},
	"reset_timedout_connection": {context: "http", form: onOff, builtIn: "off"},
	"keepalive_requests":        {context: "http", form: count},
	"keepalive_timeout":         {context: "http", form: duration, builtIn: "75s"},
	"client_body_buffer_size":   {context: "http", form: size},
	"client_header_buffer_size": {context: "http", form: size, builtIn: "1k"},
	"output_buffers":            {context: "http", form: sizes},
	"proxy_buffering":           {context: "http", form: onOff, builtIn: "on", outer: true},
	"proxy_buffer_size":         {context: "http", form: size},
	"proxy_buffers":             {context: "http", form: sizes},
	"proxy_busy_buffers_size":   {context: "http", form: size},
	"proxy_max_temp_file_size":  {context: "http", form: size, builtIn: "1024m"},
	"proxy_request_buffering":   {context: "http", form: onOff, builtIn: "on", outer: true},
	"proxy_socket_keepalive":    {context: "http", form: onOff, builtIn: "off"},
	"open_file_cache":           {context: "http", form: cacheOf, builtIn: "off", weakens: freshness},
	"open_file_cache_valid":     {context: "http", form: duration, builtIn: "60s", weakens: freshness},
	"open_file_cache_min_uses":  {context: "http", form: count, builtIn: "1"},
	"open_file_cache_errors":    {context: "http", form: onOff, builtIn: "off"},
	"gzip_static":               {context: "http", form: onOff, builtIn: "off"},
	"gzip_vary":                 {context: "http", form: onOff, builtIn: "off"},
	"etag":                      {context: "http", form: onOff, builtIn: "on"},
	"access_log":                {context: "http", form: access, off: unseen},
}

// editSetting sets one directive in its context, and further in wherever it
// stands, as it would be hidden there, unless it is an outer one.
func editSetting(t *task) error {
	name, value := t.args["directive"], t.args["value"]
	set, ok := settings[name]
	if !ok {
		return fmt.Errorf("directive %q is not one that may be set", name)
	}
	if !set.form.MatchString(value) {
		return fmt.Errorf("%s %q: want %s", name, value, set.form)
	}
	t.says = fmt.Sprintf("set %s %s", name, value)
	for _, p := range set.weakens {
		if value != "off" {
			t.weaken(p)
		}
	}
	for _, p := range set.off {
		if value == "off" {
			t.weaken(p)
		}
	}
	words := strings.Fields(value)
	where := everywhere
	if set.outer {
		where = func(p place) bool { return p.within(set.context) }
	}
	if name == "access_log" && words[0] != "off" {
		if err := t.isLog(words[0]); err != nil {
			return err
		}
		where = func(p place) bool { return p.arg(0) == words[0] } // other logs stay, and so does "off"
	}
	if t.already(name, set, words, where) {
		return nil
	}
	if name == "worker_connections" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 16 || n > maxFilesOpen/2 {
			return fmt.Errorf("worker_connections %q: want 16 to %d", value, maxFilesOpen/2)
		}
		return t.setConnections(n)
	}
	if err := setDirective(t.conf, name, set.context, words, where); err != nil {
		return err
	}
	return t.consistent()
}

// isLog refuses a file that is no log of the service yet. nginx's master makes
// the file, often as root, already when it tests a configuration, and appends
// what clients send: no undo takes that back.
func (t *task) isLog(path string) error {
	known := false
	t.walk(t.root(), nil, func(p place) { known = known || p.name() == "access_log" && p.arg(0) == path })
	for _, svc := range t.site.Target.Services {
		known = known || svc.Name == t.name && slices.Contains(svc.Logs, iikanji.Log{Kind: "access", Path: path})
	}
	if !known {
		return fmt.Errorf("access_log %s: no access log is written there now", path)
	}
	return nil
}

// already says whether a directive has the value in effect everywhere: it
// stands in its context, or in each server, or nginx has it by itself.
func (t *task) already(name string, set setting, words []string, where func(place) bool) bool {
	here, other, inServers := false, false, map[*directive]bool{}
	t.walk(t.root(), nil, func(p place) {
		switch {
		case p.name() != name:
		case !slices.EqualFunc(p.args(), words, sameValue):
			other = other || where(p)
		case p.within(set.context):
			here = true
		case len(p.around) == 2 && p.around[1].name() == "server":
			inServers[p.around[1]] = true
		}
	})
	if other {
		return false
	}
	servers := t.find("server", "http")
	byServers := set.context == "http" && len(servers) > 0 && len(inServers) == len(servers)
	return here || byServers || len(words) == 1 && set.builtIn != "" && sameValue(words[0], set.builtIn)
}

// everywhere chooses every directive of a name.
func everywhere(place) bool { return true }

// setDirective sets the directives of a name that where chooses, and adds one
// at the end of the context when none of them stands right in it.
func setDirective(c *conf, name, context string, words []string, where func(place) bool) error {
	found := false
	c.walk(c.files[0].root, nil, func(p place) {
		if p.name() != name {
			return
		}
		same := slices.EqualFunc(p.args(), words, sameValue)
		found = found || p.within(context) && (same || where(p))
		if !same && where(p) {
			p.setArgs(words...)
		}
	})
	if found {
		return nil
	}
	d := newDirective(name, words...)
	if context == "" {
		main := c.files[0].root
		at := slices.IndexFunc(main.items, func(d *directive) bool { return d.body != nil })
		main.insert(max(at, 0), d, "", "")
		return nil
	}
	around := c.find(context)
	if len(around) != 1 || around[0].body == nil {
		return fmt.Errorf("%s has %d %s blocks, want 1", c.files[0].path, len(around), context)
	}
	around[0].add(d)
	return nil
}

// within says whether a place is right inside the context, "" being the main one.
func (p place) within(context string) bool {
	if context == "" {
		return len(p.around) == 0
	}
	return len(p.around) == 1 && p.around[0].name() == context
}
