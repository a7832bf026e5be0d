package filter

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// compare makes the test of a comparison.
func (f *Fields[T]) compare(field *Field[T], op string, values []string) (func(*T) bool, error) {
	switch field.Kind {
	case Text:
		is, err := f.textTest(strings.TrimPrefix(op, "!"), values)
		if err != nil {
			return nil, err
		}
		not, get := op[0] == '!', field.Text
		return func(e *T) bool { return is(get(e)) != not }, nil
	case Flag:
		want, err := parseFlag(values)
		if err != nil {
			return nil, err
		}
		if op != "=" && op != "!=" {
			return nil, fmt.Errorf("%s is yes or no: compare it with = or !=, not %s", field.Names[0], op)
		}
		want = want == (op == "=")
		return func(e *T) bool { return field.Flag(e) == want }, nil
	}
	in, err := f.numberTest(field, op, values)
	if err != nil {
		return nil, err
	}
	get := field.Number
	return func(e *T) bool { n := get(e); return n >= 0 && in(n) }, nil
}

// textTest is the test of an operator without its negation.
func (f *Fields[T]) textTest(op string, values []string) (func([]byte) bool, error) {
	var one func(b []byte, v string) bool
	switch op {
	case "=":
		one = func(b []byte, v string) bool { return string(b) == v }
	case "*":
		one = func(b []byte, v string) bool { return bytes.Contains(b, []byte(v)) }
	case "^":
		one = func(b []byte, v string) bool { return len(b) >= len(v) && string(b[:len(v)]) == v }
	case "$":
		one = func(b []byte, v string) bool { return len(b) >= len(v) && string(b[len(b)-len(v):]) == v }
	case "~":
		text := values[0]
		if f.FoldCase {
			text = "(?i)" + text
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		return re.Match, nil
	default:
		return nil, fmt.Errorf("a text cannot be compared with %s: use = or ~", op)
	}
	return func(b []byte) bool {
		for _, v := range values {
			if one(b, v) {
				return true
			}
		}
		return false
	}, nil
}

func parseFlag(values []string) (bool, error) {
	if len(values) == 1 {
		switch strings.ToLower(values[0]) {
		case "yes", "true", "1", "on":
			return true, nil
		case "no", "false", "0", "off":
			return false, nil
		}
	}
	return false, fmt.Errorf("%q is neither yes nor no", strings.Join(values, "|"))
}

// A span is a range of numbers, both ends included.
type span struct{ lo, hi int64 }

func (f *Fields[T]) numberTest(field *Field[T], op string, values []string) (func(int64) bool, error) {
	var spans []span
	for _, v := range values {
		s, err := f.number(field.Kind, v)
		if err != nil {
			return nil, err
		}
		spans = append(spans, s)
	}
	if len(spans) == 0 {
		return nil, fmt.Errorf("the list of values is empty")
	}
	within := func(n int64) bool {
		for _, s := range spans {
			if n >= s.lo && n <= s.hi {
				return true
			}
		}
		return false
	}
	s := spans[0]
	switch op {
	case "=":
		return within, nil
	case "!=":
		return func(n int64) bool { return !within(n) }, nil
	case "<":
		return func(n int64) bool { return n < s.lo }, nil
	case "<=":
		return func(n int64) bool { return n <= s.hi }, nil
	case ">":
		return func(n int64) bool { return n > s.hi }, nil
	case ">=":
		return func(n int64) bool { return n >= s.lo }, nil
	}
	if field.Kind == Status {
		return nil, fmt.Errorf("a status is not a text: use = or >=")
	}
	return nil, fmt.Errorf("a number is not a text: use = or >=")
}

// number reads a value of a kind.
func (f *Fields[T]) number(kind Kind, v string) (s span, err error) {
	var n int64
	switch kind {
	case Status:
		if len(v) == 3 && strings.EqualFold(v[1:], "xx") && v[0] >= '1' && v[0] <= '5' {
			lo := int64(v[0]-'0') * 100
			return span{lo, lo + 99}, nil
		}
		if n, err = strconv.ParseInt(v, 10, 64); err != nil {
			return s, fmt.Errorf("%q is neither a status nor a class such as 5xx", v)
		}
	case Duration:
		n, err = ParseDuration(v)
	case Size:
		n, err = parseSize(v)
	case Time:
		var w When
		if w, err = ParseWhen(v, f.Zone, f.Stamp); err == nil && !w.Absolute() {
			err = fmt.Errorf("%q is not a date and time", v)
		}
		n = w.at.UnixNano()
	default:
		if n, err = strconv.ParseInt(v, 10, 64); err != nil {
			return s, fmt.Errorf("%q is not a whole number", v)
		}
	}
	return span{n, n}, err
}

// maxSeconds is the longest duration in seconds, 31 years.
const maxSeconds = 1e9

// ParseDuration reads 200ms, 1.5s or a number of seconds, in ns.
func ParseDuration(s string) (int64, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return int64(d), nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= -maxSeconds && v <= maxSeconds) {
		return 0, fmt.Errorf("%q is not a time such as 200ms or 1.5s", s)
	}
	return int64(v * 1e9), nil
}

func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "kKmMgGiIbB")
	unit, ok := map[string]int64{"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "mib": 1 << 20,
		"g": 1 << 30, "gb": 1 << 30, "gib": 1 << 30}[strings.ToLower(s[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n > (1<<62)/unit || n < -(1<<62)/unit {
		return 0, fmt.Errorf("%q is not a whole number of bytes", s)
	}
	return n * unit, nil
}
