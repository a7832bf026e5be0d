package main

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// pgbadgerShort are the short flags of pgBadger 13 that take a value.
const pgbadgerShort = "aAbcdefgHiJjlLmNnoOpRrsTtuUxXzZ"

// pgbadgerSwitches are the short flags without a value among those letters.
const pgbadgerSwitches = "n"

// pgbadgerFlags are the long flags of pgBadger 13 that take a value, with their short names.
var pgbadgerFlags = map[string]string{
	"--average": "-a", "--histo-average": "-A", "--begin": "-b", "--dbclient": "-c", "--dbname": "-d", "--end": "-e", "--format": "-f",
	"--html-outdir": "-H", "--ident": "-i", "--jobs": "-j", "--Jobs": "-J", "--last-parsed": "-l", "--logfile-list": "-L", "--maxlength": "-m",
	"--appname": "-N", "--outfile": "-o", "--outdir": "-O", "--prefix": "-p", "--retention": "-R", "--remote-host": "-r", "--sample": "-s",
	"--title": "-T", "--top": "-t", "--dbuser": "-u", "--exclude-user": "-U", "--extension": "-x", "--extra-files": "-X", "--zcat": "-z", "--timezone": "-Z",
	"--pie-limit": "", "--exclude-query": "", "--exclude-file": "", "--include-query": "", "--include-file": "", "--include-time": "", "--exclude-time": "",
	"--exclude-appname": "", "--exclude-line": "", "--exclude-db": "", "--exclude-client": "", "--include-pid": "", "--include-session": "", "--log-timezone": "",
	"--journalctl": "", "--pid-dir": "", "--pid-file": "", "--command": "", "--tempdir": "", "--csv-separator": "", "--explain-url": "", "--charset": "",
	"--ssh-program": "", "--ssh-port": "", "--ssh-user": "", "--ssh-identity": "", "--ssh-timeout": "", "--ssh-option": "", "--month-report": "",
	"--day-report": "", "--anonymize-salt": "", "--graph-type": "",
}

// isPgbadger reports whether a line begins with the name of pgBadger, or has its flag of
// the prefix.
func isPgbadger(args []string) bool {
	if len(args) > 0 && args[0] == "pgbadger" && !isFile("pgbadger") {
		return true
	}
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); name == "--prefix" {
			return true
		}
	}
	return false
}

// A pgbadgerLine translates arguments of pgBadger, pasted after `iikanji slow`.
type pgbadgerLine struct {
	args, out, where []string
	remarks          []string
	err              error
}

// fromPgbadger translates a command line of pgBadger.
func fromPgbadger(args []string) (translated, remarks []string, err error) {
	p := &pgbadgerLine{args: args}
	if args[0] == "pgbadger" {
		p.args = args[1:]
	}
	for len(p.args) > 0 && p.err == nil {
		arg := p.args[0]
		p.args = p.args[1:]
		p.argument(arg)
	}
	if p.err != nil {
		return nil, nil, p.err
	}
	if len(p.where) > 0 {
		p.out = append(p.out, "--where="+strings.Join(p.where, " and "))
	}
	line := "read as: iikanji slow " + host.QuoteAll(p.out...)
	return p.out, append([]string{line}, p.remarks...), nil
}

// argument reads one argument and its value.
func (p *pgbadgerLine) argument(arg string) {
	name, value, joined := strings.Cut(arg, "=")
	switch {
	case arg == "-" || !strings.HasPrefix(arg, "-"):
		p.out = append(p.out, arg)
		return
	case arg[1] != '-' && len(arg) > 2:
		name, value, joined = arg[:2], arg[2:], true
	}
	short, takes := pgbadgerFlags[name]
	if len(name) == 2 {
		short, takes = name, strings.ContainsAny(name[1:], pgbadgerShort) && !strings.ContainsAny(name[1:], pgbadgerSwitches)
	}
	if takes && !joined && len(p.args) > 0 {
		value, p.args = p.args[0], p.args[1:]
	}
	p.flag(name, short, value)
}

// flag translates a flag. short is its short name, "" if it has none.
func (p *pgbadgerLine) flag(name, short, value string) {
	add := func(flag string) { p.out = append(p.out, flag+"="+value) }
	field := map[string]string{"-d": "db", "-u": "user", "-c": "host"}[short]
	switch {
	case field != "":
		p.where = append(p.where, field+" = "+strings.ReplaceAll(value, ",", "|"))
	case short == "-U":
		p.where = append(p.where, "user != "+strings.ReplaceAll(value, ",", "|"))
	case short == "-t":
		add("--limit")
	case short == "-b":
		add("--since")
	case short == "-e":
		add("--until")
	case short == "-j":
		add("--workers")
	case short == "-o" || short == "-x":
		p.output(value)
	case short == "-f" || short == "-p" || short == "-Z" || name == "--log-timezone" || short == "-i":
		p.remark(name, "the format and the prefix are detected, and times are read with their zone")
	case short == "-r" || short == "--journalctl" || name == "--journalctl" || name == "--command":
		p.err = usageError("%s: slow reads files and pipes: ssh HOST cat FILE | iikanji slow -", name)
	case short == "-h" || name == "--help":
		p.out = append(p.out, "--help")
	case short == "-V" || name == "--version":
		p.err = usageError("%s: iikanji version prints the version", name)
	case short == "-l" || short == "-I" || name == "--incremental" || name == "--last-parsed" || name == "--rebuild":
		p.err = usageError("%s: --save FILE keeps the profile of each log, and iikanji merge joins them", name)
	case strings.HasPrefix(name, "--exclude-") || strings.HasPrefix(name, "--include-") || short == "-S" || name == "--select-only" || short == "-N":
		p.err = usageError("%s: --where selects entries, as in --where 'db = isu and time > 1ms'", name)
	default:
		p.remark(name, ownLayout)
	}
}

func (p *pgbadgerLine) remark(name, why string) {
	p.remarks = append(p.remarks, name+" is not needed: "+why)
}

// output translates the name of a report, which pgBadger writes to that file.
func (p *pgbadgerLine) output(value string) {
	kind := value[strings.LastIndexByte(value, '.')+1:]
	if kind == "json" || kind == "csv" {
		p.out = append(p.out, "--format="+kind)
	}
	if kind != value || kind == "html" {
		p.remarks = append(p.remarks, fmt.Sprintf("%s is not written: slow prints on standard output", value))
	}
}
