package main

import "strings"

// A ptIgnored is a flag of pt-query-digest that changes nothing that slow prints.
type ptIgnored struct {
	value bool // the flag takes one
	why   string
}

const (
	noServer   = "slow reads files; --dsn names a server to read digests from"
	allEntries = "slow reads every attribute of an entry"
	ownLayout  = "slow has a layout of its own"
)

// ptIgnoredFlags are left out of a pasted line, with a remark.
var ptIgnoredFlags = map[string]ptIgnored{
	"--host": {true, noServer}, "--port": {true, noServer}, "-P": {true, noServer}, "--user": {true, noServer}, "-u": {true, noServer},
	"--password": {true, noServer}, "--ask-pass": {false, noServer}, "--socket": {true, noServer}, "-S": {true, noServer},
	"--database": {true, noServer}, "-D": {true, noServer}, "--charset": {true, noServer}, "-A": {true, noServer},
	"--defaults-file": {true, noServer}, "-F": {true, noServer}, "--set-vars": {true, noServer}, "--slave-user": {true, noServer}, "--slave-password": {true, noServer},
	"--aux-dsn": {true, noServer}, "--create-review-table": {false, noServer}, "--no-create-review-table": {false, noServer}, "--create-history-table": {false, noServer},
	"--no-create-history-table": {false, noServer}, "--review-history": {true, noServer}, "--variations": {true, noServer}, "--watch-server": {true, noServer},
	"--attribute-aliases": {true, allEntries}, "--attribute-value-limit": {true, allEntries}, "--embedded-attributes": {true, allEntries},
	"--ignore-attributes": {true, allEntries}, "--inherit-attributes": {true, allEntries}, "--no-inherit-attributes": {false, allEntries},
	"--expected-range": {true, ownLayout}, "--max-hostname-length": {true, ownLayout}, "--max-line-length": {true, ownLayout},
	"--report-histogram": {true, ownLayout}, "--vertical-format": {false, ownLayout}, "--no-vertical-format": {false, ownLayout}, "--apdex-threshold": {true, ownLayout}, "--report": {false, ownLayout},
	"--statistics": {false, "what could not be read is printed anyway"}, "--continue-on-error": {false, "a broken entry ends nothing"}, "--no-continue-on-error": {false, "a broken entry ends nothing"},
	"--version-check": {false, "slow connects to nothing"}, "--preserve-embedded-numbers": {false, "numbers in names are kept; --fold-tables folds those of tables"},
	"--daemonize": {false, "slow ends with its log"}, "--pid": {true, "slow ends with its log"}, "--log": {true, "messages are on standard error"},
	"--read-timeout": {true, "a pipe is read to its end"}, "--resume": {true, "the whole log is read; --since selects entries"}, "--run-time-mode": {true, "--since and --until select entries by time"},
	"--config": {true, "the settings are flags here: see iikanji slow --help"}, "--table-access": {false, "--by table groups by table"}, "--fingerprints": {false, "--format json has the fingerprint of each row"},
}

// fromPT leaves the flags of pt-query-digest out that have no meaning for slow, and
// returns a remark for each.
func fromPT(args []string) (kept, remarks []string) {
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		flag, known := ptIgnoredFlags[name]
		if !known || args[i] == "--" {
			kept = append(kept, args[i])
			continue
		}
		if flag.value && !joined && i+1 < len(args) {
			i++
		}
		remarks = append(remarks, name+" is not needed: "+flag.why)
	}
	return kept, remarks
}
