package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// A setting is one directive that the "set" edit may write.
type setting struct {
	context string // where it is added: "" is the main one
	form    *regexp.Regexp
	weakens []iikanji.Promise // when it is set to what off matches
	off     *regexp.Regexp
}

var (
	onOff    = regexp.MustCompile(`^(on|off)$`)
	count    = regexp.MustCompile(`^[0-9]{1,7}$`)
	workers  = regexp.MustCompile(`^([0-9]{1,4}|auto)$`)
	size     = regexp.MustCompile(`^[0-9]{1,6}[kKmM]?$`)
	sizes    = regexp.MustCompile(`^[0-9]{1,4} [0-9]{1,6}[kKmM]?$`)
	duration = regexp.MustCompile(`^[0-9]{1,6}(ms|s|m|h|d)?$`)
	cacheOf  = regexp.MustCompile(`^(off|max=[0-9]{1,7}( inactive=[0-9]{1,5}[smh])?)$`)
	access   = regexp.MustCompile(`^(off|/[^\s;{}]+( [a-z0-9_]+)?( buffer=[0-9]{1,5}[kKmM])?( flush=[0-9]{1,4}(ms|s|m))?)$`)
	isOff    = regexp.MustCompile(`^off$`)
)

// settings are what may be set, as a remedy may come from anywhere. Nothing
// here runs programs, opens files for reading, or takes a path but a log's.
var settings = map[string]setting{
	"worker_processes":         {form: workers},
	"worker_rlimit_nofile":     {form: count},
	"worker_connections":       {context: "events", form: count},
	"multi_accept":             {context: "events", form: onOff},
	"sendfile":                 {context: "http", form: onOff},
	"tcp_nopush":               {context: "http", form: onOff},
	"tcp_nodelay":              {context: "http", form: onOff},
	"keepalive_requests":       {context: "http", form: count},
	"keepalive_timeout":        {context: "http", form: duration},
	"client_body_buffer_size":  {context: "http", form: size},
	"proxy_buffering":          {context: "http", form: onOff},
	"proxy_buffer_size":        {context: "http", form: size},
	"proxy_buffers":            {context: "http", form: sizes},
	"proxy_request_buffering":  {context: "http", form: onOff},
	"open_file_cache":          {context: "http", form: cacheOf},
	"open_file_cache_valid":    {context: "http", form: duration},
	"open_file_cache_min_uses": {context: "http", form: count},
	"open_file_cache_errors":   {context: "http", form: onOff},
	"gzip_static":              {context: "http", form: onOff},
	"etag":                     {context: "http", form: onOff},
	"access_log":               {context: "http", form: access, weakens: []iikanji.Promise{iikanji.Observability}, off: isOff},
}

// editSetting sets one directive in its context, and further in wherever it
// stands, as it would be hidden there.
func editSetting(c *conf, args map[string]string) (string, []iikanji.Promise, error) {
	name, value := args["directive"], args["value"]
	set, ok := settings[name]
	if !ok {
		return "", nil, fmt.Errorf("directive %q is not one that may be set", name)
	}
	if !set.form.MatchString(value) {
		return "", nil, fmt.Errorf("%s %q: want %s", name, value, set.form)
	}
	words := strings.Fields(value)
	where := func(p place) bool { return true }
	if name == "access_log" && words[0] != "off" {
		where = func(p place) bool { return p.arg(0) == words[0] } // other logs stay, and so does "off"
	}
	if err := setDirective(c, name, set.context, words, where); err != nil {
		return "", nil, err
	}
	var weakens []iikanji.Promise
	if set.off != nil && set.off.MatchString(value) {
		weakens = set.weakens
	}
	return fmt.Sprintf("set %s %s", name, value), weakens, nil
}

// setDirective sets the directives of a name that where chooses, and adds one
// at the end of the context when none of them stands right in it.
func setDirective(c *conf, name, context string, words []string, where func(place) bool) error {
	found := false
	c.walk(c.files[0].root, nil, func(p place) {
		if p.name() == name && where(p) {
			p.setArgs(words...)
			found = found || p.within(context)
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

// gzipTypes are what compresses well; nginx's own default is text/html alone.
const gzipTypes = "text/plain text/css text/javascript application/javascript application/json application/xml image/svg+xml"

var mediaType = regexp.MustCompile(`^([a-z0-9.+-]+/[a-z0-9.+-]+ ?)+$`)

// editGzip compresses answers, also those of the app, at a level that costs
// little: 1 gives most of what 6 does for a third of the CPU.
func editGzip(c *conf, args map[string]string) (string, []iikanji.Promise, error) {
	level, types := args["level"], args["types"]
	if level == "" {
		level = "1"
	}
	if n, err := strconv.Atoi(level); err != nil || n < 1 || n > 9 {
		return "", nil, fmt.Errorf("level %q: want 1 to 9", level)
	}
	if types == "" {
		types = gzipTypes
	}
	if !mediaType.MatchString(types) {
		return "", nil, fmt.Errorf("types %q: want media types", types)
	}
	where := func(p place) bool { return p.within("http") } // a location that says "off" has its reason
	for _, line := range []string{"gzip on", "gzip_comp_level " + level, "gzip_min_length 256", "gzip_proxied any", "gzip_vary on", "gzip_types " + types} {
		words := strings.Fields(line)
		if err := setDirective(c, words[0], "http", words[1:], where); err != nil {
			return "", nil, err
		}
	}
	return "compress answers of 256 bytes and more at level " + level, nil, nil
}
