package accesslog

import (
	"math"
	"strconv"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// maxTook is the longest accepted request time, in ns: eleven days. A longer
// one is a misread field and would distort the sums.
const maxTook = 1e15

var pow10 = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// digits reads an unsigned whole number at b[i:] and returns the index behind
// it; i if there is none. Numbers of more than 18 digits are rejected.
func digits(b []byte, i int) (n int64, end int) {
	end = i
	for end < len(b) {
		c := b[end] - '0'
		if c > 9 {
			break
		}
		n = n*10 + int64(c)
		end++
	}
	if end-i > 18 {
		return 0, i
	}
	return n, end
}

// decimal reads "12" or "0.345" at b[i:] as a time with unit ns per 1, exact to
// the ns. end is i if there is no number.
func decimal(b []byte, i int, unit int64) (ns int64, end int) {
	n, end := digits(b, i)
	if end == i || n > maxTook {
		return 0, i
	}
	if n > maxTook/unit {
		return 0, i
	}
	ns = n * unit
	if end == len(b) || b[end] != '.' {
		return ns, end
	}
	frac := end + 1
	f, end := digits(b, frac)
	places := end - frac
	if places > 9 {
		f, places = f/int64(math.Pow10(places-9)), 9
	}
	if unit >= pow10[places] {
		return ns + f*(unit/pow10[places]), end
	}
	return ns + f*unit/pow10[places], end
}

// timeValue reads a time in any form that loggers write: "0.123", "-" and ""
// (no time: -1), "1.2e-05", and sums over upstream tries as in "0.001, 0.002 :
// 0.003".
func timeValue(b []byte, unit int64) (ns int64, ok bool) {
	if len(b) == 0 || len(b) == 1 && b[0] == '-' {
		return -1, true
	}
	ns, end := decimal(b, 0, unit)
	if end == len(b) && end > 0 {
		return ns, true
	}
	if b[0] == '-' && b[1] >= '0' && b[1] <= '9' { // negative: no time
		_, end := decimal(b, 1, unit)
		return -1, end == len(b)
	}
	if end > 0 && (b[end] == 'e' || b[end] == 'E') {
		v, err := strconv.ParseFloat(lines.View(b), 64)
		if ns := v * float64(unit); err == nil && ns >= 0 && ns <= maxTook {
			return int64(math.Round(ns)), true
		}
		return 0, false
	}
	return timeSum(b, unit)
}

// timeSum adds the times of several upstreams as nginx lists them.
func timeSum(b []byte, unit int64) (sum int64, ok bool) {
	sum = -1
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == ' ' || c == ',' || c == ':' || c == ';' || c == '-':
			i++
		default:
			ns, end := decimal(b, i, unit)
			if end == i {
				return 0, false
			}
			sum, i = max(sum, 0)+ns, end
		}
	}
	return sum, sum <= maxTook
}

// durationValue reads a time with its unit: "1.5ms", "0.020s", "1m2.5s".
func durationValue(b []byte) (ns int64, ok bool) {
	if len(b) == 0 || len(b) == 1 && b[0] == '-' {
		return -1, true
	}
	for i := 0; i < len(b); {
		start := i
		for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '.') {
			i++
		}
		num := b[start:i]
		start = i
		for i < len(b) && (b[i] < '0' || b[i] > '9') {
			i++
		}
		unit, known := unitOf(lines.View(b[start:i]))
		if !known {
			return 0, false
		}
		part, good := timeValue(num, unit)
		if !good || part < 0 {
			return 0, false
		}
		ns += part
	}
	return ns, ns <= maxTook
}

// unitOf returns the ns of a unit by its common names.
func unitOf(name string) (ns int64, ok bool) {
	switch name {
	case "ns", "nsec", "nanos", "nanoseconds":
		return 1, true
	case "us", "µs", "μs", "usec", "micros", "microsec", "microseconds":
		return 1e3, true
	case "ms", "msec", "millis", "millisec", "milliseconds":
		return 1e6, true
	case "s", "sec", "secs", "second", "seconds":
		return 1e9, true
	case "m", "min":
		return 60e9, true
	case "h":
		return 3600e9, true
	}
	return 0, false
}

// unitName returns the short name of a unit.
func unitName(ns int64) string {
	switch ns {
	case 1:
		return "ns"
	case 1e3:
		return "µs"
	case 1e6:
		return "ms"
	}
	return "s"
}
