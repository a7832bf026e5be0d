package nginxconf

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// A setting is one directive that the act "set" may write.
type setting struct {
	context string // where it is added: "" is the main context
	form    *regexp.Regexp
	// usual is nginx's usual default where it is not always the same. A change is compared
	// with it to compute which promises it weakens.
	usual string
	// outer settings do not change in a server or a location that has its own.
	// With buffering off there, answers reach clients in pieces (server-sent
	// events).
	outer bool
}

var (
	onOff         = regexp.MustCompile(`^(on|off)$`)
	count         = regexp.MustCompile(`^[0-9]{1,7}$`)
	bufferSize    = regexp.MustCompile(`^([0-9]{1,8}|[0-9]{1,5}[kK]|[0-9]{1,2}[mM])$`) // below 100m: each request may have one
	countAndSize  = regexp.MustCompile(`^[0-9]{1,4} [0-9]{1,6}[kK]?$`)
	openFileForm  = regexp.MustCompile(`^(off|max=[0-9]{1,7}( inactive=[0-9]{1,5}[smh])?)$`)
	accessLogForm = regexp.MustCompile(`^(off|/[^\s;{}"'\\$]+( [a-z0-9_]+)?( buffer=[0-9]{1,5}[kKmM])?( flush=[0-9]{1,4}(ms|s|m))?)$`)
)

// settings are the directives that may be set. A remedy may come from a
// proposer, which is not trusted: none of these runs a program, opens a file
// for reading, or takes a path other than that of an existing access log.
var settings = map[string]setting{
	"worker_processes":          {form: workerCount},
	"worker_rlimit_nofile":      {form: count, usual: "1024"},
	"worker_connections":        {context: "events", form: count},
	"multi_accept":              {context: "events", form: onOff},
	"accept_mutex":              {context: "events", form: onOff},
	"sendfile":                  {context: "http", form: onOff},
	"tcp_nopush":                {context: "http", form: onOff},
	"tcp_nodelay":               {context: "http", form: onOff},
	"reset_timedout_connection": {context: "http", form: onOff},
	"keepalive_requests":        {context: "http", form: count},
	"keepalive_timeout":         {context: "http", form: nginxedit.Duration},
	"client_body_buffer_size":   {context: "http", form: bufferSize},
	"client_header_buffer_size": {context: "http", form: bufferSize},
	"output_buffers":            {context: "http", form: countAndSize},
	"proxy_buffering":           {context: "http", form: onOff, outer: true},
	"proxy_buffer_size":         {context: "http", form: bufferSize, usual: "4k"},
	"proxy_buffers":             {context: "http", form: countAndSize},
	"proxy_busy_buffers_size":   {context: "http", form: bufferSize},
	"proxy_max_temp_file_size":  {context: "http", form: bufferSize},
	"proxy_request_buffering":   {context: "http", form: onOff, outer: true},
	"proxy_socket_keepalive":    {context: "http", form: onOff},
	"open_file_cache":           {context: "http", form: openFileForm},
	"open_file_cache_valid":     {context: "http", form: nginxedit.Duration},
	"open_file_cache_min_uses":  {context: "http", form: count},
	"open_file_cache_errors":    {context: "http", form: onOff},
	"gzip_static":               {context: "http", form: onOff},
	"gzip_vary":                 {context: "http", form: onOff},
	"etag":                      {context: "http", form: onOff},
	"access_log":                {context: "http", form: accessLogForm},
}

// maxIdle is the longest time for which an idle connection may stay open.
const maxIdle = 24 * time.Hour

// bounded refuses sizes that no machine can give to each request, and counts with
// which nginx does not work.
func (s setting) bounded(name, value string) error {
	words := strings.Fields(value)
	total := int64(1)
	switch s.form {
	case countAndSize:
		n, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("%s %q: want at least one buffer", name, value)
		}
		total, value = n, words[1]
		fallthrough
	case bufferSize:
		n, ok := nginx.Size(value)
		if name == "proxy_max_temp_file_size" {
			return nil // of a file, not of memory
		}
		if !ok || n < 1 || total*n > int64(maxAnswer) {
			return fmt.Errorf("%s %q: each request may have as much: want up to %s in all", name, strings.Join(words, " "), maxAnswer)
		}
	case workerCount:
		return checkProcesses(value)
	case nginxedit.Duration:
		if d, ok := nginxedit.TimeOf(value); !ok || d > maxIdle {
			return fmt.Errorf("%s %q: want a time up to %s", name, value, maxIdle)
		}
	}
	return nil
}

// setDirective sets one directive in its context, and in all blocks inside that
// have their own, which would hide it, unless it is an outer setting.
type setDirective struct {
	Directive string `arg:"directive,required" help:"its name"`
	Value     string `arg:"value,required" help:"its value"`

	set setting
}

// Validate is called by change.Decode.
func (a *setDirective) Validate() error {
	set, ok := settings[a.Directive]
	if !ok {
		names := slices.Sorted(maps.Keys(settings))
		if near := change.Nearest(a.Directive, names); near != "" {
			return fmt.Errorf("directive %.100q may not be set: did you mean %q?", a.Directive, near)
		}
		return fmt.Errorf("directive %.100q may not be set; those that may are %s", a.Directive, strings.Join(names, ", "))
	}
	if !set.form.MatchString(a.Value) {
		return fmt.Errorf("%s %q: want %s", a.Directive, a.Value, set.form)
	}
	if err := set.bounded(a.Directive, a.Value); err != nil {
		return err
	}
	a.set = set
	return nil
}

// promises are those that the value weakens in place of another one.
func (a *setDirective) promises(before string) []iikanji.Promise {
	return promise.Nginx.Of(a.Directive, before, a.Value)
}

// usual is the value that nginx has by default.
func (a *setDirective) usual() string { return cmp.Or(nginx.Default(a.Directive), a.set.usual) }

func (a *setDirective) Refine(act *change.Act) {
	weakens := a.promises(a.usual())
	act.Simplifies = len(weakens) == 0
	if slices.Contains(weakens, iikanji.Freshness) {
		act.Worth = change.WorthState
	}
	if a.Directive == "access_log" {
		act.Blinds = []iikanji.Source{iikanji.Access}
	}
}

// weaken notes the promises that the value weakens, in place of each value that
// it replaces.
func (a *setDirective) weaken(t *task, where func(nginx.Place) bool) {
	outside := true
	t.Walk(t.Root(), nil, func(p nginx.Place) {
		if p.Name() == a.Directive && where(p) {
			t.Weaken(a.promises(strings.Join(p.Args(), " "))...)
			outside = outside && !p.Within(a.set.context)
		}
	})
	if outside { // it is added where nginx's default was in effect
		t.Weaken(a.promises(a.usual())...)
	}
}

func (a *setDirective) edit(t *task) error {
	t.Says = fmt.Sprintf("set %s %s", a.Directive, a.Value)
	words := strings.Fields(a.Value)
	where := nginxedit.EveryPlace
	if a.set.outer {
		where = func(p nginx.Place) bool { return p.Within(a.set.context) }
	}
	if a.Directive == "access_log" && words[0] != "off" {
		if err := t.isLog(words[0]); err != nil {
			return err
		}
		where = func(p nginx.Place) bool { return p.Arg(0) == words[0] } // other logs stay, and so does "off"
	}
	if t.alreadySet(a.Directive, a.set, words, where) {
		return nil
	}
	a.weaken(t, where)
	if a.Directive == "worker_connections" {
		n, err := strconv.Atoi(a.Value)
		if err != nil || n < 16 || n > maxDescriptors/2 {
			return fmt.Errorf("worker_connections %q: want 16 to %d", a.Value, maxDescriptors/2)
		}
		return t.setConnections(n, true)
	}
	if err := nginxedit.SetEverywhere(t.Conf, a.Directive, a.set.context, words, where); err != nil {
		return err
	}
	return t.consistent()
}

// isLog refuses a file that is not a log of the service already. nginx's master
// creates the file, often as root, even when it only tests a configuration, and
// appends what clients send: this cannot be undone.
func (t *task) isLog(path string) error {
	known := false
	t.Walk(t.Root(), nil, func(p nginx.Place) { known = known || p.Name() == "access_log" && p.Arg(0) == path })
	for _, svc := range t.Site.Target.Services {
		known = known || svc.Name == t.Name && slices.Contains(svc.Logs, iikanji.Log{Kind: "access", Path: path})
	}
	if !known {
		return fmt.Errorf("access_log %s: no access log is written there now", path)
	}
	return nil
}

// alreadySet reports whether a directive has the value in effect everywhere: it
// is in its context, or in each server, or it is nginx's default.
func (t *task) alreadySet(name string, set setting, words []string, where func(nginx.Place) bool) bool {
	here, other, inServers := false, false, map[*nginx.Directive]bool{}
	t.Walk(t.Root(), nil, func(p nginx.Place) {
		switch {
		case p.Name() != name:
		case !slices.EqualFunc(p.Args(), words, nginxedit.SameValue):
			other = other || where(p)
		case p.Within(set.context):
			here = true
		case len(p.Around) == 2 && p.Around[1].Name() == "server":
			inServers[p.Around[1]] = true
		}
	})
	if other {
		return false
	}
	servers := t.Find("server", "http")
	byServers := set.context == "http" && len(servers) > 0 && len(inServers) == len(servers)
	return here || byServers || len(words) == 1 && nginx.Default(name) != "" && nginxedit.SameValue(words[0], nginx.Default(name))
}
