package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// An alpLine translates arguments of alp and kataribe, pasted after
// `iikanji access`, into those of iikanji.
type alpLine struct {
	args    []string // what is not read yet
	out     []string
	files   []string
	named   bool     // a file is among out
	found   bool     // something was translated
	changed []string // remarks on arguments that have no counterpart
	// rising: alp sorts the smallest value first unless -r is given.
	alp, reverse bool
	counts, diff bool   // alp count and alp diff
	top          string // alp topN: the number of requests
	whole        bool   // the line had the name of its program
	kataribe     bool   // … which is kataribe
	sort         string
	percentiles  []string // columns that -o or --percentiles chose
	err          error
}

// fromAlp translates a command line of alp, kataribe or GoAccess. line is the translated line,
// empty if nothing was translated.
func fromAlp(args []string) (translated []string, line string, err error) {
	if isGoaccess(args) {
		g, err := fromGoaccess(args)
		if err != nil {
			return nil, "", err
		}
		return g.out, g.line(g.out), nil
	}
	a := &alpLine{args: args}
	if len(args) > 1 && (args[0] == "alp" || args[0] == "kataribe") && !isFile(args[0]) { // the whole line was pasted
		a.found, a.whole, a.kataribe, a.args = true, true, args[0] == "kataribe", args[1:]
	}
	for first := true; len(a.args) > 0 && a.err == nil; first = false {
		a.args = append(splitShort(a.args[0]), a.args[1:]...)
		arg := a.take()
		if !a.subcommand(arg, first) && !a.flagOf(arg) {
			a.named = a.named || arg == "-" || !strings.HasPrefix(arg, "-")
			a.out = append(a.out, arg)
		}
	}
	if a.err == nil {
		translated = a.finish()
	}
	if a.err != nil {
		return nil, "", a.err
	}
	if a.found {
		line = a.line(translated)
	}
	return translated, line, nil
}

// line is the translated line with the remarks.
func (a *alpLine) line(translated []string) string {
	line := "iikanji access " + host.QuoteAll(translated...)
	for _, c := range a.changed {
		line += "\n  " + c
	}
	return line
}

// take removes the first argument that is not read yet.
func (a *alpLine) take() string {
	arg := a.args[0]
	a.args = a.args[1:]
	return arg
}

// splitShort splits short flags that share a dash, as in -rq, and the value of one from
// its flag, as in -ocount.
func splitShort(arg string) (args []string) {
	if len(arg) < 3 || arg[0] != '-' || arg[1] == '-' || arg[2] == '=' || alpValues[arg] != nil || alpSwitches[arg] != nil {
		return []string{arg}
	}
	for i := 1; i < len(arg); i++ {
		switch arg[i] {
		case 'r', 'q':
			args = append(args, "-"+arg[i:i+1])
		case 'o', 'f', 'm':
			if i+1 < len(arg) {
				return append(args, "-"+arg[i:i+1], strings.TrimPrefix(arg[i+1:], "="))
			}
			args = append(args, "-"+arg[i:])
		default:
			return []string{arg}
		}
	}
	return args
}

// subcommand reads a name of a subcommand of alp. first reports whether it is the
// first argument.
func (a *alpLine) subcommand(arg string, first bool) bool {
	if isFile(arg) || a.kataribe {
		return false
	}
	switch begins := a.alp || first; {
	case (arg == "ltsv" || arg == "json" || arg == "regexp") && !a.alp:
		if arg != "regexp" {
			a.flag("log-format", arg)
		}
	case arg == "count" && begins:
		a.counts = true
	case arg == "diff" && begins:
		a.diff = true
	case arg == "topN" && begins:
		a.top = "50" // alp's default
		if len(a.args) > 0 && isNumber(a.args[0]) {
			a.top = a.take()
		}
	case arg == "pcap" && begins:
		a.err = usageError("alp pcap reads packets; iikanji access reads logs of HTTP servers")
	case arg == "completion" && a.whole:
		a.err = usageError("alp completion: iikanji completion bash|zsh|fish prints the script")
	case arg == "help" && a.whole:
		a.out = append(a.out, "--help")
	default:
		return false
	}
	a.found, a.alp = true, true
	return true
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 31)
	return err == nil
}

// flagOf reads a flag and its value.
func (a *alpLine) flagOf(arg string) bool {
	if !strings.HasPrefix(arg, "-") || arg == "-" {
		return false
	}
	name, value, joined := strings.Cut(arg, "=")
	switch flag, toggle := alpValues[name], alpSwitches[name]; {
	case flag != nil && (joined || len(a.args) > 0):
		if !joined {
			value = a.take()
		}
		a.found = a.found || name != "--sort"
		flag(a, value)
	case toggle != nil:
		a.found = true
		if value != "false" {
			toggle(a)
		}
	case ownValues[name]:
		a.own(arg, name, value, joined)
	default:
		return false
	}
	return true
}

// own copies a flag of iikanji with its value.
func (a *alpLine) own(arg, name, value string, joined bool) {
	rest := []string{arg}
	if !joined && len(a.args) > 0 {
		value = a.take()
		rest = append(rest, value)
	}
	switch {
	case name == "--format" && value == "html":
		a.err = usageError("--format html: iikanji access writes table, tsv, csv, markdown and json; iikanji report writes HTML of what was measured")
	case a.diff && name == "--percentiles":
		a.noDiff(name)
	case name == "--percentiles":
		a.percentiles = strings.Split(value, ",")
		fallthrough
	default:
		a.out = append(a.out, rest...)
	}
}

// noDiff drops a flag about the columns of a comparison.
func (a *alpLine) noDiff(name string) {
	a.changed = append(a.changed, name+" is not needed: a comparison has columns of its own, the largest change first")
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
	switch {
	case a.diff:
		return a.finishDiff()
	case a.top != "":
		a.finishTop()
	case a.counts && a.sort == "":
		a.sort = "count"
	}
	if a.sort != "" {
		a.finishSort()
	}
	if (a.alp || a.whole) && len(a.files) == 0 && !a.named {
		a.files = []string{"-"}
	}
	return append(a.out, a.files...)
}

// finishSort adds the column to sort by.
func (a *alpLine) finishSort() {
	sort := a.sort
	switch p := strings.TrimPrefix(sort, "p"); {
	case sort == "method": // a route begins with its method
		sort = "uri"
	case sort == "min-body":
		a.err = usageError("--sort min-body: there is no column of the smallest answer; there are mean-bytes and max-bytes")
	case isPercentile(sort) && !slices.Contains([]string{"50", "90", "95", "99"}, p) && !slices.Contains(a.percentiles, p):
		a.flag("percentiles", strings.Join(append(a.percentiles, p), ","))
	}
	if a.alp && !a.reverse && !strings.Contains(sort, ":") {
		sort += ":asc"
	}
	a.flag("sort", sort)
}

// finishTop shows the slowest requests, which alp topN lists without routes.
func (a *alpLine) finishTop() {
	if a.sort == "bytes" {
		a.err = usageError("topN --sort bytes: the largest answers are shown by iikanji access --by url --sort max-bytes --limit %s", a.top)
	}
	a.flag("top-requests", a.top)
	a.sort = ""
}

// finishDiff builds the line of a comparison: diff and two files come first.
func (a *alpLine) finishDiff() []string {
	var files, flags []string
	for i := 0; i < len(a.out); i++ {
		arg := a.out[i]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			files = append(files, arg)
			continue
		}
		flags = append(flags, arg)
		if ownValues[arg] && i+1 < len(a.out) {
			i++
			flags = append(flags, a.out[i])
		}
	}
	if files = append(files, a.files...); len(files) != 2 {
		a.err = usageError("alp diff: iikanji access diff compares two logs, or two profiles that --save wrote")
	}
	if a.sort != "" {
		a.noDiff("--sort")
	}
	return append(append([]string{"diff"}, files...), flags...)
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
	case args[0] == "slow" && isPgbadger(args[1:]):
		translated, remarks, err := fromPgbadger(args[1:])
		for _, r := range remarks {
			fmt.Fprintf(e.Stderr, "iikanji: %s\n", r)
		}
		return append([]string{"slow"}, translated...), err
	case args[0] == "slow":
		kept, remarks, err := fromPT(args[1:])
		if err != nil {
			return nil, err
		}
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
