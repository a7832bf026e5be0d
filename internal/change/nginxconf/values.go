package nginxconf

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	sizeParts = regexp.MustCompile(`^([0-9]{1,12})([kKmM]?)$`)
	duration  = regexp.MustCompile(`^[0-9]{1,6}(ms|s|m|h|d)?$`)
)

// A size is an argument in bytes, as "128k".
type size int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *size) UnmarshalText(b []byte) error {
	n, ok := bytesOf(string(b))
	if !ok || n < 1 {
		return fmt.Errorf("want a size, as 128k")
	}
	*s = size(n)
	return nil
}

// atMost refuses a size above a bound.
func (s size) atMost(bound size, name string) error {
	if s > bound {
		return fmt.Errorf("%s %d: want a size up to %s", name, s, bound)
	}
	return nil
}

// String is the size rounded up to whole pages of memory.
func (s size) String() string { return strconv.FormatInt((int64(s)+4095)/4096*4, 10) + "k" }

// A span is an argument that is a length of time, as it was written.
type span string

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *span) UnmarshalText(b []byte) error {
	if _, ok := timeOf(string(b)); !ok {
		return fmt.Errorf("want a time, as 60s")
	}
	*s = span(b)
	return nil
}

// zero reports whether the time is none at all.
func (s span) zero() bool {
	d, _ := timeOf(string(s))
	return d == 0
}

// bytesOf reads a size as nginx does: bytes, or with k or m.
func bytesOf(v string) (int64, bool) {
	m := sizeParts.FindStringSubmatch(v)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	switch strings.ToLower(m[2]) {
	case "k":
		n <<= 10
	case "m":
		n <<= 20
	}
	return n, err == nil
}

// timeOf reads a time with one unit; a number without a unit is in seconds.
func timeOf(v string) (time.Duration, bool) {
	if !duration.MatchString(v) {
		return 0, false
	}
	if rest, ok := strings.CutSuffix(v, "d"); ok {
		n, err := strconv.Atoi(rest)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	if v[len(v)-1] <= '9' {
		v += "s"
	}
	d, err := time.ParseDuration(v)
	return d, err == nil
}

// sameValue reports whether two arguments mean the same: equal words, sizes or
// times.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, aSize := bytesOf(a)
	y, bSize := bytesOf(b)
	p, aTime := timeOf(a)
	q, bTime := timeOf(b)
	sizes, times := aSize && bSize, aTime && bTime
	// "1m" and "60" may be sizes or times: both readings have to agree.
	return (sizes || times) && (!sizes || x == y) && (!times || p == q)
}
