package slowlog

import (
	"bytes"
	"fmt"

	"github.com/iikanji/iikanji/internal/show/plain"
)

// Names of formats in an Intake. The names of slow logs begin with the server.
const (
	formatTrace   = "SQLite trace"
	formatDigests = "performance_schema digests"
	formatPGStat  = "pg_stat_statements"
	formatMariaDB = "MariaDB slow log"
	formatMySQL   = "MySQL slow log"
	formatPercona = "Percona Server slow log"
	formatTiDB    = "TiDB slow log"

	formatGeneral  = "MySQL general log"
	formatPostgres = "PostgreSQL log"
	formatCSVLog   = "PostgreSQL csvlog"
	formatJSONLog  = "PostgreSQL jsonlog"
)

// detect returns the format of a log with the first bytes head, "" if unknown.
func detect(head []byte) string {
	switch {
	case looksLikeTrace(head):
		return formatTrace
	case looksLikePGStat(head):
		return formatPGStat
	case looksLikeDigests(head):
		return formatDigests
	}
	at := 0
	if !startsEntry(head, 0) {
		if at = findEntry(head, 1); at < 0 {
			return detectOther(head)
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
	case has("\n# Conn_ID: "):
		return formatTiDB
	case has("\n# Schema: "), has("Log_slow_rate_type: "):
		return formatPercona
	}
	return formatMySQL
}

// detectOther returns the format of a log without entries of a slow log, "" if
// unknown.
func detectOther(head []byte) string {
	switch {
	case startsCSV(head, 0) || findCSV(head, 1) >= 0:
		return formatCSVLog
	case startsGeneral(head, 0) || findGeneral(head, 1) >= 0:
		return formatGeneral
	case looksLikeJSONLog(head):
		return formatJSONLog
	case looksLikeStderr(head):
		return formatPostgres
	}
	return detectHeader(head)
}

// looksLikeStderr reports whether a line of head is a message of PostgreSQL: its prefix
// has a time or a process id, or it is about a statement and its prefix names a user, a
// database or a client, or is empty.
func looksLikeStderr(head []byte) bool {
	p := 0
	if !startsPostgres(head, 0) {
		if p = findPostgres(head, 1); p < 0 {
			return false
		}
	}
	line, _, _ := bytes.Cut(head[p:], []byte{'\n'})
	line = line[:min(len(line), aheadPostgres)]
	from, to, _ := pgSeverity(line)
	var r pgRecord
	pgPrefix(line[:from], &r)
	if r.at != 0 || r.pid != 0 {
		return true
	}
	if from > 0 && r.user == nil && r.db == nil && r.host == nil {
		return false
	}
	_, ok := parsePGMessage(line[min(to+3, len(line)):])
	return ok
}

// looksLikeJSONLog reports whether the first line is a message of a jsonlog.
func looksLikeJSONLog(head []byte) bool {
	var r pgRecord
	_, why := jsonScanner{}.next(head, 0, &r)
	return why == "" && r.pid != 0 && r.at != 0
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
	if len(bytes.TrimSpace(head)) == 0 {
		return &Error{name + " is empty", []string{"turn the slow log on: SET GLOBAL slow_query_log=1, long_query_time=0"}}
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return &Error{name + " is in UTF-16", []string{"convert it first: iconv -f UTF-16 -t UTF-8 FILE | iikanji slow -"}}
	}
	return &Error{fmt.Sprintf("%s is not a statement log: it begins with %q", name, plain.CutBytes(string(bytes.ToValidUTF8(head[:min(len(head), 60)], []byte("\uFFFD"))), 60)),
		[]string{"supported: slow logs and general logs of MariaDB, MySQL and Percona Server, logs of PostgreSQL, performance_schema digests as TSV, and SQLite traces as JSON lines"}}
}
