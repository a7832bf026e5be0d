package main

import (
	"regexp"
	"strings"
)

// A ptAnswer is what slow does with a flag of pt-query-digest that it has no counterpart
// for: it leaves the flag out with a remark, or refuses it with advice.
type ptAnswer struct {
	value   bool // the flag takes a value
	no      bool // the flag can be negated
	ignored string
	advice  string
}

func ignoredFlag(why string) ptAnswer      { return ptAnswer{ignored: why} }
func ignoredValue(why string) ptAnswer     { return ptAnswer{ignored: why, value: true} }
func ignoredSwitch(why string) ptAnswer    { return ptAnswer{ignored: why, no: true} }
func refusedFlag(advice string) ptAnswer   { return ptAnswer{advice: advice} }
func refusedValue(advice string) ptAnswer  { return ptAnswer{advice: advice, value: true} }
func refusedSwitch(advice string) ptAnswer { return ptAnswer{advice: advice, no: true} }

const (
	noServer    = "slow reads files; --dsn names a server to read digests from"
	allEntries  = "slow reads every attribute of an entry"
	ownLayout   = "slow has a layout of its own"
	oneReading  = "slow ends with its log"
	savedDiff   = "--save FILE keeps a profile, and iikanji diff compares two"
	rangeOfTime = "--since and --until select entries by time"
	noPackets   = "slow reads logs and no packets"
)

// ptAnswers are the flags of pt-query-digest 3.2 and 2.1 that slow has no counterpart for.
var ptAnswers = map[string]ptAnswer{
	"--host": ignoredValue(noServer), "-h": ignoredValue(noServer), "--port": ignoredValue(noServer), "-P": ignoredValue(noServer),
	"--user": ignoredValue(noServer), "-u": ignoredValue(noServer), "--password": ignoredValue(noServer), "-p": ignoredValue(noServer),
	"--ask-pass": ignoredFlag(noServer), "--socket": ignoredValue(noServer), "-S": ignoredValue(noServer), "--database": ignoredValue(noServer),
	"-D": ignoredValue(noServer), "--charset": ignoredValue(noServer), "-A": ignoredValue(noServer), "--defaults-file": ignoredValue(noServer),
	"-F": ignoredValue(noServer), "--set-vars": ignoredValue(noServer), "--slave-user": ignoredValue(noServer), "--slave-password": ignoredValue(noServer),
	"--replica-user": ignoredValue(noServer), "--replica-password": ignoredValue(noServer), "--aux-dsn": ignoredValue(noServer),
	"--create-review-table": ignoredSwitch(noServer), "--create-history-table": ignoredSwitch(noServer),
	"--watch-server": ignoredValue(noPackets), "--tcpdump-errors": ignoredValue(noPackets), "--variations": ignoredValue("every row has its typical and its worst statement"),
	"--attribute-aliases": ignoredValue(allEntries), "--attribute-value-limit": ignoredValue(allEntries), "--check-attributes-limit": ignoredValue(allEntries),
	"--embedded-attributes": ignoredValue(allEntries), "--ignore-attributes": ignoredValue(allEntries), "--inherit-attributes": ignoredValue(allEntries),
	"--zero-admin": ignoredSwitch(allEntries), "--zero-bool": ignoredSwitch(allEntries),
	"--expected-range": ignoredValue(ownLayout), "--max-hostname-length": ignoredValue(ownLayout), "--max-line-length": ignoredValue(ownLayout),
	"--shorten": ignoredValue(ownLayout), "--report-histogram": ignoredValue(ownLayout), "--vertical-format": ignoredSwitch(ownLayout), "--apdex-threshold": ignoredValue(ownLayout),
	"--explain-hosts": ignoredSwitch(ownLayout), "--pipeline-profile": ignoredFlag(ownLayout), "--print-iterations": ignoredFlag(ownLayout),
	"--statistics": ignoredFlag("what could not be read is printed anyway"), "--continue-on-error": ignoredSwitch("a broken entry ends nothing"),
	"--version-check": ignoredSwitch("slow connects to nothing"), "--preserve-embedded-numbers": ignoredFlag("numbers in names are kept; --fold-tables folds those of tables"),
	"--daemonize": ignoredFlag(oneReading), "--pid": ignoredValue(oneReading), "--interval": ignoredValue(oneReading),
	"--log": ignoredValue("messages are on standard error"), "--read-timeout": ignoredValue("a pipe is read to its end"),
	"--resume": ignoredValue("the whole log is read; --since selects entries"), "--run-time-mode": ignoredValue(rangeOfTime),
	"--config": ignoredValue("the settings are flags here: see iikanji slow --help"), "--table-access": ignoredFlag("--by table groups by table"),
	"--fingerprints": ignoredFlag("--format json has the fingerprint of each row"), "--report": ignoredFlag(ownLayout), "--report-all": ignoredFlag("slow has no reviews, so it reports all rows with --limit 0"),

	"--no-report": refusedFlag("--save FILE keeps the profile"), "--noreport": refusedFlag("--save FILE keeps the profile"),
	"--review": refusedValue(savedDiff), "--review-history": refusedValue(savedDiff), "--history": refusedValue(savedDiff), "--report-history": refusedValue(savedDiff), "--save-results": refusedValue(savedDiff),
	"--explain":     refusedValue("--format pt prints an EXPLAIN statement for each query"),
	"--processlist": refusedValue("--dsn reads the digests of performance_schema of a running server"),
	"--outliers":    refusedValue("--limit 95%:20 shows rows up to a share of the time"),
	"--run-time":    refusedValue(rangeOfTime), "--iterations": refusedValue(rangeOfTime),
	"--sample": refusedValue("every row has its typical and its worst statement"), "--print": refusedFlag("every row has its typical and its worst statement"),
	"--select": refusedValue("--columns selects the columns of the table"), "--show-all": refusedValue("--format json has all databases, hosts and users of each row"),
	"--timeline": refusedFlag("iikanji access --by minute shows a time line of requests"),
	"--execute":  refusedValue("slow runs no statements; iikanji diff compares two logs"), "--execute-throttle": refusedValue("slow runs no statements"),
	"--mirror": refusedValue("slow runs no statements"), "--polarity": refusedSwitch(allEntries), "--version": refusedFlag("iikanji version prints the version"),
}

// ptShort are short flags of pt-query-digest with a value, which may follow at once, as in
// -uroot.
const ptShort = "ADFPSphu"

// ptDSN is a server that pt-query-digest connects to, as in h=db1,P=3306.
var ptDSN = regexp.MustCompile(`^[ADFPShptu]=[^,]*(,[ADFPShptu]=[^,]*)*$`)

// fromPT leaves the flags of pt-query-digest out that change nothing that slow prints, and
// returns a remark for each. A flag without a counterpart is an error with advice.
func fromPT(args []string) (kept, remarks []string, err error) {
	named := len(args) > 0 && strings.HasSuffix(args[0], "pt-query-digest") && !isFile(args[0])
	for i := 0; i < len(args); i++ {
		if ptDSN.MatchString(args[i]) && !isFile(args[i]) {
			remarks = append(remarks, "the server "+args[i][:2]+"… is not needed: "+noServer)
			continue
		}
		more := args[i+1:]
		name, answer, joined := ptFlagOf(args[i], more, named)
		switch {
		case name == "":
			kept = append(kept, args[i])
			if (args[i] == "--since" || args[i] == "--until") && len(more) > 0 && isNumber(more[0]) && len(more[0]) < 6 {
				i++
				kept = append(kept, args[i]+"s") // a number without a unit is seconds
			}
			continue
		case answer.advice != "":
			return nil, nil, ptError(answer.advice, "%s is a flag of pt-query-digest that slow does not have", name)
		}
		if answer.value && !joined && len(more) > 0 {
			i++
		}
		remarks = append(remarks, name+" is not needed: "+answer.ignored)
	}
	return kept, remarks, nil
}

// ptFlagOf finds the answer to an argument; name is empty for anything else than a flag of the table.
// joined reports whether the argument has the flag's value too. named reports whether the
// line begins with the name of pt-query-digest.
func ptFlagOf(arg string, more []string, named bool) (name string, answer ptAnswer, joined bool) {
	if !strings.HasPrefix(arg, "-") || arg == "-" || arg == "--" {
		return "", answer, false
	}
	if arg[1] != '-' && strings.IndexByte(ptShort, arg[1]) >= 0 {
		if arg == "-h" && !named && (len(more) == 0 || strings.HasPrefix(more[0], "-") || isFile(more[0])) {
			return "", answer, false // help
		}
		return arg[:2], ptAnswers[arg[:2]], len(arg) > 2
	}
	name, _, joined = strings.Cut(arg, "=")
	if answer, known := ptAnswers[name]; known {
		return name, answer, joined
	}
	for _, prefix := range []string{"--no-", "--no"} {
		base, ok := strings.CutPrefix(name, prefix)
		if answer := ptAnswers["--"+base]; ok && answer.no {
			answer.value = false
			return name, answer, joined
		}
		if answer := ptAnswers["--"+base]; ok && answer.value && prefix == "--no-" { // --no-inherit-attributes
			answer.value = false
			return name, answer, joined
		}
	}
	return "", answer, false
}
