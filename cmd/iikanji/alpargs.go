package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An alpLine translates arguments of alp and kataribe, pasted after
// `iikanji access`, into those of iikanji.
type alpLine struct {
	out     []string
	files   []string
	named   bool     // a file is among out
	changed []string // remarks on arguments that have no counterpart
	// rising: alp sorts the smallest value first unless -r is given.
	alp, reverse bool
	counts       bool // alp count: the number of requests by keys
	whole        bool // the line had the name of its program
	sort         string
	err          error
}

// alpFlag translates the value of a flag that takes one.
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

// alpValues are alp's flags with a value that iikanji does not have.
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
	"--matching-groups": sameFlag("matching"),
	"--location":        dropped("--location", "times are read with their zone (TZ=… sets that of the output)"),
	"--page":            dropped("--page", "there are no pages"),
	"--keys":            (*alpLine).keys,
	"--pattern":         dropped("--pattern", formatDetected),
	"--uri-subexp":      dropped("--uri-subexp", formatDetected),
	"--method-subexp":   dropped("--method-subexp", formatDetected), "--time-subexp": dropped("--time-subexp", formatDetected),
	"--restime-subexp": dropped("--restime-subexp", formatDetected), "--reqtime-subexp": dropped("--reqtime-subexp", formatDetected),
	"--body-bytes-subexp": dropped("--body-bytes-subexp", formatDetected), "--status-subexp": dropped("--status-subexp", formatDetected),
	"--uri-label": keyFlag("uri"), "--uri-key": keyFlag("uri"), "--method-label": keyFlag("method"), "--method-key": keyFlag("method"),
	"--time-label": keyFlag("timestamp"), "--time-key": keyFlag("timestamp"), "--apptime-label": keyFlag("upstream"),
	"--reqtime-label": keyFlag("time"), "--reqtime-key": keyFlag("upstream"), "--restime-key": keyFlag("time"),
	"--size-label": keyFlag("size"), "--body-bytes-key": keyFlag("size"), "--status-label": keyFlag("status"), "--status-key": keyFlag("status"),
}

// alpSwitches are alp's flags without a value that iikanji does not have.
var alpSwitches = map[string]func(a *alpLine){
	"-r": func(a *alpLine) { a.reverse = true }, "--reverse": func(a *alpLine) { a.reverse = true },
	"-q": func(a *alpLine) { a.out = append(a.out, "--query") }, "--query-string": func(a *alpLine) { a.out = append(a.out, "--query") },
	"--qs-ignore-values": func(*alpLine) {}, "--show-footers": func(*alpLine) {}, "--paging": func(*alpLine) {},
}

// ownValues are flags of iikanji with a value, which is copied unchanged.
var ownValues = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(`--by --where --since --until --limit --columns --percentiles --format --save --top-requests --from-offset
		--pos --workers --log-format --nginx-conf --field --route --routes -m --matching --max-bad`) {
		set[name] = true
	}
	return set
}()

// fromAlp translates a command line of alp or kataribe. line is the translated line,
// empty if nothing was translated.
func fromAlp(args []string) (translated []string, line string, err error) {
	a := &alpLine{}
	found := false
	if len(args) > 1 && (args[0] == "alp" || args[0] == "kataribe") && !isFile(args[0]) { // the whole line was pasted
		found, a.whole, args = true, true, args[1:]
	}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "-") {
			name, joined = args[i], false
		}
		switch flag, toggle := alpValues[name], alpSwitches[name]; {
		case flag != nil && (joined || i+1 < len(args)):
			if !joined {
				i++
				value = args[i]
			}
			found = found || name != "--sort"
			flag(a, value)
		case toggle != nil:
			found = true
			toggle(a)
		case ownValues[name]:
			a.out = append(a.out, args[i])
			if !joined && i+1 < len(args) {
				i++
				a.out = append(a.out, args[i])
			}
		case slices.Contains([]string{"ltsv", "json", "regexp"}, args[i]) && !a.alp && !isFile(args[i]):
			found, a.alp = true, true
			if args[i] != "regexp" {
				a.flag("log-format", args[i])
			}
		case args[i] == "count" && (a.alp || i == 0) && !isFile(args[i]):
			found, a.alp, a.counts = true, true, true
		case args[i] == "pcap":
			return nil, "", usageError("alp pcap reads packets; iikanji access reads logs of HTTP servers")
		default:
			a.named = a.named || args[i] == "-" || !strings.HasPrefix(args[i], "-")
			a.out = append(a.out, args[i])
		}
	}
	if a.err != nil {
		return nil, "", a.err
	}
	translated = a.finish()
	if found {
		line = "iikanji access " + quoteAll(translated)
		for _, c := range a.changed {
			line += "\n  " + c
		}
	}
	return translated, line, nil
}

func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func isNegative(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n < 0
}

// finish joins the parts. alp reads standard input without --file.
func (a *alpLine) finish() []string {
	if a.counts && a.sort == "" {
		a.sort = "count"
	}
	if sort := a.sort; sort != "" {
		if a.alp && !a.reverse && !strings.Contains(sort, ":") {
			sort += ":asc"
		}
		a.flag("sort", sort)
	}
	if (a.alp || a.whole) && len(a.files) == 0 && !a.named {
		a.files = []string{"-"}
	}
	return append(a.out, a.files...)
}

// columns translates the names of alp's columns. The method is a part of the
// route.
func (a *alpLine) columns(value string) {
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
		a.flag("percentiles", strings.Join(chosen, ","))
	}
}

// alpNames are the variables of alp's filters.
var alpNames = regexp.MustCompile(`\b(Uri|Method|Time|ResponseTime|BodyBytes|Status)\b`)

var alpFields = map[string]string{"Uri": "path", "Method": "method", "Time": "at", "ResponseTime": "time", "BodyBytes": "bytes", "Status": "status"}

// filters translates a filter of alp's expression language.
func (a *alpLine) filters(value string) {
	if strings.HasSuffix(value, ".toml") { // kataribe -f kataribe.toml
		a.changed = append(a.changed, "-f "+value+" is not needed: the format is detected, and routes are learned")
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
			a.err = usageError("--keys %s: requests are counted by %s", quoteArg(value), strings.Join(slices.Compact(slices.Sorted(maps.Values(alpKeys))), ", "))
			return
		}
		by = append(by, ours)
	}
	a.flag("by", strings.Join(by, ","))
	a.flag("columns", "count,"+strings.Join(by, "+"))
}

func (a *alpLine) load(value string) {
	a.err = usageError("--load: a saved profile is shown by: iikanji merge %s", quoteArg(value))
}

func (a *alpLine) config(value string) {
	a.err = usageError("--config: the settings in %s are flags here: see iikanji access --help", quoteArg(value))
}

// quoteAll joins arguments in the syntax of a shell.
func quoteAll(args []string) string {
	var all []string
	for _, arg := range args {
		all = append(all, quoteArg(arg))
	}
	return strings.Join(all, " ")
}

var plainArg = regexp.MustCompile(`^[A-Za-z0-9_./:=,+@%-]+$`)

func quoteArg(s string) string {
	if plainArg.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// translateArgs translates pasted arguments of `access` and `slow` and reports the
// line on standard error.
func translateArgs(e *env, args []string) ([]string, error) {
	for i, arg := range args[:max(len(args)-1, 0)] {
		if arg == "--limit" && isNegative(args[i+1]) { // the parser takes it for a flag
			return nil, usageError("--limit %s: the number of rows is 0 (all) or more", args[i+1])
		}
	}
	switch {
	case len(args) == 0 || len(args) > 1 && args[1] == "diff":
		return args, nil
	case args[0] == "slow":
		kept, remarks := fromPT(args[1:])
		for _, r := range remarks {
			fmt.Fprintf(e.Stderr, "iikanji: %s\n", r)
		}
		return append([]string{"slow"}, kept...), nil
	case args[0] != "access":
		return args, nil
	}
	translated, line, err := fromAlp(args[1:])
	if err != nil {
		return nil, err
	}
	if line != "" {
		fmt.Fprintf(e.Stderr, "iikanji: read as: %s\n", line)
	}
	return append([]string{"access"}, translated...), nil
}
