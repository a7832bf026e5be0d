package slowlog

import (
	"bytes"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// aheadPostgres is how many bytes of a line hold its log_line_prefix and severity.
const aheadPostgres = 400

// postgresBoundary cuts a stderr log before the first line of each message.
// PostgreSQL writes a tab before further lines of a message.
var postgresBoundary = lines.Boundary{Find: findPostgres, Ahead: aheadPostgres}

func findPostgres(data []byte, from int) int {
	for {
		i := bytes.IndexByte(data[from-1:], '\n')
		if i < 0 || from+i >= len(data) {
			return -1
		}
		if from += i; startsPostgres(data, from) {
			return from
		}
		from++
	}
}

// startsPostgres reports whether a message starts at p: its line has a severity
// other than DETAIL and the like, which belong to the message before.
func startsPostgres(data []byte, p int) bool {
	line := data[p:min(len(data), p+aheadPostgres)]
	if len(line) == 0 || line[0] == '\t' {
		return false
	}
	if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
		line = line[:nl]
	}
	_, _, part := pgSeverity(line)
	return part == pgFirst
}

// A pgPart is the part of a message that a line begins.
type pgPart uint8

const (
	pgNone   pgPart = iota
	pgFirst         // the message itself
	pgFollow        // its detail, hint, context or statement
)

// pgSeverity finds the severity of a line: line[from:to], followed by ":  ".
func pgSeverity(line []byte) (from, to int, part pgPart) {
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte(":  "))
		if i < 0 {
			return 0, 0, pgNone
		}
		to = at + i
		for from = to; from > 0 && (line[from-1] >= 'A' && line[from-1] <= 'Z' || from == to && line[from-1] >= '1' && line[from-1] <= '5'); from-- {
		}
		switch string(line[from:to]) {
		case "LOG", "ERROR", "WARNING", "NOTICE", "INFO", "FATAL", "PANIC", "DEBUG1", "DEBUG2", "DEBUG3", "DEBUG4", "DEBUG5":
			return from, to, pgFirst
		case "DETAIL", "HINT", "CONTEXT", "STATEMENT", "QUERY", "LOCATION", "BACKTRACE":
			return from, to, pgFollow
		}
		at = to + 1
	}
}

// stderrScanner reads logs of log_destination stderr.
type stderrScanner struct{}

func (stderrScanner) next(data []byte, at int, r *pgRecord) (end int, why string) {
	if !startsPostgres(data, at) { // the rest of a message before the block or log
		if end = findPostgres(data, at+1); end < 0 {
			end = len(data)
		}
		return end, ""
	}
	if end = findPostgres(data, at+1); end < 0 {
		end = len(data)
	}
	record := data[at:end]
	from, to, _ := pgSeverity(record[:min(len(record), aheadPostgres)])
	pgPrefix(record[:from], r)
	r.severity = record[from:to]
	r.message, r.detail = pgParts(record[to+3:])
	return end, ""
}

// pgParts splits the text after a severity into the message and its detail.
func pgParts(text []byte) (message, detail []byte) {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 || at+i+1 >= len(text) {
			return text, nil
		}
		line := at + i + 1
		if text[line] == '\t' {
			at = line
			continue
		}
		head := text[line:min(len(text), line+aheadPostgres)]
		from, to, part := pgSeverity(head)
		if part == pgFollow && string(head[from:to]) == "DETAIL" {
			detail, _ = pgParts(text[line+to+3:])
		}
		return text[:line], bytes.TrimRight(detail, "\n")
	}
}

// pgPrefix reads what it recognises in a log_line_prefix: a time, the process id
// in brackets or a session id, and the user, database and host as in
// "user=a,db=b,client=c" or "a@b".
func pgPrefix(b []byte, r *pgRecord) {
	for i := 0; i+19 <= len(b); i++ {
		if t, n := parsePGTime(b[i:]); n > 0 {
			r.at = t
			b = append(bytes.Clone(b[:i]), b[i+n:]...)
			break
		}
	}
	for i := 0; i < len(b) && r.pid == 0; i++ {
		if b[i] == '[' || b[i] == '(' {
			if j := i + 1; j < len(b) && class[b[j]] == clDigit {
				r.pid = uint64(digits(b[j:]))
			}
		}
	}
	for _, word := range bytes.FieldsFunc(b, func(c rune) bool { return c == ' ' || c == ',' || c == ':' || c == ';' || c == '|' }) {
		key, value, isPair := bytes.Cut(word, []byte{'='})
		name, db, isAt := bytes.Cut(word, []byte{'@'})
		switch {
		case isPair && (string(key) == "user" || string(key) == "u"):
			r.user = value
		case isPair && (string(key) == "db" || string(key) == "database" || string(key) == "d"):
			r.db = value
		case isPair && (string(key) == "client" || string(key) == "host" || string(key) == "h"):
			r.host = value
		case isPair && r.pid == 0 && (string(key) == "pid" || string(key) == "p"):
			r.pid = uint64(digits(value))
		case !isPair && isAt && len(name) > 0 && r.user == nil:
			r.user, r.db = name, db
		}
	}
}
