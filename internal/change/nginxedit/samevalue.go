package nginxedit

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	sizeParts = regexp.MustCompile(`^([0-9]{1,12})([kKmM]?)$`)
	Duration  = regexp.MustCompile(`^[0-9]{1,6}(ms|s|m|h|d)?$`)
)

// BytesOf reads a size as nginx does: bytes, or with k or m.
func BytesOf(v string) (int64, bool) {
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

// TimeOf reads a time with one unit; a number without a unit is in seconds.
func TimeOf(v string) (time.Duration, bool) {
	if !Duration.MatchString(v) {
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

// SameValue reports whether two arguments mean the same: equal words, sizes or
// times.
func SameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, aSize := BytesOf(a)
	y, bSize := BytesOf(b)
	p, aTime := TimeOf(a)
	q, bTime := TimeOf(b)
	sizes, times := aSize && bSize, aTime && bTime
	// "1m" and "60" may be sizes or times: both readings have to agree.
	return (sizes || times) && (!sizes || x == y) && (!times || p == q)
}
