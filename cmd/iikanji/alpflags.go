package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// An alpFlag translates the value of a flag that takes one.
type alpFlag func(a *alpLine, value string)

func (a *alpLine) flag(name, value string) { a.out = append(a.out, "--"+name+"="+value) }

// sameFlag passes a value to a flag of iikanji.
func sameFlag(name string) alpFlag { return func(a *alpLine, v string) { a.flag(name, v) } }

// keyFlag assigns a key of LTSV or JSON to a field.
func keyFlag(field string) alpFlag {
	return func(a *alpLine, v string) { a.flag("field", field+"="+v) }
}

// dropped ignores a flag with a reason.
func dropped(flag, why string) alpFlag {
	return func(a *alpLine, _ string) { a.changed = append(a.changed, flag+" is not needed: "+why) }
}

const formatDetected = "the format is detected (--log-format sets it)"

// alpValues are the flags with a value of alp 1.0.21 and kataribe 0.4.1 that iikanji does
// not have.
var alpValues = map[string]alpFlag{
	"--file":            func(a *alpLine, v string) { a.files = append(a.files, v) },
	"-o":                (*alpLine).columns,
	"--output":          (*alpLine).columns,
	"-f":                (*alpLine).filters,
	"--filters":         (*alpLine).filters,
	"--sort":            func(a *alpLine, v string) { a.sort = v },
	"-d":                sameFlag("save"),
	"--dump":            sameFlag("save"),
	"-l":                (*alpLine).load,
	"--load":            (*alpLine).load,
	"-c":                (*alpLine).config,
	"--config":          (*alpLine).config,
	"-conf":             (*alpLine).bundles,
	"--conf":            (*alpLine).bundles,
	"--matching-groups": sameFlag("matching"),
	"--location":        dropped("--location", "times are read with their zone (TZ=… sets that of the output)"),
	"--page":            dropped("--page", "there are no pages"),
	"--keys":            (*alpLine).keys,
	"--pcap-server-ip":  (*alpLine).pcap, "--pcap-server-port": (*alpLine).pcap,
	"--pattern":       dropped("--pattern", formatDetected),
	"--uri-subexp":    dropped("--uri-subexp", formatDetected),
	"--method-subexp": dropped("--method-subexp", formatDetected), "--time-subexp": dropped("--time-subexp", formatDetected),
	"--restime-subexp": dropped("--restime-subexp", formatDetected), "--reqtime-subexp": dropped("--reqtime-subexp", formatDetected),
	"--body-bytes-subexp": dropped("--body-bytes-subexp", formatDetected), "--status-subexp": dropped("--status-subexp", formatDetected),
	"--uri-label": keyFlag("uri"), "--uri-key": keyFlag("uri"), "--method-label": keyFlag("method"), "--method-key": keyFlag("method"),
	"--time-label": keyFlag("timestamp"), "--time-key": keyFlag("timestamp"), "--apptime-label": keyFlag("upstream"),
	"--reqtime-label": keyFlag("time"), "--reqtime-key": keyFlag("upstream"), "--restime-key": keyFlag("time"),
	"--size-label": keyFlag("size"), "--body-bytes-key": keyFlag("size"), "--status-label": keyFlag("status"), "--status-key": keyFlag("status"),
}

// alpSwitches are the flags without a value of alp and kataribe that iikanji does not
// have.
var alpSwitches = map[string]func(a *alpLine){
	"-r": func(a *alpLine) { a.reverse = true }, "--reverse": func(a *alpLine) { a.reverse = true },
	"-q": func(a *alpLine) { a.out = append(a.out, "--query") }, "--query-string": func(a *alpLine) { a.out = append(a.out, "--query") },
	"--qs-ignore-values": func(*alpLine) {}, "--show-footers": func(*alpLine) {}, "--paging": func(*alpLine) {},
	"-generate": (*alpLine).generate, "--generate": (*alpLine).generate,
	"-v": (*alpLine).version, "--version": (*alpLine).version,
}

// ownValues are flags of iikanji with a value, which is copied unchanged.
var ownValues = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(`--by --where --since --until --limit --columns --percentiles --format --save --top-requests --from-offset
		--pos --workers --log-format --sql --nginx-conf --field --route --routes -m --matching --max-bad`) {
		set[name] = true
	}
	return set
}()

func (a *alpLine) pcap(string) {
	a.err = usageError("--pcap-server-ip and --pcap-server-port: alp pcap reads packets; iikanji access reads logs of HTTP servers")
}

func (a *alpLine) generate() {
	a.err = usageError("kataribe -generate writes a configuration, and iikanji access needs none: give it the log")
}

func (a *alpLine) version() {
	a.err = usageError("--version: iikanji version prints the version")
}

// columns translates the names of alp's columns. The method is a part of the
// route.
func (a *alpLine) columns(value string) {
	if a.diff {
		a.noDiff("--output")
		return
	}
	if value == "all" {
		a.flag("columns", "all")
		return
	}
	var names, chosen []string
	for c := range strings.SplitSeq(value, ",") {
		c = strings.TrimSpace(c)
		switch {
		case c == "method" || c == "min_body" || c == "min-body":
			continue
		case isPercentile(c):
			chosen = append(chosen, strings.TrimPrefix(c, "p"))
		}
		names = append(names, c)
	}
	a.flag("columns", strings.Join(names, ","))
	if len(chosen) > 0 {
		a.percentiles = chosen
		a.flag("percentiles", strings.Join(chosen, ","))
	}
}

// alpNames are the variables of alp's filters.
var alpNames = regexp.MustCompile(`\b(Uri|Method|Time|ResponseTime|BodyBytes|Status)\b`)

var alpFields = map[string]string{"Uri": "path", "Method": "method", "Time": "at", "ResponseTime": "time", "BodyBytes": "bytes", "Status": "status"}

// filters translates a filter of alp's expression language.
func (a *alpLine) filters(value string) {
	if a.kataribe || strings.HasSuffix(value, ".toml") { // kataribe -f kataribe.toml
		a.bundles(value)
		return
	}
	if strings.Contains(value, "TimeAgo(") || strings.Contains(value, "BetweenTime(") {
		a.err = usageError("-f %q: functions of times are --since and --until here, as in --since 5m", value)
		return
	}
	a.flag("where", alpNames.ReplaceAllStringFunc(value, func(s string) string { return alpFields[s] }))
}

// alpKeys are what alp's example logs call the values that rows are grouped by.
var alpKeys = map[string]string{
	"ua": "user-agent", "http_user_agent": "user-agent", "user_agent": "user-agent", "uri": "url", "request_uri": "url",
	"status": "status", "method": "method", "request_method": "method", "host": "host", "vhost": "host", "http_host": "host",
	"remote_addr": "ip", "remote_ip": "ip", "ip": "ip", "user": "user", "remote_user": "user",
}

// keys translates the keys of alp count.
func (a *alpLine) keys(value string) {
	var by []string
	for key := range strings.SplitSeq(value, ",") {
		ours := alpKeys[strings.ToLower(strings.TrimSpace(key))]
		if ours == "" {
			a.err = usageError("--keys %s: requests are counted by %s", host.QuoteAll(value), strings.Join(slices.Compact(slices.Sorted(maps.Values(alpKeys))), ", "))
			return
		}
		by = append(by, ours)
	}
	a.flag("by", strings.Join(by, ","))
	a.flag("columns", "count,"+strings.Join(by, "+"))
}

func (a *alpLine) load(value string) {
	a.err = usageError("--load: a profile that --save wrote is shown by: iikanji merge %[1]s, and compared by: iikanji access diff %[1]s LOG", host.QuoteAll(value))
}

func (a *alpLine) config(value string) {
	a.err = usageError("--config: the settings in %s are flags here: see iikanji access --help", host.QuoteAll(value))
}
