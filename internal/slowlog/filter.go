package slowlog

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// An Entry is one entry of a log in a filter. It is valid during the call.
type Entry struct {
	collector *collector
	ev        *event
	db        []byte
	user      []byte
	host      []byte
}

// A term is one comparison of a filter.
type term func(*Entry) bool

// whereFields are the fields of a filter, for error messages.
const whereFields = "time, lock, rows_sent, rows_examined, rows_affected, bytes_sent, db, user, host, thread, digest, statement, full_scan, full_join, filesort, tmp_table, tmp_disk, error"

var whereTerm = regexp.MustCompile(`^\s*([a-z_]+)\s*(<=|>=|!=|!~|=|~|<|>)\s*(.*?)\s*$`)

// ParseWhere reads a filter: comparisons joined by "and", as in
//
//	time > 100ms and db = isu and statement ~ ^select
//
// Times take units (ms, s; a bare number is seconds); texts compare with = and
// != exactly, with ~ and !~ by a regular expression; full_scan, full_join,
// filesort, tmp_table, tmp_disk and error are yes or no. The empty filter is nil.
func ParseWhere(text string) (func(*Entry) bool, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var terms []term
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "&&", " and "), " and ") {
		t, err := parseTerm(part)
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
	}
	return func(e *Entry) bool {
		for _, t := range terms {
			if !t(e) {
				return false
			}
		}
		return true
	}, nil
}

func parseTerm(part string) (term, error) {
	m := whereTerm.FindStringSubmatch(part)
	if m == nil {
		return nil, fmt.Errorf("%q is not a comparison such as time > 100ms", strings.TrimSpace(part))
	}
	field, op, value := m[1], m[2], strings.Trim(m[3], `"'`)
	if get := numberField(field); get != nil {
		return numberTerm(field, op, value, get)
	}
	if get := textField(field); get != nil {
		return textTerm(op, value, get)
	}
	if bit := flagField(field); bit != 0 {
		return flagTerm(op, value, bit)
	}
	return nil, fmt.Errorf("%q is not a field of filters: %s", field, whereFields)
}

func numberField(name string) func(*event) int64 {
	switch name {
	case "time", "query_time", "duration":
		return func(e *event) int64 { return e.query }
	case "lock", "lock_time":
		return func(e *event) int64 { return e.lock }
	case "rows_sent":
		return func(e *event) int64 { return e.sent }
	case "rows_examined":
		return func(e *event) int64 { return e.examined }
	case "rows_affected":
		return func(e *event) int64 { return e.affected }
	case "bytes_sent", "bytes":
		return func(e *event) int64 { return e.bytes }
	case "thread", "thread_id":
		return func(e *event) int64 { return int64(e.thread) }
	}
	return nil
}

func numberTerm(field, op, value string, get func(*event) int64) (term, error) {
	want, err := whereNumber(field, value)
	if err != nil {
		return nil, err
	}
	switch op {
	case "=":
		return func(e *Entry) bool { return get(e.ev) == want }, nil
	case "!=":
		return func(e *Entry) bool { return get(e.ev) != want }, nil
	case "<":
		return func(e *Entry) bool { return get(e.ev) < want }, nil
	case "<=":
		return func(e *Entry) bool { return get(e.ev) <= want }, nil
	case ">":
		return func(e *Entry) bool { return get(e.ev) > want }, nil
	case ">=":
		return func(e *Entry) bool { return get(e.ev) >= want }, nil
	}
	return nil, fmt.Errorf("%s is a number: compare it with = != < <= > >=", field)
}

func whereNumber(field, value string) (int64, error) {
	if !strings.HasPrefix(field, "time") && !strings.HasPrefix(field, "lock") && field != "query_time" && field != "duration" {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %q is not a whole number", field, value)
		}
		return n, nil
	}
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return int64(s * 1e9), nil
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a duration such as 100ms", field, value)
	}
	return int64(d), nil
}

func textField(name string) func(*Entry) []byte {
	data := func(e *Entry) []byte { return e.collector.batch.data }
	switch name {
	case "db", "schema":
		return func(e *Entry) []byte { return e.db }
	case "user":
		return func(e *Entry) []byte { return e.user }
	case "host":
		return func(e *Entry) []byte { return e.host }
	case "statement", "sql", "query":
		return func(e *Entry) []byte { return e.ev.sql.of(data(e)) }
	case "digest":
		return func(e *Entry) []byte { return fmt.Appendf(nil, "%016x", e.ev.digest) }
	}
	return nil
}

func textTerm(op, value string, get func(*Entry) []byte) (term, error) {
	switch op {
	case "=":
		return func(e *Entry) bool { return string(get(e)) == value }, nil
	case "!=":
		return func(e *Entry) bool { return string(get(e)) != value }, nil
	case "~", "!~":
		re, err := regexp.Compile("(?i)" + value)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", value, err)
		}
		want := op == "~"
		return func(e *Entry) bool { return re.Match(get(e)) == want }, nil
	}
	return nil, fmt.Errorf("texts compare with = != ~ !~, not %s", op)
}

func flagField(name string) flags {
	switch name {
	case "full_scan":
		return flagFullScan
	case "full_join":
		return flagFullJoin
	case "filesort":
		return flagFilesort
	case "tmp_table":
		return flagTmpTable
	case "tmp_disk":
		return flagTmpDisk
	case "error":
		return flagError
	}
	return 0
}

func flagTerm(op, value string, bit flags) (term, error) {
	want := false
	switch strings.ToLower(value) {
	case "yes", "true", "1", "on":
		want = true
	case "no", "false", "0", "off":
	default:
		return nil, fmt.Errorf("%q is not yes or no", value)
	}
	if op != "=" && op != "!=" {
		return nil, fmt.Errorf("yes and no compare with = and !=, not %s", op)
	}
	want = want == (op == "=")
	return func(e *Entry) bool { return (e.ev.flags&bit != 0) == want }, nil
}
