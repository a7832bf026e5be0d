package main

import (
	"os"
	"slices"
	"strings"
)

// A goaccessLine translates arguments of GoAccess, pasted after `iikanji access`.
type goaccessLine struct {
	alpLine
	format, date, time string
}

// goaccessFormats are the names of formats that GoAccess knows.
var goaccessFormats = strings.Fields("COMBINED VCOMBINED COMMON VCOMMON W3C SQUID CLOUDFRONT CLOUDSTORAGE AWSELB AWSS3 AWSALB CADDY TRAEFIKCLF")

// goaccessShort are the short flags of GoAccess 1.9 that take a value.
const goaccessShort = "befjloMHpS"

// goaccessValues are the long flags of GoAccess 1.9 that take a value, and have no
// counterpart here.
var goaccessValues = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(`--datetime-format --tz --color --color-scheme --html-custom-css --html-custom-js
		--html-prefs --html-refresh --html-report-title --hl-header --addr --port --ws-url --origin --ping-interval --fifo-in --fifo-out
		--ssl-cert --ssl-key --unix-socket --user-name --pid-file --browsers-file --date-spec --hour-spec --db-path --keep-last --jobs
		--chunk-size --sort-panel --enable-panel --ignore-panel --ignore-referrer --hide-referrer --static-file --geoip-database
		--num-tests --debug-file --invalid-requests --unknowns-log --http-method --http-protocol --anonymize-level --agent-list-file
		--log-size --user-agents-file --exclude-user --process-num`) {
		set[name] = true
	}
	return set
}()

// isGoaccess reports whether a line of arguments is one of GoAccess: it begins with the
// name, or has a flag or a format that only GoAccess has.
func isGoaccess(args []string) bool {
	if len(args) > 0 && args[0] == "goaccess" && !isFile("goaccess") {
		return true
	}
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if name == "--date-format" || name == "--time-format" || name == "--log-format" && slices.Contains(goaccessFormats, strings.ToUpper(value)) && value == strings.ToUpper(value) {
			return true
		}
	}
	return false
}

// fromGoaccess translates a command line of GoAccess.
func fromGoaccess(args []string) (*alpLine, error) {
	g := &goaccessLine{alpLine: alpLine{found: true, args: args}}
	if args[0] == "goaccess" {
		g.args, g.whole = args[1:], true
	}
	for len(g.args) > 0 && g.err == nil {
		g.argument(g.take())
	}
	if g.format != "" && g.err == nil {
		g.logFormat()
	}
	if len(g.files) == 0 && !slices.Contains(g.out, "--help") {
		g.files = []string{"-"}
	}
	g.files = slices.Compact(g.files)
	g.out = append(g.out, g.files...)
	return &g.alpLine, g.err
}

// argument reads one argument and its value.
func (g *goaccessLine) argument(arg string) {
	name, value, joined := strings.Cut(arg, "=")
	switch {
	case arg == "-" || !strings.HasPrefix(arg, "-"):
		g.files = append(g.files, arg)
		return
	case arg[1] != '-' && len(arg) > 2 && strings.IndexByte(goaccessShort, arg[1]) >= 0:
		name, value, joined = arg[:2], strings.TrimPrefix(arg[2:], "="), true
	}
	takes := goaccessValues[name] || goaccessFlags[name] != nil || len(name) == 2 && strings.IndexByte(goaccessShort, name[1]) >= 0 || ownValues[name]
	if takes && !joined && len(g.args) > 0 {
		value = g.take()
	}
	switch flag := goaccessFlags[name]; {
	case flag != nil:
		flag(g, value)
	case ownValues[name]:
		g.out = append(g.out, name+"="+value)
	case g.goaccessSwitch(name):
	case name == "-h" || name == "--help":
		g.out = append(g.out, "--help")
	case name == "-V" || name == "--version":
		g.version()
	default:
		g.changed = append(g.changed, name+" is not needed: access prints one table, and --by groups it by route, status, host, user-agent, ip, hour …")
	}
}

// A goaccessFlag translates a flag that takes a value.
type goaccessFlag func(g *goaccessLine, value string)

// goaccessFlags are the flags of GoAccess with a value that are translated.
var goaccessFlags = map[string]goaccessFlag{
	"-f": (*goaccessLine).file, "--log-file": (*goaccessLine).file,
	"-e": (*goaccessLine).excludeIP, "--exclude-ip": (*goaccessLine).excludeIP,
	"-o": (*goaccessLine).output, "--output": (*goaccessLine).output, "--output-format": (*goaccessLine).output,
	"-p": (*goaccessLine).config, "--config-file": (*goaccessLine).config,
	"--log-format":    func(g *goaccessLine, v string) { g.format = v },
	"--date-format":   func(g *goaccessLine, v string) { g.date = v },
	"--time-format":   func(g *goaccessLine, v string) { g.time = v },
	"--max-items":     func(g *goaccessLine, v string) { g.flag("limit", v) },
	"--ignore-status": (*goaccessLine).ignoreStatus,
}

func (g *goaccessLine) file(name string) { g.files = append(g.files, name) }

func (g *goaccessLine) excludeIP(v string) {
	if strings.Contains(v, "-") {
		g.changed = append(g.changed, "--exclude-ip "+v+" is left out: --where 'ip!=ADDRESS' names single addresses")
		return
	}
	g.flag("where", "ip!="+v)
}

func (g *goaccessLine) ignoreStatus(v string) {
	if low, high, span := strings.Cut(v, "-"); span {
		g.flag("where", "status<"+low+" or status>"+high)
		return
	}
	g.flag("where", "status!="+v)
}

// goaccessSwitch reads flags without a value that select requests.
func (g *goaccessLine) goaccessSwitch(name string) bool {
	how := map[string]string{"--ignore-crawlers": "!~", "--crawlers-only": "~"}[name]
	if how == "" {
		return false
	}
	g.flag("where", "user-agent"+how+"(?i)bot|crawl|spider|slurp")
	return true
}

// output translates the name of a report, which GoAccess writes to that file.
func (g *goaccessLine) output(value string) {
	kind := value
	if i := strings.LastIndexByte(value, '.'); i >= 0 {
		kind = value[i+1:]
	}
	if kind == "json" || kind == "csv" {
		g.flag("format", kind)
		if kind != value {
			g.changed = append(g.changed, "the report is on standard output: > "+value)
		}
		return
	}
	g.changed = append(g.changed, "-o "+value+" is not written: access prints a table (--format markdown, csv or json)")
}

// config reads the formats of a configuration of GoAccess.
func (g *goaccessLine) config(name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		g.changed = append(g.changed, "--config-file "+name+" is not needed: "+formatDetected)
		return
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		value = strings.TrimSpace(value)
		for at, to := range map[string]*string{"log-format": &g.format, "date-format": &g.date, "time-format": &g.time} {
			if key == at && *to == "" {
				*to = value
			}
		}
	}
}

// logFormat translates the format of the lines. That of a name is detected, and so are
// the keys of JSON.
func (g *goaccessLine) logFormat() {
	text := strings.Trim(g.format, `"`)
	if text == strings.ToUpper(text) && !strings.Contains(text, "%") || strings.HasPrefix(strings.TrimSpace(text), "{") {
		g.changed = append(g.changed, "--log-format "+text+" is not needed: "+formatDetected)
		return
	}
	stamp := "%{sec}t"
	switch date, clock := g.date, g.time; {
	case date == "%s" || clock == "%s" || clock == "%f" || clock == "%*":
	case date != "" && clock != "":
		stamp = "%{" + date + " " + clock + "}t"
	}
	out, dropped := apacheFormat(text, stamp)
	if len(dropped) > 0 {
		g.changed = append(g.changed, strings.Join(dropped, " and ")+" is not read")
	}
	g.flag("log-format", out)
}

// goaccessLetters are the directives of GoAccess as those of Apache.
var goaccessLetters = map[byte]string{
	'h': "%h", 'r': "%r", 'm': "%m", 'U': "%U", 'q': "%q", 's': "%>s", 'b': "%b", 'R': "%{Referer}i", 'u': "%{User-Agent}i", 'v': "%v", 'e': "%u",
	'D': "%D", 'T': "%{s}T", 'L': "%{ms}T", 'H': "%H", '^': "%{-}n", 'C': "%{-}n", 'K': "%{-}n", 'k': "%{-}n", 'M': "%{-}n", 'n': "%{-}n",
}

// apacheFormat translates a log-format of GoAccess to one of Apache. stamp is the
// directive of the time. It returns the directives that are left out, too.
func apacheFormat(text, stamp string) (out string, dropped []string) {
	var b strings.Builder
	text = strings.NewReplacer("[%d:%t %^]", "\x00", "[%x %^]", "\x00", "[%x]", "\x00", "[%d:%t]", "\x00",
		"%dT%t", "\x01", "%d:%t", "\x01", "%d %t", "\x01", "%x", "\x01").Replace(text)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == 0:
			b.WriteString("%t")
		case c == 1:
			b.WriteString(stamp)
		case c == '~' && strings.HasPrefix(text[i:], "~h{"):
			if end := strings.IndexByte(text[i:], '}'); end > 0 {
				b.WriteString("%h")
				i += end
			}
		case c != '%' || i+1 == len(text):
			b.WriteByte(c)
		default:
			i++
			switch letter := goaccessLetters[text[i]]; {
			case letter != "":
				b.WriteString(letter)
			case text[i] == '%':
				b.WriteString("%%")
			case text[i] == 'd' || text[i] == 't':
				b.WriteString("%{-}n")
				dropped = append(dropped, "%"+text[i:i+1]+" apart from its date or time")
			}
		}
	}
	return b.String(), dropped
}
