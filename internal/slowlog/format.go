package slowlog

import (
	"bytes"
	"fmt"
)

// Names of formats in an Intake. The names of slow logs begin with the server.
const (
	formatTrace   = "SQLite trace"
	formatDigests = "performance_schema digests"
	formatMariaDB = "MariaDB slow log"
	formatMySQL   = "MySQL slow log"
	formatPercona = "Percona Server slow log"
)

// detect returns the format of a log with the first bytes head, "" if unknown.
func detect(head []byte) string {
	switch {
	case looksLikeTrace(head):
		return formatTrace
	case looksLikeDigests(head):
		return formatDigests
	}
	at := 0
	if !startsEntry(head, 0) {
		if at = findEntry(head, 1); at < 0 {
			return detectHeader(head)
		}
	}
	entry := head[at:]
	if end := findEntry(entry, 1); end > 0 {
		entry = entry[:end]
	}
	has := func(s string) bool { return bytes.Contains(entry, []byte(s)) }
	switch {
	case has("\n# Thread_id: ") && has("QC_hit: "):
		return formatMariaDB
	case has("\n# Schema: "), has("Log_slow_rate_type: "):
		return formatPercona
	}
	return formatMySQL
}

// detectHeader returns the format of a log that consists of headers of server
// starts, "" if head has anything else.
func detectHeader(head []byte) string {
	p, ev := parser{data: head}, event{}
	if end := p.tail(len(head), &ev); len(head) == 0 || end > 0 {
		return ""
	}
	if bytes.Contains(head, []byte("MariaDB")) {
		return formatMariaDB
	}
	return formatMySQL
}

func unknown(name string, head []byte) error {
	if len(head) == 0 {
		return &Error{name + " is empty", []string{"turn the slow log on: SET GLOBAL slow_query_log=1, long_query_time=0"}}
	}
	return &Error{fmt.Sprintf("%s is not a statement log: it begins with %q", name, clip(string(bytes.ToValidUTF8(head[:min(len(head), 60)], []byte("\uFFFD"))), 60)),
		[]string{"supported: slow logs of MariaDB, MySQL and Percona Server, performance_schema digests as TSV, and SQLite traces as JSON lines"}}
}
