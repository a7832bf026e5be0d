package accesslog

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// A Where is a condition on lines or rows: "status>=500", "method=GET|HEAD",
// "path~^/api", "time>200ms", "route!=/healthz".
type Where struct {
	text  string
	needs field                     // field that the log must have
	line  func(r *record) bool      // test of a line; nil for conditions on routes
	row   func(r *iikanji.Row) bool // test of a row, for conditions on routes
}

// ofRoute reports whether the condition is on routes, which are known only at
// the end.
func (w Where) ofRoute() bool { return w.row != nil }

// whereFields lists the fields of conditions, for messages.
const whereFields = "status, method, route, path, host, user-agent, user, time, upstream, bytes, at"

// ParseWhere reads conditions separated by commas; all must hold. Times without
// a zone are in zone.
func ParseWhere(s string, zone *time.Location) (all []Where, err error) {
	for _, text := range splitCommas(s) {
		w, err := parseCondition(strings.TrimSpace(text), zone)
		if err != nil {
			return nil, fmt.Errorf("reading the condition %q: %w", text, err)
		}
		all = append(all, w)
	}
	return all, nil
}

// operators, longest first.
var operators = []string{"!~", ">=", "<=", "!=", "==", "~", "=", ">", "<"}

func parseCondition(text string, zone *time.Location) (Where, error) {
	i := strings.IndexAny(text, "!<>=~")
	if i <= 0 {
		return Where{}, fmt.Errorf("it has no operator =, !=, <, <=, >, >=, ~ or !~")
	}
	name, rest := strings.TrimSpace(text[:i]), text[i:]
	var op string
	for _, o := range operators {
		if strings.HasPrefix(rest, o) {
			op = o
			break
		}
	}
	value := strings.Trim(strings.TrimSpace(rest[len(op):]), `"'`)
	if op == "==" {
		op = "="
	}
	w := Where{text: text}
	var err error
	switch name {
	case "status":
		w.needs = status
		w.line, err = statusCondition(op, value)
	case "time", "duration":
		w.needs = took
		w.line, err = numberCondition(op, value, parseTook, func(r *record) int64 { return r.took })
	case "upstream":
		w.needs = upstream
		w.line, err = numberCondition(op, value, parseTook, func(r *record) int64 { return r.upstream })
	case "bytes", "size":
		w.needs = size
		w.line, err = numberCondition(op, value, parseSize, func(r *record) int64 { return r.size })
	case "at", "timestamp":
		w.needs = stamp
		parse := func(s string) (int64, error) { t, err := ParseTime(s, zone); return t.UnixNano(), err }
		w.line, err = numberCondition(op, value, parse, func(r *record) int64 { return r.at })
	case "method":
		w.line, err = textCondition(op, value, func(r *record) []byte { return methodBytes[r.method] })
	case "path":
		w.line, err = textCondition(op, value, func(r *record) []byte { return pathOf(r.uri) })
	case "host":
		w.needs = host
		w.line, err = textCondition(op, value, func(r *record) []byte { return r.host })
	case "user-agent", "ua":
		w.needs = agent
		w.line, err = textCondition(op, value, func(r *record) []byte { return r.agent })
	case "user":
		w.needs = user
		w.line, err = textCondition(op, value, func(r *record) []byte { return r.user })
	case "route", "uri":
		var is func(b []byte) bool
		is, err = textTest(op, value)
		w.row = func(r *iikanji.Row) bool {
			_, route, ok := strings.Cut(r.Key, " ")
			return err == nil && (is([]byte(r.Key)) || ok && is([]byte(route))) != (op[0] == '!')
		}
	default:
		err = fmt.Errorf("%q is not one of %s", name, whereFields)
	}
	return w, err
}

var methodBytes = func() (all [][]byte) {
	for _, m := range methods {
		all = append(all, []byte(m))
	}
	return all
}()

func pathOf(uri []byte) []byte {
	if i := bytes.IndexByte(uri, '?'); i >= 0 {
		return uri[:i]
	}
	return uri
}

// statusCondition accepts numbers and classes: "404", "5xx", "404|499".
func statusCondition(op, value string) (func(*record) bool, error) {
	var lo, hi []int
	for v := range strings.SplitSeq(strings.ToLower(value), "|") {
		if len(v) == 3 && v[1:] == "xx" && v[0] >= '1' && v[0] <= '5' {
			lo, hi = append(lo, int(v[0]-'0')*100), append(hi, int(v[0]-'0')*100+99)
			continue
		}
		n, err := strconv.Atoi(v)
		if err != nil {
			return nil, fmt.Errorf("%q is neither a status nor a class such as 5xx", v)
		}
		lo, hi = append(lo, n), append(hi, n)
	}
	switch op {
	case "=", "!=":
		return func(r *record) bool {
			for i := range lo {
				if r.status >= lo[i] && r.status <= hi[i] {
					return op == "="
				}
			}
			return op != "="
		}, nil
	case "~", "!~":
		return nil, fmt.Errorf("a status is not a text: use = or >=")
	}
	return numberCondition(op, strconv.Itoa(lo[0]), parseSize, func(r *record) int64 { return int64(r.status) })
}

func parseTook(s string) (int64, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return int64(d), nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time such as 200ms or 1.5s", s)
	}
	return int64(v * 1e9), nil
}

func parseSize(s string) (int64, error) {
	unit := int64(1)
	for suffix, u := range map[string]int64{"k": 1 << 10, "m": 1 << 20, "g": 1 << 30} {
		if t, ok := strings.CutSuffix(strings.TrimSuffix(strings.ToLower(s), "ib"), suffix); ok {
			s, unit = t, u
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return n * unit, nil
}

// numberCondition compares a number; a line without the number never passes.
func numberCondition(op, value string, parse func(string) (int64, error), of func(*record) int64) (func(*record) bool, error) {
	v, err := parse(value)
	if err != nil {
		return nil, err
	}
	var test func(n int64) bool
	switch op {
	case "=":
		test = func(n int64) bool { return n == v }
	case "!=":
		test = func(n int64) bool { return n != v }
	case "<":
		test = func(n int64) bool { return n < v }
	case "<=":
		test = func(n int64) bool { return n <= v }
	case ">":
		test = func(n int64) bool { return n > v }
	case ">=":
		test = func(n int64) bool { return n >= v }
	default:
		return nil, fmt.Errorf("a number is not a text: use = or >=")
	}
	return func(r *record) bool {
		n := of(r)
		return n >= 0 && test(n)
	}, nil
}

func textCondition(op, value string, of func(*record) []byte) (func(*record) bool, error) {
	is, err := textTest(op, value)
	if err != nil {
		return nil, err
	}
	not := op[0] == '!'
	return func(r *record) bool { return is(of(r)) != not }, nil
}

// textTest is the test of = and ~, without negation: alternatives, or an
// expression.
func textTest(op, value string) (func([]byte) bool, error) {
	switch op {
	case "=", "!=":
		alternatives := strings.Split(value, "|")
		return func(b []byte) bool {
			for _, a := range alternatives {
				if string(b) == a {
					return true
				}
			}
			return false
		}, nil
	case "~", "!~":
		re, err := regexp.Compile(value)
		if err != nil {
			return nil, err
		}
		return re.Match, nil
	}
	return nil, fmt.Errorf("a text cannot be compared with %s: use = or ~", op)
}

// timeLayouts are the forms that ParseTime reads besides log timestamps.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"}

// ParseTime reads a time as users and logs write it; a time without a zone is
// in zone.
func ParseTime(s string, zone *time.Location) (time.Time, error) {
	for _, l := range timeLayouts {
		if t, err := time.ParseInLocation(l, s, zone); err == nil {
			return t, nil
		}
	}
	var c clock
	if at, ok := c.any([]byte(strings.Trim(s, "[]"))); ok {
		return time.Unix(0, at), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-11-19 04:04:05 or 2026-11-19T04:04:05+09:00", s)
}
